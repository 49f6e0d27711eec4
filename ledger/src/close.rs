//! What follows the entries of a block.
//!
//! In every block: a tax that runs goes on (see `bank::turn`), unopened bids for which no appeal came forfeit their deposits,
//! leases end whose sellers are overdue, whose offers are withdrawn (see `catalogue`), and buys of this block of one class
//! are decided at once if no bid of it can be opened in this round and no other buy waits. Last of all, what contracts wait for falls due (see
//! `contract`).
//!
//! In the last block of a round, instead of the latter:
//!
//! 1. sealed bids of the round before, still not opened, leave the book (see `unopened`); amendments take effect of bids that
//!    are about to compete (see `amend`);
//! 2. at a slot boundary units of sellers that gave no sign of life are no longer acknowledged (see `heartbeat`), what
//!    nobody can dispute any more is paid (see `retention`), and the pots are settled (see `slot`);
//! 3. at a slot boundary the bank has its turn (see `bank::turn`), and the next slot begins for leases that go on;
//! 4. bids and claims that stood too long end, reservations whose last start has passed, and proposals of contracts that
//!    can be signed no more;
//! 5. at a slot boundary sellers plan their jobs (see `deadline`);
//! 6. at a slot boundary reservations are decided on and begin (see `reservation`);
//! 7. at a slot boundary the pools are shared (see `share`);
//! 8. every class is cleared (see `clear`);
//! 9. buys without a lease are decided, those that waited first (see `buy::queue`);
//! 10. changes of offers take effect (see `catalogue`).

use crate::record::{Lease, Stage};
use crate::work::Work;
use crate::{
    amend, bank, book, buy, catalogue, clear, contract, deadline, heartbeat, reservation,
    retention, sell, share, slot, unopened,
};
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::planted::{self, Planted};

/// See the module.
pub(crate) fn after_entries(work: &mut Work<'_>) {
    bank::turn::go_on(&mut work.bank());
    unopened::forfeit(&mut work.seals());
    end_overdue(work);
    if work.closes_round() {
        close_round(work);
    } else {
        unopened::note_reach(&mut work.book());
        let bought = std::mem::take(&mut work.bought);
        buy::queue::jump(&mut work.floor(), &bought);
    }
    contract::decide_due(&mut work.pacts());
}

fn close_round(work: &mut Work<'_>) {
    unopened::close(&mut work.seals());
    amend::take_effect(&mut work.book());
    if work.closes_slot() {
        heartbeat::turn(&mut work.floor());
        retention::release(&mut work.till());
        slot::settle_all(&mut work.till());
        bank::turn::turn(&mut work.bank());
        slot::turn(&mut work.till());
    }
    time_out(work);
    contract::time_out(&mut work.pacts());
    if work.closes_slot() {
        deadline::turn(&mut work.floor());
        let mut hints = std::mem::take(&mut work.hints);
        reservation::turn(&mut work.floor(), &mut hints);
        work.hints = hints;
        share::divide(&mut work.floor());
    }
    for class in &work.constitution.classes {
        clear::clear(&mut work.floor(), &class.key.id());
    }
    buy::queue::close(&mut work.floor());
    catalogue::update(&mut work.shelf());
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
        sell::lost(&mut work.floor(), id, offers, LeaseEnd::Undelivered);
        for offer in offers {
            catalogue::suspend(&mut work.shelf(), offer);
        }
    }
}

fn time_out(work: &mut Work<'_>) {
    let height = work.height();
    let slot = work.calendar().slot(height);
    let late = waiting(work, |stage| match stage {
        Stage::Bid(bid) => bid.bid.stands_until < height,
        Stage::Reservation(reservation) => !reservation.may_begin_after(slot),
        Stage::Share(share) => share.claim.stands_until < height,
        Stage::Sealed { .. } | Stage::Buy(_) | Stage::Deadline(_) => false,
    });
    for id in &late {
        book::end(&mut work.book(), id, OrderEnd::TimedOut);
    }
}
