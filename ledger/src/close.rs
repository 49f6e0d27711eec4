//! What follows the entries of a block.
//!
//! In every block: unopened bids for which no appeal came forfeit their deposits, leases end whose sellers are overdue, whose offers are withdrawn (see `catalogue`), and buys of this block are decided at once if no bid of their
//! class can be opened in this round.
//!
//! In the last block of a round, instead of the latter:
//!
//! 1. sealed bids of the round before, still not opened, leave the book (see `unopened`);
//! 2. at a slot boundary the slot is settled (see `slot`);
//! 3. bids that stood too long end;
//! 4. at a slot boundary the pools are shared (see `share`);
//! 5. every class is cleared (see `clear`);
//! 6. waiting buys are decided, in the order that the beacon gives them (see `buy`);
//! 7. changes of offers take effect (see `catalogue`).

use crate::lease::Lease;
use crate::order::Stage;
use crate::work::Work;
use crate::{book, buy, catalogue, clear, share, slot, tenancy, unopened};
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::planted::{self, Planted};

/// See the module.
pub(crate) fn after_entries(work: &mut Work<'_>) {
    unopened::forfeit(work);
    end_overdue(work);
    if work.closes_round() {
        close_round(work);
    } else {
        unopened::note_reach(work);
        for id in std::mem::take(&mut work.bought) {
            let class = work.tables.orders.get(&id).map(|o| o.class);
            if class.is_some_and(|class| !book::bids_are_open(work, &class)) {
                buy::decide(work, &id);
            }
        }
    }
}

fn close_round(work: &mut Work<'_>) {
    unopened::close(work);
    if work.closes_slot() {
        slot::turn(work);
    }
    time_out(work);
    if work.closes_slot() {
        share::divide(work);
    }
    for class in &work.constitution.classes {
        clear::clear(work, &class.key.id());
    }
    let mut waiting = waiting(work, |stage| matches!(stage, Stage::Buy(_)));
    waiting.sort_by_cached_key(|id| work.rank(id.as_bytes()));
    for id in &waiting {
        buy::decide(work, id);
    }
    catalogue::update(work);
}

/// Ids of the live orders at a stage that have no lease, ascending.
fn waiting(work: &Work<'_>, at: impl Fn(&Stage) -> bool) -> Vec<OrderId> {
    let all = work.tables.orders.iter();
    all.filter(|(_, order)| order.lease.is_none() && at(&order.stage))
        .map(|(id, _)| *id)
        .collect()
}

fn end_overdue(work: &mut Work<'_>) {
    if planted::is(Planted::OverdueSpared) {
        return;
    }
    let height = work.height();
    let leases = work.tables.leases.iter();
    let overdue = leases.filter(|(_, l)| height >= l.deliver_by && !l.is_delivered());
    let missed = |lease: &Lease| -> Vec<OfferId> {
        let offers = lease.shares.iter().map(|s| s.offer);
        offers.filter(|o| !lease.has_delivered(o)).collect()
    };
    let overdue: Vec<_> = overdue.map(|(id, lease)| (*id, missed(lease))).collect();
    for (id, offers) in &overdue {
        tenancy::interrupt(work, id, LeaseEnd::Undelivered);
        for offer in offers {
            catalogue::suspend(work, offer);
        }
    }
}

fn time_out(work: &mut Work<'_>) {
    let height = work.height();
    let late = waiting(work, |stage| match stage {
        Stage::Bid(bid) => bid.bid.stands_until < height,
        Stage::Share(share) => share.claim.stands_until < height,
        _ => false,
    });
    for id in &late {
        book::end(work, id, OrderEnd::TimedOut);
    }
}
