//! A crowd in the calm: a house floods, every account of it with as many entries as a mempool takes
//! of one, together about as many as a block does. Another house hands in one meanwhile, or a few.

use super::buyer::micros;
use super::desk::{Desk, STRANGER};
use crate::found::node_key;
use crate::world::World;
use gridbay_host::limits::{BATCH_ENTRIES, MEMPOOL_PER_ACCOUNT};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::keys::PublicKey;

/// Floods of a world, each followed by the entries of the other house.
const FLOODS: u64 = 4;
/// Milliseconds after which a flood has reached all validators.
const REACHED_MS: u64 = 60;
/// Most entries of the other house at once.
const FEW: u64 = 3;
/// Strangers that hand in for the accounts of the house; another one does for the other house.
const STRANGERS: usize = STRANGER + 1;

impl Desk<'_> {
    /// Transfers of the least amount from an account to another.
    fn transfers(&mut self, from: usize, to: AccountId, entries: usize) -> Vec<SignedEntry> {
        let found = match from.checked_sub(self.load.keys.len()) {
            Some(client) => self.client(client),
            None => self.account(from).zip(self.load.keys.get(from).cloned()),
        };
        let Some((account, key)) = found else {
            return Vec::new();
        };
        let mut transfer = || {
            let memo = Hash32(self.load.rng.bytes32());
            let amount = micros(1);
            let body = EntryBody::Transfer { to, amount, memo };
            self.sign(account, &key, body)
        };
        (0..entries).map(|_| transfer()).collect()
    }
}

impl World {
    /// A flood, or in every second turn the entries of the other house.
    pub(crate) fn crowd(&mut self, turn: u64) {
        let interval = self.genesis.policy.block_interval_ms;
        let patron = self.plan.validators;
        let Some(honest) = self.honest().find(|n| *n < patron) else {
            return;
        };
        if turn.is_multiple_of(2) {
            self.flood(patron, honest);
            self.crowd_comes(turn + 1, REACHED_MS);
        } else {
            self.few(honest, patron);
            if turn + 1 < 2 * FLOODS {
                self.crowd_comes(turn + 1, interval.saturating_sub(REACHED_MS));
            }
        }
    }
    fn flood(&mut self, patron: usize, victim: usize) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let nodes = self.plan.nodes();
        let clients = nodes..nodes + self.load.clients.len();
        for (n, from) in std::iter::once(patron).chain(clients).enumerate() {
            let stranger = node_key(STRANGERS + n);
            self.transfer_by_hand((from, victim), MEMPOOL_PER_ACCOUNT, to, stranger);
        }
        self.cover.deed("flood");
    }
    fn few(&mut self, from: usize, patron: usize) {
        let votes = |n: &usize| *n < self.plan.validators;
        let honest: Vec<usize> = self.honest().filter(votes).collect();
        let Some(to) = self.load.rng.pick(&honest).copied() else {
            return;
        };
        let entries = self.load.rng.range(1, FEW) as usize;
        let stranger = node_key(STRANGER);
        self.transfer_by_hand((from, patron), entries, to, stranger);
        self.cover.deed("entry in a flood");
    }
    /// Hands in transfers between two accounts at a node, those of clients after those of nodes.
    fn transfer_by_hand(
        &mut self,
        (from, to): (usize, usize),
        entries: usize,
        at: usize,
        stranger: PublicKey,
    ) {
        let mut made = Vec::new();
        self.draw_up(at, |desk| {
            let to = desk.account(to)?;
            made = desk.transfers(from, to, entries);
            None
        });
        for batch in made.chunks(BATCH_ENTRIES) {
            self.hand_in_as(stranger, at, batch.to_vec());
        }
    }
}
