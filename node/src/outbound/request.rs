//! The head of a request to the proxy: `CONNECT host:port`, or a plain request for an `http://`
//! address, which is passed on as a server wants it.

use std::net::{IpAddr, Ipv6Addr};

use super::refusal::Refusal;

/// Longest name of a host.
const NAME: usize = 253;
/// Longest part of it.
const LABEL: usize = 63;
/// Headers that are between a client and its proxy.
const HOP: [&str; 5] = [
    "connection",
    "keep-alive",
    "te",
    "upgrade",
    "http2-settings",
];

/// Where a request leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Ip(IpAddr),
    /// A full name in small letters, without a point at its end.
    Name(String),
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) host: Host,
    pub(super) port: u16,
    /// What the server is sent; `None` for `CONNECT`, whose client is told that it is connected.
    pub(super) head: Option<String>,
}

/// The length of the head at the beginning of what came, with the empty line at its end.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
    Some(end + 4)
}

/// Reads a head.
pub(super) fn parse(head: &[u8]) -> Result<Request, Refusal> {
    let text = std::str::from_utf8(head).map_err(|_| Refusal::Malformed)?;
    let text = text.strip_suffix("\r\n\r\n").ok_or(Refusal::Malformed)?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal::Malformed);
    };
    let headers: Vec<&str> = lines.collect();
    if !is_plain(method) || !headers.iter().all(|line| is_header(line)) || !is_visible(target) {
        return Err(Refusal::Malformed);
    }
    if method == "CONNECT" {
        let (host, port) = authority(target)?;
        let port = port.ok_or(Refusal::Malformed)?;
        return Ok(Request {
            host,
            port,
            head: None,
        });
    }
    let scheme = target.get(..7).ok_or(Refusal::Malformed)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return Err(Refusal::Malformed);
    }
    let rest = target.get(7..).unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    let (host, port) = authority(place)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\n");
    for line in headers.into_iter().filter(|line| passes(line)) {
        head.push_str(line);
        head.push_str("\r\n");
    }
    // So that the next request comes by a connection of its own, and is looked at.
    head.push_str("Connection: close\r\n\r\n");
    Ok(Request {
        host,
        port: port.unwrap_or(80),
        head: Some(head),
    })
}

fn is_plain(method: &str) -> bool {
    (1..=16).contains(&method.len()) && method.bytes().all(|b| b.is_ascii_uppercase())
}

fn is_visible(target: &str) -> bool {
    target.bytes().all(|b| b.is_ascii_graphic())
}

/// A name and its value on one line, with nothing in it that a server could take for another line.
fn is_header(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else {
        return false;
    };
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty()
        && name.bytes().all(token)
        && value.chars().all(|c| c == '\t' || !c.is_control())
}

fn passes(line: &str) -> bool {
    let name = line
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    !name.starts_with("proxy-") && !HOP.contains(&name.as_str())
}

/// A host and its port. No user and no password: they are nobody's business but the server's.
fn authority(text: &str) -> Result<(Host, Option<u16>), Refusal> {
    if let Some(rest) = text.strip_prefix('[') {
        let (ip, after) = rest.split_once(']').ok_or(Refusal::Malformed)?;
        let ip: Ipv6Addr = ip.parse().map_err(|_| Refusal::Name)?;
        return Ok((Host::Ip(ip.into()), port(after)?));
    }
    let end = text.find(':').unwrap_or(text.len());
    let (host, after) = text.split_at(end);
    let host = match host.parse() {
        Ok(ip) => Host::Ip(IpAddr::V4(ip)),
        Err(_) => Host::Name(name(host).ok_or(Refusal::Name)?),
    };
    Ok((host, port(after)?))
}

/// What follows a host: nothing, or a colon and digits.
fn port(text: &str) -> Result<Option<u16>, Refusal> {
    match text.strip_prefix(':') {
        None if text.is_empty() => Ok(None),
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().map(Some).map_err(|_| Refusal::Malformed)
        }
        _ => Err(Refusal::Malformed),
    }
}

/// A name with a point in it: one without is of this site. One whose last part is a number would be
/// taken for an address in one of its odd spellings.
fn name(text: &str) -> Option<String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=LABEL).contains(&label.len()) && label.bytes().all(plain)
    };
    let (_, last) = text.rsplit_once('.')?;
    let named = last.starts_with(|c: char| c.is_ascii_alphabetic());
    (text.len() <= NAME && named && text.split('.').all(label)).then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Request, Refusal> {
        parse(text.as_bytes())
    }

    #[test]
    fn connections_are_asked_for_by_host_and_port() {
        let named = |name: &str| Host::Name(name.to_owned());
        for (target, host, port) in [
            ("example.org:443", named("example.org"), 443),
            ("WWW.Example.org.:80", named("www.example.org"), 80),
            ("a_b.c-d.xn--p1ai:22", named("a_b.c-d.xn--p1ai"), 22),
            ("10.0.0.1:443", Host::Ip([10, 0, 0, 1].into()), 443),
            ("[::1]:443", Host::Ip(Ipv6Addr::LOCALHOST.into()), 443),
        ] {
            let request = of(&format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
            let expected = Request {
                host,
                port,
                head: None,
            };
            assert_eq!(request, Ok(expected), "{target}");
        }
    }

    #[test]
    fn odd_requests_are_refused() {
        let (bad, name) = (Refusal::Malformed, Refusal::Name);
        let long = format!("{}.org:443", "a".repeat(64));
        for (target, why) in [
            ("example.org", bad),
            ("example.org:", bad),
            ("example.org:+443", bad),
            ("example.org:65536", bad),
            ("example.org:443:1", bad),
            ("[::1:443", bad),
            ("[::1]443", bad),
            ("[fe80::1%eth0]:443", name),
            ("localhost:443", name),
            ("127.1:443", name),
            ("0x7f.0.0.0x1:443", name),
            ("2130706433:443", name),
            ("0177.0.0.1:443", name),
            ("u@example.org:443", name),
            ("a..org:443", name),
            (".org:443", name),
            (":443", name),
            (long.as_str(), name),
        ] {
            let request = of(&format!("CONNECT {target} HTTP/1.1\r\n\r\n"));
            assert_eq!(request, Err(why), "{target}");
        }
        for head in [
            "\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://example.org/ HTTP/1.1\r\n\r\n",
            "GET ftp://example.org/ HTTP/1.1\r\n\r\n",
            "get http://example.org/ HTTP/1.1\r\n\r\n",
            "GET http://example.org/ HTTP/2\r\n\r\n",
            "GET  http://example.org/ HTTP/1.1\r\n\r\n",
            "GET http://example.org/ HTTP/1.1\r\nno header\r\n\r\n",
            "GET http://example.org/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
            "GET http://example.org/ HTTP/1.1\r\nA: b\nHost: c\r\n\r\n",
            "GET http://example.org/ HTTP/1.1\r\nA : b\r\n\r\n",
            "GET http://example.org/\u{e4} HTTP/1.1\r\n\r\n",
            "CONNECT example.org:443 HTTP/1.1\r\n",
        ] {
            assert_eq!(of(head), Err(bad), "{head:?}");
        }
        assert_eq!(parse(b"\xff\r\n\r\n"), Err(bad));
        // A user before the host looks like a host with a port.
        assert_eq!(of("GET http://a:b@c.org/ HTTP/1.1\r\n\r\n"), Err(name));
    }

    #[test]
    fn a_plain_request_is_passed_on_as_a_server_wants_it() {
        let head = "POST http://Example.org:8080?q=1 HTTP/1.0\r\nHost: example.org\r\n\
                    Proxy-Authorization: secret\r\nConnection: keep-alive\r\nX-A: b\tc\r\n\r\n";
        let request = of(head).unwrap();
        assert_eq!(request.host, Host::Name("example.org".to_owned()));
        assert_eq!(request.port, 8080);
        let sent = "POST /?q=1 HTTP/1.1\r\nHost: example.org\r\nX-A: b\tc\r\n\
                    Connection: close\r\n\r\n";
        assert_eq!(request.head.as_deref(), Some(sent));
        let short = of("GET http://example.org HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!(short.port, 80);
        assert!(short.head.unwrap().starts_with("GET / HTTP/1.1\r\n"));
    }

    #[test]
    fn a_head_ends_with_an_empty_line() {
        assert_eq!(length(b"A\r\n\r\nrest"), Some(5));
        assert_eq!(length(b"A\r\n\r"), None);
        assert_eq!(length(b""), None);
    }
}
