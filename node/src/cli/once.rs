//! Requests that are done once, however often they are sent: each has a key that its failure tells.

use super::error::{CliError, During as _};
use super::exit::Exit;
use crate::api::client::Client;
use crate::api::idempotency::LENGTH;
use crate::api::{ApiError, ErrorCode};
use crate::keys::random;
use clap::Args;
use gridbay_protocol::ids::to_hex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::Duration;

/// Until a lost answer is asked for again.
const PAUSE: Duration = Duration::from_millis(500);

/// The key of a request.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Once {
    /// Key of this request: a node that knows it does the same once at most. A command whose end is
    /// not known tells its key [default: a fresh one]
    #[arg(long, value_name = "KEY", value_parser = key)]
    key: Option<String>,
}

/// A request, as its failures name it.
pub(super) struct Deed {
    /// Its address.
    pub(super) path: &'static str,
    /// What a refusal comes to.
    pub(super) undone: &'static str,
    /// What a lost answer comes to.
    pub(super) unknown: &'static str,
    /// The command that shows whether it is done.
    pub(super) look: &'static str,
}

fn key(text: &str) -> Result<String, String> {
    match LENGTH.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("want 8 to 64 visible characters".to_owned()),
    }
}

impl Once {
    /// Sends the request; where the node breaks off, once more under the same key.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        client: &Client,
        deed: &Deed,
        request: &impl Serialize,
    ) -> Result<T, CliError> {
        let key = match &self.key {
            Some(key) => key.clone(),
            None => to_hex(&random().during(deed.undone)?),
        };
        let first = client.post(deed.path, request, Some(&key)).await;
        let (answer, lost) = match first {
            Err(error) if error.code == ErrorCode::Unreachable && !is_undone(&error) => {
                tokio::time::sleep(PAUSE).await;
                (client.post(deed.path, request, Some(&key)).await, true)
            }
            first => (first, false),
        };
        let repeats = self.key.is_some();
        answer.map_err(|error| failed(deed, &key, (lost, repeats), error))
    }
}

/// A failure. After an attempt that was lost, no refusal of the next one tells that the first did
/// nothing. Whoever names a key may repeat what another command attempted under it; but a key of
/// another request does nothing for this one, and never will.
fn failed(deed: &Deed, key: &str, (lost, repeats): (bool, bool), error: ApiError) -> CliError {
    let is_open = matches!(
        error.code,
        ErrorCode::Unreachable | ErrorCode::Timeout | ErrorCode::Halted | ErrorCode::Internal
    );
    let is_anothers = error.code == ErrorCode::Conflict && error.details["done"] != true;
    let is_known = !repeats && (!is_open || is_undone(&error));
    if !lost && (is_anothers || is_known) {
        return CliError::of(error, deed.undone);
    }
    let exit = match lost {
        true => Exit::UNREACHABLE,
        false => Exit::of(error.code),
    };
    let next = format!(
        "see {}; the same command with --key {key} does it once at most",
        deed.look
    );
    CliError {
        details: json!({"key": key}),
        ..CliError::new(exit, deed.unknown, error.message, next)
    }
}

/// Whether the request did nothing for sure: it was not sent, or can have no effect any more.
fn is_undone(error: &ApiError) -> bool {
    error.details["done"] == false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    const DEED: Deed = Deed {
        path: "/deed",
        undone: "nothing was done",
        unknown: "it is not known whether it was done",
        look: "the list",
    };

    /// Breaks off where there is no status; the keys that were sent.
    async fn answer(listener: UnixListener, answers: Vec<Option<(u16, Value)>>) -> Vec<String> {
        let mut keys = Vec::new();
        for answer in answers {
            let (mut io, _) = listener.accept().await.unwrap();
            let mut read = Vec::new();
            while !read.ends_with(b"null") {
                assert_ne!(io.read_buf(&mut read).await.unwrap(), 0);
            }
            let head = String::from_utf8(read).unwrap();
            let key = head
                .lines()
                .find_map(|l| l.strip_prefix("idempotency-key: "));
            keys.push(key.unwrap().to_owned());
            if let Some((status, body)) = answer {
                let body = body.to_string();
                let length = body.len();
                let text = format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n\r\n{body}");
                io.write_all(text.as_bytes()).await.unwrap();
            }
        }
        keys
    }

    async fn post(
        key: Option<&str>,
        answers: Vec<Option<(u16, Value)>>,
    ) -> (Result<Value, CliError>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("api.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let keys = tokio::spawn(answer(listener, answers));
        let once = Once {
            key: key.map(str::to_owned),
        };
        let done = once.post(&Client::new(socket), &DEED, &()).await;
        (done, keys.await.unwrap())
    }

    fn refusal(code: &str, details: Value) -> Value {
        json!({"code": code, "message": "because", "hint": "wait", "details": details})
    }

    #[tokio::test]
    async fn a_lost_answer_is_asked_for_again_under_its_key() {
        let (done, keys) = post(None, vec![None, Some((200, json!("done")))]).await;
        assert_eq!(done.unwrap(), "done");
        assert!(
            keys[0] == keys[1] && LENGTH.contains(&keys[0].len()),
            "{keys:?}"
        );
    }

    #[tokio::test]
    async fn whoever_gets_no_answer_gets_the_key_to_repeat_with() {
        let funds = || Some((402, refusal("insufficient_funds", Value::Null)));
        let late = |details| Some((504, refusal("timeout", details)));
        let same = || Some((409, refusal("conflict", Value::Null)));
        let busy = || Some((503, refusal("busy", Value::Null)));
        let ended = json!({"done": false});
        for (answers, exit, is_known) in [
            (vec![None, None], Exit::UNREACHABLE, false),
            (vec![None, funds()], Exit::UNREACHABLE, false),
            (vec![late(Value::Null)], Exit::TIMEOUT, false),
            (vec![same()], Exit::REFUSED, true),
            (vec![None, busy()], Exit::UNREACHABLE, false),
            (vec![late(ended)], Exit::TIMEOUT, true),
            (vec![funds()], Exit::FUNDS, true),
        ] {
            let (done, keys) = post(None, answers).await;
            let error = done.unwrap_err();
            assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
            assert_eq!(error.exit, exit, "{error}");
            assert_eq!(error.what == DEED.undone, is_known, "{error}");
            is_told(&error, &keys[0], !is_known);
        }
    }

    fn is_told(error: &CliError, key: &str, is_unknown: bool) {
        let again = format!("--key {key}");
        assert_eq!(error.what == DEED.unknown, is_unknown, "{error}");
        assert_eq!(error.next.contains(&again), is_unknown, "{error}");
        assert_eq!(error.details["key"] == key, is_unknown, "{error}");
    }

    #[tokio::test]
    async fn no_refusal_tells_what_an_earlier_command_with_the_key_did() {
        let ended = json!({"done": false});
        for (status, code, details, exit) in [
            (503, "busy", Value::Null, Exit::UNREACHABLE),
            (429, "too_many", Value::Null, Exit::UNREACHABLE),
            (403, "refused", Value::Null, Exit::REFUSED),
            (401, "unauthorised", Value::Null, Exit::REFUSED),
            (402, "insufficient_funds", Value::Null, Exit::FUNDS),
            (504, "timeout", ended, Exit::TIMEOUT),
            (409, "conflict", json!({"done": true}), Exit::REFUSED),
        ] {
            let answer = Some((status, refusal(code, details)));
            let (done, keys) = post(Some("own-key-1"), vec![answer]).await;
            let error = done.unwrap_err();
            assert_eq!(keys, ["own-key-1"]);
            assert_eq!(error.exit, exit, "{error}");
            is_told(&error, &keys[0], true);
        }
    }

    #[test]
    fn keys_have_the_form_of_the_api() {
        for (text, fits) in [
            ("own-key-1", true),
            ("seven77", false),
            ("a b c d e", false),
        ] {
            assert_eq!(key(text).is_ok(), fits, "{text}");
        }
    }
}
