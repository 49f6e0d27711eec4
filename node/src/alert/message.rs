//! An alert as its receivers read it: JSON, or a mail.

use super::types::{Alert, AlertState};
use crate::ui::is_unseen;
use data_encoding::BASE64;
use serde::Serialize;
use time::OffsetDateTime;

/// Characters of one text at the most: names in it come from others.
const CHARS: usize = 300;

/// The sender of alerts.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The node's transport key.
    pub node: String,
    /// Its name for people.
    pub name: String,
    /// Name of the network.
    pub network: String,
}

/// The JSON of an alert.
#[derive(Serialize)]
struct Message<'a> {
    /// For receivers that show one line, such as chats.
    text: String,
    node: &'a str,
    name: &'a str,
    network: &'a str,
    #[serde(flatten)]
    alert: &'a Alert,
}

/// A text in one line, without what steers a terminal, and not too long.
pub(super) fn plain(text: &str) -> String {
    let seen = text.chars().map(|c| if is_unseen(c) { ' ' } else { c });
    seen.take(CHARS).collect()
}

/// One line.
fn line(from: &Sender, alert: &Alert) -> String {
    let state = match alert.state {
        AlertState::Raised => "",
        AlertState::Cleared => "[cleared] ",
    };
    format!("{state}gridbay {}: {}", plain(&from.name), alert.what)
}

/// As JSON.
pub(super) fn json(from: &Sender, alert: &Alert) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Message {
        text: line(from, alert),
        node: &from.node,
        name: &from.name,
        network: &from.network,
        alert,
    })
}

/// As a mail in the form of an mbox.
pub(super) fn mail(from: &Sender, alert: &Alert) -> String {
    let at = moment(alert.at_ms);
    let body = [
        ("what", alert.what.as_str()),
        ("hint", alert.hint.as_str()),
        ("state", alert.state.name()),
        ("kind", alert.kind.name()),
        ("subject", alert.subject.as_str()),
        ("node", from.node.as_str()),
        ("network", from.network.as_str()),
    ];
    let body: String = body.map(|(k, v)| format!("{k}: {}\n", plain(v))).concat();
    format!(
        "From gridbay@localhost {}\nFrom: gridbay@localhost\nDate: {}\nSubject: {}\n\
         Message-ID: <{}.{}@gridbay.invalid>\nMIME-Version: 1.0\n\
         Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}\n",
        at.0,
        at.1,
        header(&line(from, alert)),
        alert.number,
        from.node,
    )
}

/// A header's text: as it is if it is ASCII, else in encoded words, each of a whole character.
fn header(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let word = |part: &[char]| {
        let part: String = part.iter().collect();
        format!("=?utf-8?B?{}?=", BASE64.encode(part.as_bytes()))
    };
    // Ten characters have 40 bytes at the most, and a word has room for 45.
    chars.chunks(10).map(word).collect::<Vec<_>>().join("\n ")
}

/// A time as the first line of a mail in an mbox has it, and as its header `Date`.
fn moment(ms: u64) -> (String, String) {
    let seconds = i64::try_from(ms / 1_000).unwrap_or(0);
    let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let short = |name: String| name.chars().take(3).collect::<String>();
    let (week, month) = (
        short(at.weekday().to_string()),
        short(at.month().to_string()),
    );
    let (day, year, (h, m, s)) = (at.day(), at.year(), at.to_hms());
    (
        format!("{week} {month} {day:2} {h:02}:{m:02}:{s:02} {year}"),
        format!("{week}, {day} {month} {year} {h:02}:{m:02}:{s:02} +0000"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::types::AlertKind;
    use super::*;

    fn alert(what: &str) -> Alert {
        Alert {
            number: 7,
            kind: AlertKind::LowBalance,
            subject: "aa".to_owned(),
            state: AlertState::Raised,
            what: plain(what),
            hint: "look".to_owned(),
            since_ms: 0,
            at_ms: 951_782_399_999,
        }
    }

    fn sender() -> Sender {
        Sender {
            node: "bb".to_owned(),
            name: "attic".to_owned(),
            network: "one".to_owned(),
        }
    }

    #[test]
    fn json_has_one_line_for_chats_and_all_fields() {
        let json = json(&sender(), &alert("it is low")).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(value["text"], "gridbay attic: it is low");
        assert_eq!(
            (&value["number"], &value["node"]),
            (&7.into(), &"bb".into())
        );
        assert_eq!(value["kind"], "low_balance");
        assert_eq!(value["state"], "raised");
    }

    #[test]
    fn a_mail_has_its_headers_and_no_line_of_a_stranger() {
        let mail = mail(&sender(), &alert("low\nFrom mallory\r\nBcc: all"));
        let lines: Vec<_> = mail.lines().collect();
        assert_eq!(lines[0], "From gridbay@localhost Mon Feb 28 23:59:59 2000");
        assert_eq!(lines[2], "Date: Mon, 28 Feb 2000 23:59:59 +0000");
        assert_eq!(
            lines[3],
            "Subject: gridbay attic: low From mallory  Bcc: all"
        );
        assert_eq!(lines.iter().filter(|l| l.starts_with("From ")).count(), 1);
        assert!(!lines.iter().any(|l| l.starts_with("Bcc")));
        assert!(mail.ends_with("network: one\n\n"), "{mail}");
        assert_eq!(plain(&"x".repeat(999)).len(), CHARS);
    }

    #[test]
    fn a_header_is_ascii_whatever_a_name_is() {
        let header = header("gridbay Küche: es ist wenig");
        assert!(
            header.is_ascii() && header.starts_with("=?utf-8?B?"),
            "{header}"
        );
        assert!(header.lines().all(|line| line.len() < 76), "{header}");
    }
}
