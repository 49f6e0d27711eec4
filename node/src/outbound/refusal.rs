//! Why a job does not get where it wants to.

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// No request of a proxy.
    #[error("want CONNECT HOST:PORT, or a request for an http:// address")]
    Malformed,
    /// A name without a point, or one that no public name looks like.
    #[error("want an address, or a full name as in www.example.org")]
    Name,
    /// The head of the request is too long.
    #[error("the head of the request is too long")]
    Large,
    /// The head of the request did not come.
    #[error("the head of the request took too long")]
    Late,
    /// The owner lets no job out.
    #[error("the owner of this machine lets no job out (any more)")]
    Policy,
    /// Another port than the web's.
    #[error("only ports 80 and 443 are reached")]
    Port,
    /// An address that is not of the internet, or of this site.
    #[error("only addresses of the internet are reached, and none of this machine's networks")]
    Address,
    /// The node carries too many connections.
    #[error("this machine carries too many connections; try again")]
    Busy,
    /// The name has no address, as far as can be told.
    #[error("the name has no address, or none was told in time")]
    Unknown,
    /// Nobody answers there.
    #[error("nobody answers there")]
    Unreachable,
}

impl Refusal {
    pub(super) const ALL: [Refusal; 10] = [
        Refusal::Malformed,
        Refusal::Name,
        Refusal::Large,
        Refusal::Late,
        Refusal::Policy,
        Refusal::Port,
        Refusal::Address,
        Refusal::Busy,
        Refusal::Unknown,
        Refusal::Unreachable,
    ];

    /// Its name in metrics.
    pub(super) fn id(self) -> &'static str {
        match self {
            Refusal::Malformed => "malformed",
            Refusal::Name => "name",
            Refusal::Large => "large",
            Refusal::Late => "late",
            Refusal::Policy => "policy",
            Refusal::Port => "port",
            Refusal::Address => "address",
            Refusal::Busy => "busy",
            Refusal::Unknown => "unknown",
            Refusal::Unreachable => "unreachable",
        }
    }

    fn status(self) -> &'static str {
        match self {
            Refusal::Malformed | Refusal::Name => "400 Bad Request",
            Refusal::Large => "431 Request Header Fields Too Large",
            Refusal::Late => "408 Request Timeout",
            Refusal::Policy | Refusal::Port | Refusal::Address => "403 Forbidden",
            Refusal::Busy => "503 Service Unavailable",
            Refusal::Unknown => "502 Bad Gateway",
            Refusal::Unreachable => "504 Gateway Timeout",
        }
    }

    /// The whole answer.
    pub(super) fn answer(self) -> String {
        let (status, text) = (self.status(), format!("gridbay: {self}\n"));
        let length = text.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{text}"
        )
    }
}
