//! Why a job does not get where it wants to.

gridbay_protocol::named! {
    /// See the module. Its names are those in metrics.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub(crate) enum Refusal as id {
        /// No request of a proxy.
        #[error("want CONNECT HOST:PORT, or a request for an http:// address")]
        Malformed = "malformed",
        /// A name without a point, or one that no public name looks like.
        #[error("want an address, or a full name as in www.example.org")]
        Name = "name",
        /// The head of the request is too long.
        #[error("the head of the request is too long")]
        Large = "large",
        /// The head of the request did not come.
        #[error("the head of the request took too long")]
        Late = "late",
        /// The owner lets no job out.
        #[error("the owner of this machine lets no job out (any more)")]
        Policy = "policy",
        /// Another port than the web's.
        #[error("only ports 80 and 443 are reached")]
        Port = "port",
        /// An address that is not of the internet, or of this site.
        #[error("only addresses of the internet are reached, and none of this machine's networks")]
        Address = "address",
        /// The node carries too many connections.
        #[error("this machine carries too many connections; try again")]
        Busy = "busy",
        /// The name has no address, as far as can be told.
        #[error("the name has no address, or none was told in time")]
        Unknown = "unknown",
        /// Nobody answers there.
        #[error("nobody answers there")]
        Unreachable = "unreachable",
    }
}

impl Refusal {
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
