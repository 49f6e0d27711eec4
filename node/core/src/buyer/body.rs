//! The entry by which an attempt at an order begins.

use super::order::SEND_HEIGHTS;
use super::record::{Record, Terms};
use super::{deadline, share};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, NetworkId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{Buy, Commit, ContractEntry};

/// The body of the entry of this attempt: the same whenever it is asked for.
pub(super) fn of(record: &Record, network: &NetworkId, account: &AccountId) -> EntryBody {
    let order = &record.order;
    let work = order.spec.work(&record.work_salt());
    match &order.terms {
        Terms::Buy {
            parts,
            limit,
            patience,
            surcharge,
        } => EntryBody::Buy(Buy {
            parts: parts.clone(),
            slots: order.slots,
            limit: *limit,
            stands_until: stands_until(record.valid_until, *patience),
            surcharge: *surcharge,
            work,
        }),
        Terms::Sealed { .. } | Terms::Reserve(_) => {
            let wish = record.wish.as_ref();
            let wish = wish.expect("a sealed attempt has its wish");
            EntryBody::Commit(Commit {
                class: order.class,
                seal: wish.seal(network, account, &record.seal_salt()),
                bracket: bracket(wish.units()),
            })
        }
        Terms::Contract(_) => {
            let terms = record.proposal.clone();
            let terms = terms.expect("an attempt at a contract has its proposal");
            EntryBody::Contract(ContractEntry::Propose(Box::new(terms)))
        }
        Terms::Share { .. } => {
            let claim = share::claim(record);
            EntryBody::Share(claim.expect("its terms are those of a claim"))
        }
        Terms::Deadline { .. } => {
            let job = deadline::order_of(order, work);
            EntryBody::Deadline(job.expect("the terms are those of a deadline"))
        }
    }
}

/// Last height of an attempt that may be included until `valid_until` and waits for `patience` heights after it was made.
fn stands_until(valid_until: u64, patience: u64) -> u64 {
    match patience {
        0 => 0,
        _ => valid_until
            .saturating_sub(SEND_HEIGHTS)
            .saturating_add(patience),
    }
}

/// Smallest bracket that holds so many units.
pub(super) fn bracket(units: u32) -> u8 {
    (0..limits::BRACKET)
        .find(|b| units <= 1 << b)
        .unwrap_or(limits::BRACKET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buy_waits_from_the_making_of_its_entry() {
        let now = 1_000;
        assert_eq!(stands_until(now + SEND_HEIGHTS, 240), 1_240);
        assert_eq!(stands_until(now + SEND_HEIGHTS, 0), 0);
    }

    #[test]
    fn the_smallest_bracket_that_fits() {
        let brackets: Vec<u8> = [1, 2, 3, 4, 5, 4_096].map(bracket).to_vec();
        assert_eq!(brackets, [0, 1, 2, 2, 3, 12]);
    }
}
