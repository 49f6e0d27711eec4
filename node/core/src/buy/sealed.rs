//! Commitments: they hide a bid, a reservation or an amendment until its round has closed.

use gridbay_ledger::State;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::order::{Commit, Wish};

/// The entry that commits an account to a wish under a salt.
pub(crate) fn commit(
    wish: &Wish,
    state: &State,
    account: &AccountId,
    salt: &[u8; 32],
) -> EntryBody {
    EntryBody::Commit(Commit {
        class: wish.class(),
        seal: wish.seal(&state.network(), account, salt),
        bracket: bracket(wish.units()),
    })
}

/// Smallest bracket that holds so many units.
fn bracket(units: u32) -> u8 {
    (0..limits::BRACKET)
        .find(|b| units <= 1 << b)
        .unwrap_or(limits::BRACKET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_bracket_that_fits() {
        let brackets: Vec<u8> = [1, 2, 3, 4, 5, 4_096].map(bracket).to_vec();
        assert_eq!(brackets, [0, 1, 2, 2, 3, 12]);
    }
}
