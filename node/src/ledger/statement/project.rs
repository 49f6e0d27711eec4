//! What moved money for the orders of a project: found by these orders, so that it takes no longer
//! where the account has a long history of other things.

use super::fold::{Amounts, Purses};
use super::handle::{LINES, MOST, Part, too_many};
use crate::api::Answer;
use crate::auction::board::Place;
use crate::backend::NodeBackend;
use gridbay_core::Core;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::Posting;
use std::collections::{BTreeMap, BTreeSet};

/// Postings about orders, read from the latest back.
struct Reading {
    /// The orders still to be read.
    left: Vec<OrderId>,
    /// The height before which all are read.
    end: u64,
    /// The place before which the last of them is read on; `end` if it was not begun.
    before: Option<Place>,
    /// By place, since one may be about two of the orders.
    found: BTreeMap<Place, Posting>,
    own: BTreeSet<OrderId>,
}

impl NodeBackend {
    /// What moved money for a project's orders in the blocks from one height to before another, as
    /// an account sees it.
    pub(super) async fn part_of_project(
        &self,
        account: AccountId,
        project: String,
        (first, end): (u64, u64),
    ) -> Answer<Part> {
        let of = move |core: &Core| orders(core, &project);
        let mut reading = Reading {
            left: self.query(of).await?,
            end,
            before: None,
            found: BTreeMap::new(),
            own: BTreeSet::new(),
        };
        while !reading.left.is_empty() {
            let read = move |core: &Core| {
                reading.read(core, &account, first);
                reading
            };
            reading = self.query(read).await?;
            if reading.found.len() > MOST {
                return Err(too_many());
            }
        }
        let postings: Vec<(Place, Posting)> = reading.found.into_iter().collect();
        let entries = self.entries(postings.iter()).await?;
        let purses = Purses {
            account,
            orders: &reading.own,
        };
        // Of what the account had before, nothing is the project's.
        let (opening, mut closing) = (Amounts::default(), Amounts::default());
        for (_, posting) in &postings {
            purses.apply(&mut closing, posting);
        }
        Ok(Part {
            entries,
            own: reading.own,
            opening,
            closing,
        })
    }
}

impl Reading {
    /// Reads on, by some hundred lines and orders: the core has other work.
    fn read(&mut self, core: &Core, account: &AccountId, first: u64) {
        let (host, mut cost) = (core.host(), 0);
        while let Some(order) = self.left.last().copied().filter(|_| cost < LINES) {
            let before = self.before.unwrap_or((self.end, 0));
            let page = host.postings_about(&order, before, LINES);
            cost += page.len() + 1;
            let oldest = page.last().map(|(place, _)| *place);
            self.found
                .extend(page.into_iter().filter(|(place, _)| place.0 >= first));
            self.before = oldest.filter(|place| place.0 >= first);
            if self.before.is_none() {
                self.left.pop();
                if host.order_account(&order) == Some(*account) {
                    self.own.insert(order);
                }
            }
        }
    }
}

/// The orders of a project.
fn orders(core: &Core, project: &str) -> Vec<OrderId> {
    let orders = core.buyer().orders().map(|(_, agent)| agent);
    let of = orders.filter(|a| a.project().is_some_and(|member| member.project == project));
    of.filter_map(|agent| agent.id).collect()
}
