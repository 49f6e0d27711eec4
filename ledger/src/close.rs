//! The close of a block: the fixed steps that follow its entries.
//!
//! In every block:
//!
//! - a tax that runs goes on (see `bank::turn`);
//! - unopened bids for which no appeal came forfeit their deposits;
//! - leases with overdue sellers end, and the offers of these sellers are withdrawn (see
//!   `catalogue`);
//! - last of all, jobs and windows of contracts fall due (see `sell::contract`).
//!
//! In a block that closes no round, every mechanism has a turn before the last of these: buys of
//! one class are decided at once if no bid of it can be opened in this round and no other buy
//! waits.
//!
//! In the last block of a round, in its place:
//!
//! 1. sealed bids of the round before, still not opened, leave the book (see `sell::sealed`);
//!    amendments of bids that are about to compete take effect (see `sell::ausubel::amend`);
//! 2. at a slot boundary units of sellers that gave no sign of life are no longer acknowledged (see
//!    `heartbeat`), earnings that nobody can dispute any more are paid (see `retention`), and the
//!    pots are settled (see `slot`);
//! 3. at a slot boundary the bank has its turn (see `bank::turn`), and the next slot begins for
//!    leases that go on;
//! 4. bids and claims that stood too long end, and so do reservations whose last start has passed
//!    and proposals of contracts that can be signed no more;
//! 5. at a slot boundary every mechanism has its turn (see `sell::ROOMS`): sellers plan their jobs
//!    by deadlines, reservations are decided on and begin, the pools are shared;
//! 6. every mechanism has its turn for the round: every class is cleared, then buys without a lease
//!    are decided, those that waited first;
//! 7. changes of offers take effect (see `catalogue`).

use crate::record::Lease;
use crate::sell::ausubel::amend;
use crate::sell::sealed::unopened;
use crate::sell::{self, contract};
use crate::view::Book;
use crate::work::Work;
use crate::{bank, book, catalogue, heartbeat, retention, slot};
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;

/// See the module.
pub(crate) fn after_entries(work: &mut Work<'_>) {
    bank::turn::go_on(&mut work.bank());
    unopened::forfeit(&mut work.seals());
    end_overdue(work);
    if work.closes_round() {
        close_round(work);
    } else {
        unopened::note_reach(&mut work.book());
        let fresh = std::mem::take(&mut work.fresh);
        for room in sell::ROOMS {
            (room.at_block)(work, &fresh);
        }
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
    time_out(&mut work.book());
    contract::time_out(&mut work.pacts());
    if work.closes_slot() {
        for room in sell::ROOMS {
            (room.at_slot)(work);
        }
    }
    for room in sell::ROOMS {
        (room.at_round)(work);
    }
    catalogue::update(&mut work.shelf());
}

fn end_overdue(work: &mut Work<'_>) {
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

fn time_out(at: &mut Book<'_, '_>) {
    let height = at.height();
    let slot = at.calendar().slot(height);
    let orders = at.orders().iter();
    let waiting = orders.filter(|(_, order)| order.lease.is_none());
    let late = waiting.filter(|(_, order)| {
        let live = order.stage.live();
        live.is_some_and(|live| live.timed_out(height, slot))
    });
    let late: Vec<OrderId> = late.map(|(id, _)| *id).collect();
    for id in &late {
        book::end(at, id, OrderEnd::TimedOut);
    }
}
