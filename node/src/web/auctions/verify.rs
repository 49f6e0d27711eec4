//! The check of an auction, by the same steps as `gridbay auction verify`; but where that follows
//! the validators from the genesis on, this takes the node's own word for them.

use crate::api::Answer;
use crate::api::types::AuctionProof;
use crate::backend::NodeBackend;
use crate::backend::failure::internal;
use crate::cli::{AuctionError, check_auction};
use crate::web::failure::sentence;
use crate::web::parts::{Tone, check, notice};
use maud::{Markup, html};
use std::time::Instant;

/// The verdict, and how long it took.
pub(super) struct Verdict {
    found: Result<(), AuctionError>,
    ms: u128,
}

impl Verdict {
    /// Computes everything anew, beside the threads that must not wait.
    pub(super) async fn of(node: &NodeBackend, proof: &AuctionProof) -> Answer<Verdict> {
        let policy = node.query(|core| core.state().policy().clone()).await?;
        let (network, proof) = (node.parts.network, proof.clone());
        let work = move || {
            let began = Instant::now();
            let found = check_auction(&proof, network, &policy, None);
            Verdict {
                found,
                ms: began.elapsed().as_millis(),
            }
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| internal("checking an auction", error))
    }

    /// In words.
    pub(super) fn shown(&self) -> Markup {
        if let Err(error) = &self.found {
            let more = "Do not trust this node: compare with another one.";
            return notice(Tone::Bad, &sentence(&error.to_string()), more);
        }
        html! {
            ul.checks {
                (check(true, "Header signed by more than two thirds of the power", ""))
                (check(true, "Record is in the block", ""))
                (check(true, "Winners and payments computed anew", "identical"))
            }
            p.muted {
                "Checked here in " (self.ms) " ms. Who the validators are was taken from this \
                 node; the command follows them from the genesis on."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_auction_is_told() {
        let wrong = Verdict {
            found: Err(AuctionError::Block("height")),
            ms: 1,
        };
        assert!(wrong.shown().into_string().contains("Wrong height."));
        let right = Verdict {
            found: Ok(()),
            ms: 1,
        };
        assert_eq!(
            right
                .shown()
                .into_string()
                .matches("data-tone=\"ok\"")
                .count(),
            3
        );
    }
}
