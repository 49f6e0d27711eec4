//! What changed from one look at the node to the next. Pure: looks come in, events go out.
//!
//! | event | when | data |
//! |---|---|---|
//! | `job` | an own job comes, changes or ends | as in `GET /jobs/{id}` |
//! | `order` | the order of an own job is committed, opened, or wins | the same |
//! | `clearing` | an auction ends | as in `GET /auctions` |
//! | `lease` | a lease of this node comes, changes or ends | as in `GET /leases`, or its id and `ended` |
//! | `payment` | money of this node's account moves | as in `GET /ledger/history` |
//! | `peer` | a peer comes or goes | its id and `connected` |

use crate::api::types::{AuctionSummary, JobRecord, LeaseView, Movement};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// An event: its kind and its data.
pub(super) type Event = (&'static str, String);

/// One look.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    /// Own jobs by id.
    pub(super) jobs: BTreeMap<String, JobRecord>,
    /// The last auctions, newest first.
    pub(super) auctions: Vec<AuctionSummary>,
    /// Leases by id.
    pub(super) leases: BTreeMap<String, LeaseView>,
    /// The last movements of money, newest first.
    pub(super) movements: Vec<Movement>,
    /// Connected peers.
    pub(super) peers: BTreeSet<String>,
}

impl Look {
    /// Whether a movement came later: a block's movements come together.
    pub(super) fn is_before(&self, movement: &Movement) -> bool {
        let seen = self.movements.iter().map(|m| m.height).max();
        seen.is_none_or(|height| movement.height > height)
    }
    /// Whether it has an auction.
    pub(super) fn knows(&self, auction: &AuctionSummary) -> bool {
        self.auctions.iter().any(|known| known.id == auction.id)
    }
}

/// The changes from one look to a later one, in the order of the table.
pub(super) fn changes(old: &Look, new: &Look) -> Vec<Event> {
    let mut all = Vec::new();
    for (id, job) in &new.jobs {
        let before = old.jobs.get(id);
        if before != Some(job) {
            all.extend(event("job", job));
        }
        let order = |job: &JobRecord| {
            let heights = (job.committed_height, job.opened_height, job.won_height);
            (job.order, heights)
        };
        if job.order.is_some() && before.map(order) != Some(order(job)) {
            all.extend(event("order", job));
        }
    }
    let fresh = new.auctions.iter().rev().filter(|a| !old.knows(a));
    all.extend(fresh.filter_map(|auction| event("clearing", auction)));
    for (id, lease) in &new.leases {
        if old.leases.get(id) != Some(lease) {
            all.extend(event("lease", lease));
        }
    }
    let gone = old.leases.keys().filter(|id| !new.leases.contains_key(*id));
    all.extend(gone.filter_map(|id| event("lease", &json!({"lease": id, "ended": true}))));
    let fresh = new.movements.iter().rev().filter(|m| old.is_before(m));
    all.extend(fresh.filter_map(|movement| event("payment", movement)));
    for peer in new.peers.symmetric_difference(&old.peers) {
        let connected = new.peers.contains(peer);
        all.extend(event(
            "peer",
            &json!({"peer": peer, "connected": connected}),
        ));
    }
    all
}

fn event(kind: &'static str, data: &impl Serialize) -> Option<Event> {
    let data = serde_json::to_string(data);
    data.ok().map(|data| (kind, data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::{JobState, Signed};
    use crate::web::samples;
    use gridbay_protocol::payment::Reason;

    fn kinds(old: &Look, new: &Look) -> Vec<&'static str> {
        changes(old, new)
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }

    #[test]
    fn a_job_is_told_when_it_changes_and_its_order_when_that_does() {
        let mut job = samples::job();
        job.order = None;
        let look = |job: &JobRecord| Look {
            jobs: BTreeMap::from([(job.id.to_string(), job.clone())]),
            ..Look::default()
        };
        let first = look(&job);
        assert_eq!(kinds(&Look::default(), &first), ["job"]);
        assert!(kinds(&first, &first).is_empty());
        job.order = Some(gridbay_protocol::ids::OrderId([1; 32]));
        let second = look(&job);
        assert_eq!(kinds(&first, &second), ["job", "order"]);
        job.state = JobState::Done;
        assert_eq!(kinds(&second, &look(&job)), ["job"]);
    }

    #[test]
    fn money_is_told_once_and_in_its_order() {
        let moved = |height, micros| Movement {
            height,
            time_ms: 0,
            amount: Signed(micros),
            reason: Reason::Transfer,
            other: String::new(),
            order: None,
        };
        let look = |movements| Look {
            movements,
            ..Look::default()
        };
        let (one, two) = (
            vec![moved(1, 1)],
            vec![moved(2, 3), moved(2, 2), moved(1, 1)],
        );
        let told = changes(&look(one), &look(two));
        assert_eq!(told.len(), 2);
        assert!(
            told[0].1.contains("0.000002") && told[1].1.contains("0.000003"),
            "{told:?}"
        );
    }

    #[test]
    fn peers_come_and_go() {
        let look = |peers: &[&str]| Look {
            peers: peers.iter().map(|p| (*p).to_owned()).collect(),
            ..Look::default()
        };
        let told = changes(&look(&["a", "b"]), &look(&["b", "c"]));
        let said: Vec<_> = told.iter().map(|(_, data)| data.as_str()).collect();
        let gone = r#"{"connected":false,"peer":"a"}"#;
        assert_eq!(said, [gone, r#"{"connected":true,"peer":"c"}"#]);
    }
}
