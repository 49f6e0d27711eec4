//! `--dry-run`: what a command would send and what would come of it, and nothing is sent.
//!
//! It ends with 0 if that would come to something as things stand, with 1 if it would not, and with
//! the code of the failure where not even that can be found out.

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::text;
use crate::api::types::optional_amount;
use gridbay_protocol::units::Credits;
use serde::Serialize;

/// A request that is not sent, and its likely outcome.
#[derive(Debug, Serialize)]
pub(super) struct Would<T> {
    /// The request, as the API takes it.
    pub(super) sends: T,
    /// The most that it can cost; `None` if it costs nothing.
    #[serde(with = "optional_amount")]
    pub(super) costs: Option<Credits>,
    /// Locked at once; `None` if nothing is.
    #[serde(with = "optional_amount")]
    pub(super) holds: Option<Credits>,
    /// Whether it would come to something.
    pub(super) works: bool,
    /// Why, or why not, in a sentence.
    pub(super) why: String,
    /// Advice; empty if there is none.
    pub(super) next: String,
}

impl<T: Serialize> Would<T> {
    /// Shows it; `what` tells the request in a line.
    pub(super) fn tell(&self, at: &Context, what: &str) -> Result<Exit, CliError> {
        at.tell(self, |would| would.lines(what))?;
        Ok(if self.works { Exit::OK } else { Exit::FAILED })
    }

    fn lines(&self, what: &str) -> String {
        let credits = |amount: Option<Credits>| {
            amount.map_or_else(
                || "nothing".to_owned(),
                |amount| format!("{amount} credits"),
            )
        };
        let works = if self.works { "yes" } else { "no" };
        let mut lines = vec![
            ("would send", what.to_owned()),
            ("costs at most", credits(self.costs)),
            ("holds at once", credits(self.holds)),
            ("works", format!("{works}: {}", self.why)),
        ];
        if !self.next.is_empty() {
            lines.push(("try", self.next.clone()));
        }
        lines.push(("sent", "nothing".to_owned()));
        text::fields(&lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_why_and_what_to_do() {
        let mut would = Would {
            sends: 1,
            costs: Some("20".parse().unwrap()),
            holds: None,
            works: false,
            why: "sellers ask more".to_owned(),
            next: "raise --max-price".to_owned(),
        };
        let told = "would send     2 nodes\ncosts at most  20 credits\nholds at once  nothing\n\
                    works          no: sellers ask more\ntry            raise --max-price\n\
                    sent           nothing\n";
        assert_eq!(would.lines("2 nodes"), told);
        (would.works, would.next) = (true, String::new());
        let told = would.lines("2 nodes");
        assert!(told.contains("yes: ") && !told.contains("try"), "{told}");
        let json = serde_json::to_value(&would).unwrap();
        assert_eq!((&json["costs"], &json["holds"]), (&"20".into(), &().into()));
    }
}
