//! The host names of the web pages' sessions.
//!
//! A browser sends the cookies of a host to all its ports, and whatever listens at another port of
//! 127.0.0.1 (a web page of a seller's machine that a tunnel leads to, a program of another user)
//! would get a session's cookie with its first visit. So each session has a host name that nobody
//! else knows, below `localhost`, which browsers look for on this machine and nowhere else; its
//! cookie is good under that name alone.

use axum::http::{HeaderMap, header};
use gridbay_protocol::ids::to_hex;

/// Hex digits of a name that are drawn.
const DIGITS: usize = 16;

/// The host name that belongs to a link, and to the session that it opens.
pub(crate) fn of_link(link: &str) -> String {
    let drawn = to_hex(&blake3::derive_key("gridbay/web-host/1", link.as_bytes()));
    format!("gridbay-{}.localhost", &drawn[..DIGITS])
}

/// The host that a request names, without its port.
pub(crate) fn asked(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    host.rsplit_once(':').map(|(name, _)| name)
}

/// Whether a name may be that of a session.
pub(crate) fn is_drawn(name: &str) -> bool {
    let drawn = name
        .strip_prefix("gridbay-")
        .and_then(|rest| rest.strip_suffix(".localhost"));
    drawn.is_some_and(|drawn| drawn.len() == DIGITS && drawn.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_link_has_a_name_of_its_own() {
        let (one, other) = (of_link("a"), of_link("b"));
        assert_ne!(one, other);
        assert!(is_drawn(&one) && is_drawn(&other), "{one} {other}");
        for strange in [
            "localhost",
            "gridbay-.localhost",
            "gridbay-0123456789abcdef.example",
            "gridbay-0123456789abcdeg.localhost",
            "a.gridbay-0123456789abcdef.localhost",
        ] {
            assert!(!is_drawn(strange), "{strange}");
        }
    }

    #[test]
    fn the_host_of_a_request_is_told_without_its_port() {
        let mut headers = HeaderMap::new();
        assert_eq!(asked(&headers), None);
        headers.insert(header::HOST, "a.localhost:7".parse().unwrap());
        assert_eq!(asked(&headers), Some("a.localhost"));
    }
}
