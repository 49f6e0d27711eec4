//! Our own invariants, checked after every block: a breach is a mistake in this crate.
//!
//! 1. [`check`] reads only the records that the block changed ([`touched`]), since the state before
//!    it was sound. Its work does not grow with the state, but in a block that begins leases or
//!    books units, whose clearing reads all leases and orders as well.
//! 2. A block with a breach is refused like any other bad block, so that validators go on without
//!    it; one that was decided by others all the same stops the node that finds it.
//! 3. Builds with debug assertions check everything ([`whole`]) beside it, and the simulator does
//!    so after every block.

mod counts;
mod touched;
mod whole;

use crate::refusal::Breach;
use crate::state::State;
use crate::work::Work;

#[cfg(test)]
pub(crate) use counts::whole as counts;
pub(crate) use whole::check as whole;

/// Checks what a block did to a sound state.
pub(crate) fn check(state: &State, work: &Work<'_>) -> Result<(), Breach> {
    let before = Work::begin(state, state.time_ms(), &[0; 32]);
    let found = touched::check(&before, work);
    if cfg!(debug_assertions) {
        let all = whole(work);
        assert_eq!(
            all.is_ok(),
            found.is_ok(),
            "{all:?} of everything, {found:?} of what was touched"
        );
    }
    found
}

impl State {
    /// Checks all records, in time proportional to them: for tests and simulators.
    ///
    /// # Errors
    /// Money was made or lost, a balance is below its credit line, pots and class purses differ, a
    /// unit is in two leases or booked twice, a job or a contract is not covered, a retained purse
    /// is not what buyers may still dispute, the bank counts other money as frozen than lies in
    /// escrows, or a recount finds other numbers than are kept of accounts and classes.
    pub fn audit(&self) -> Result<(), Breach> {
        whole(&Work::begin(self, self.time_ms(), &[0; 32]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admit::Admitted;
    use crate::entry::{self, steps};
    use crate::execute;
    use crate::record::Lease;
    use crate::record::Offer;
    use crate::record::Pot;
    use crate::record::Retained;
    use crate::record::Way;
    use crate::sample::{account, class, state};
    use crate::table::steps as count;
    use gridbay_protocol::ids::{Hash32, LeaseId, OfferId, OrderId};
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::lease::Share;
    use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
    use gridbay_protocol::payment::Purse;
    use gridbay_protocol::units::{Credits, Price};

    fn units(state: &State, units: u32) -> Lease {
        Lease {
            order: OrderId([1; 32]),
            account: account(state, 0),
            class: class(state),
            slot: 0,
            shares: vec![Share {
                offer: OfferId([2; 32]),
                units,
            }],
            paid: Credits::ZERO,
            pot: Hash32([0; 32]),
            whole_slot: true,
            slots_run: 0,
            firm_through: None,
            delivered: vec![],
            deliver_by: 9,
        }
    }

    fn offer(state: &State, n: usize) -> Offer {
        Offer {
            seller: account(state, n),
            terms: OfferTerms {
                label: 1,
                class: class(state),
                node: SecretKey::from_seed(&[9; 32]).public(),
                units: 4,
                reserve: Price(1),
                buy_price: None,
                reclaim: Reclaim::None,
                mechanism: Primary::Ausubel,
            },
            active: true,
            bound: 0,
            pending: None,
            disputed_by: vec![],
            disputed_in: 0,
        }
    }

    type Fault = fn(&State, &mut Work<'_>);

    const FAULTS: &[(&str, Fault)] = &[
        ("money from nowhere", |state, work| {
            let purse = Purse::Account(account(state, 0));
            work.tables.purses.insert(purse, 1_001);
        }),
        ("money lost", |state, work| {
            work.tables
                .purses
                .remove(&Purse::Account(account(state, 0)));
        }),
        ("a balance below its line", |state, work| {
            let purse = |n| Purse::Account(account(state, n));
            work.tables.purses.insert(purse(0), -1);
            work.tables.purses.insert(purse(1), 2_001);
        }),
        ("a purse without its pot", |state, work| {
            let purse = Purse::Account(account(state, 0));
            work.tables.purses.insert(purse, 990);
            work.tables.purses.insert(Purse::Class(class(state)), 10);
        }),
        ("a pot without its purse", |state, work| {
            let pot = Pot {
                class: class(state),
                way: Way::Bid,
                slot: 0,
                heights: 1,
                left: Credits::from_micros(5).expect("a small amount"),
                stakes: vec![],
                sold: vec![],
            };
            work.tables.pots.insert(Hash32([3; 32]), pot);
        }),
        ("earnings held that lie nowhere", |state, work| {
            let account = account(state, 0);
            let held = Retained {
                order: OrderId([1; 32]),
                buyer: account,
                seller: account,
                amount: Credits::from_micros(5).expect("a small amount"),
                back: Credits::ZERO,
            };
            let key = (OfferId([2; 32]), LeaseId([4; 32]), 0);
            work.tables.retained.insert(key, held);
        }),
        ("units in a lease that nobody offers", |state, work| {
            let lease = units(state, 1);
            work.tables.leases.insert(LeaseId([4; 32]), lease);
        }),
        ("a job listed that is no order", |_, work| {
            let place = (OfferId([2; 32]), OrderId([1; 32]));
            work.tables.jobs.insert(place, ());
        }),
        ("an offer that nobody counted", |state, work| {
            let offer = offer(state, 0);
            work.tables.offers.insert(OfferId([2; 32]), offer);
        }),
        ("units that nobody offers", |state, work| {
            let offer = offer(state, 0);
            crate::scarce::note(&mut work.counts(), None, Some(&offer));
        }),
        (
            "an account that has nothing of what it is said to have",
            |state, work| {
                let place = (account(state, 0), crate::record::Holding::Earnings);
                work.tables.holdings.insert(place, 1);
            },
        ),
        ("an order listed as sealed that is none", |state, work| {
            let place = (account(state, 0), OrderId([1; 32]));
            work.tables.sealed.insert(place, ());
        }),
        ("a lease that an offer is said to serve", |_, work| {
            work.tables.serving.insert(OfferId([2; 32]), 1);
        }),
        ("savings that lie nowhere", |state, work| {
            let savings = crate::record::Savings {
                frozen: 3,
                ..crate::record::Savings::default()
            };
            work.tables.savings.insert(account(state, 0), savings);
        }),
    ];

    #[test]
    fn every_breach_is_seen_in_what_was_touched_as_in_everything() {
        let state = state();
        let sound = Work::begin(&state, 2_000, &[1; 32]);
        assert_eq!((check(&state, &sound), state.audit()), (Ok(()), Ok(())));
        for (name, plant) in FAULTS {
            let mut work = Work::begin(&state, 2_000, &[1; 32]);
            plant(&state, &mut work);
            let before = Work::begin(&state, 2_000, &[1; 32]);
            assert!(whole(&work).is_err(), "{name}: everything");
            assert!(touched::check(&before, &work).is_err(), "{name}: touched");
        }
    }

    #[test]
    fn what_a_block_changed_is_looked_at_and_no_more() {
        let state = steps::sound(steps::MANY);
        assert_eq!(state.audit(), Ok(()));
        let begin = || Work::begin(&state, 2_000, &[1; 32]);
        let mut looked = Vec::new();
        for (name, entry) in steps::entries(&state) {
            let (mut work, before) = (begin(), begin());
            let Ok(admitted) = Admitted::check(&work, &entry) else {
                continue;
            };
            entry::apply(&mut work, &admitted);
            let (touched, found) = count::of(|| touched::check(&before, &work));
            assert_eq!(found, Ok(()), "{name}");
            assert!(touched <= steps::BOUND, "{name}: {touched} records");
            let (all, _) = count::of(|| whole(&work));
            assert!(all > u64::from(steps::MANY), "{name}: all are {all}");
            let beside = cfg!(debug_assertions);
            let (checked, _) = count::of(|| check(&state, &work));
            assert_eq!(checked, touched + all * u64::from(beside), "{name}");
            looked.push(name);
        }
        for name in ["set_offer", "close_account", "set_keys", "heartbeat"] {
            assert!(looked.contains(&name), "{name} is not in {looked:?}");
        }
    }

    #[test]
    fn a_breach_refuses_the_block_and_stops_nobody() {
        let state = state();
        let mut work = Work::begin(&state, 2_000, &[1; 32]);
        FAULTS[0].1(&state, &mut work);
        let outcome = execute::finish(&state, work);
        assert!(outcome.sound.is_err());
    }
}
