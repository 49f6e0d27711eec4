//! `cancel`: ends an order. One that stands or waits ends at once, a booking for the price of its
//! first slot; a running order ends after its slot, which is paid out, and a taken job by a
//! deadline counts as done with the slot. Not in a block that closes a round, when all bids are
//! known; and never a sealed bid.
//!
//! An opened order is final until it was decided on. Otherwise a bidder that opens several bids and
//! reads the others' could take back all but the best for free. This holds for an opened bid until
//! the close of its round, for an opened reservation until the slot boundary, and for an amended
//! order until it has competed with its new bid. While a sealed bid of the account waits to be
//! opened, no order of its class is cancelled: it may be an amendment, which lapses with its order.

use crate::book;
use crate::record::{Opening, Order};
use crate::refusal::Refusal;
use crate::sell;
use crate::state::State;
use crate::view::Book;
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{AccountId, OrderId};

pub(super) fn check(work: &Work<'_>, account: &AccountId, id: &OrderId) -> Result<(), Refusal> {
    let order = work.tables.orders.get(id);
    let order = order.filter(|o| o.account == *account);
    let order = order.ok_or(Refusal::NoOrder(*id))?;
    if order.is_sealed() {
        return Err(Refusal::Sealed(*id));
    }
    if order.exiting {
        return Err(Refusal::Exiting(*id));
    }
    if work.closes_round() {
        return Err(Refusal::Closing(work.height()));
    }
    decided(work, id, order)
}

/// Whether an order has been decided on as it is, and nothing can amend it in this round.
fn decided(work: &Work<'_>, id: &OrderId, order: &Order) -> Result<(), Refusal> {
    if is_final(work, order) {
        return Err(Refusal::Final(*id));
    }
    match to_open(work, order) {
        Some(sealed) => Err(Refusal::Unopened(sealed)),
        None => Ok(()),
    }
}

impl State {
    /// Whether a live order can be cancelled only at a later height, because it was opened or
    /// amended and its clearing is still ahead, or may be amended in this round.
    pub fn is_final(&self, id: &OrderId) -> bool {
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        let order = self.order(id);
        order.is_some_and(|order| decided(&work, id, order).is_err())
    }
}

/// Whether an order was opened, or amended, and has not been decided on since.
fn is_final(work: &Work<'_>, order: &Order) -> bool {
    let calendar = work.calendar();
    let opened = order.round + 1;
    let slot = calendar.slot(calendar.last_of_round(opened));
    let opening = Opening {
        runs: order.lease.is_some(),
        this_round: opened == work.round(),
        this_slot: slot == calendar.slot(work.height()),
    };
    let live = order.stage.live();
    live.is_some_and(|live| live.is_undecided(&opening))
}

/// A sealed bid of the same account and class as a bid that can be opened now.
fn to_open(work: &Work<'_>, order: &Order) -> Option<OrderId> {
    order.bid()?;
    book::of_account(work, &order.class, &order.account).find(|id| {
        let sealed = work.tables.orders.get(id);
        sealed.is_some_and(|o| o.is_sealed() && o.round < work.round())
    })
}

pub(super) fn apply(at: &mut Book<'_, '_>, id: &OrderId) {
    let order = at.orders().get_mut(id);
    let order = order.expect("the order was checked");
    if order.lease.is_none() && !order.is_taken() {
        sell::given_up(&mut at.money(), id);
        book::end(at, id, OrderEnd::Cancelled);
    } else {
        order.exiting = true;
    }
}
