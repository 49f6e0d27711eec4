//! Snapshots of the state.

use crate::ledgers::{self, Ledger, MEMBERS};
use crate::{Target, Verdict, machine};
use gridbay_ledger::State;
use gridbay_protocol::genesis::Genesis;
use std::sync::LazyLock;

pub(crate) const RESTORE: Target = machine(
    "snapshot_restore",
    "bytes as a snapshot: restored to exactly what they say, and to the known root only if they are its own",
    restore,
    || vec![BUSY.clone(), FRESH.clone()],
    400,
);

static GENESIS: LazyLock<Genesis> = LazyLock::new(|| ledgers::genesis(MEMBERS));
static BUSY: LazyLock<Vec<u8>> = LazyLock::new(|| Ledger::busy_ref().state.snapshot());
static FRESH: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let state = State::genesis(&GENESIS).expect("the genesis is legal");
    state.snapshot()
});

fn restore(bytes: &[u8]) -> Verdict {
    let Ok(state) = State::restore(&GENESIS, bytes, 1 << 20) else {
        return Verdict::Refused;
    };
    assert_eq!(state.snapshot(), bytes, "a snapshot has one form");
    let known = &Ledger::busy_ref().state;
    let place = |state: &State| (state.root(), state.tip(), state.log_root());
    if place(&state) == place(known) {
        assert_eq!(bytes, *BUSY, "two states with one root");
    }
    // Questions are total even on a state that no chain leads to.
    state.totals();
    for (id, _) in state.accounts() {
        state.balance(id);
    }
    for (id, _) in state.offers() {
        state.occupancy(id);
    }
    Verdict::Accepted
}
