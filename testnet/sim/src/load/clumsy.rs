//! Blunders: one kind of entry for every reason that the ledger has to refuse one.
//!
//! A blunder looks in the ledger for a case in which it would be refused, and is not made if there
//! is none. It is handed in like any entry; mistakes with sealed bids are made by clients.

mod accounts;
mod leases;
mod offers;
mod orders;

use super::desk::Desk;
use super::key::Key;
use super::share;
use crate::world::World;
use gridbay_ledger::Order;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32, OrderId};
use gridbay_protocol::units::Credits;

type Blunder = fn(&mut Desk<'_>) -> Option<SignedEntry>;

/// All blunders, by the refusal that they are for.
const BLUNDERS: &[Blunder] = &[
    accounts::expired,
    accounts::window,
    accounts::used,
    accounts::no_account,
    accounts::role,
    accounts::key_taken,
    accounts::funds,
    orders::overflow,
    accounts::token_used,
    accounts::grant_over,
    accounts::grant_far,
    accounts::account_quota,
    accounts::not_member,
    accounts::no_validator,
    orders::no_class,
    offers::no_offer,
    offers::offer_class,
    offers::offer_quota,
    offers::class_units,
    orders::no_order,
    orders::order_quota,
    orders::sealed_already,
    orders::sealed,
    orders::exiting,
    orders::closing,
    leases::no_lease,
    leases::nothing_to_deliver,
    leases::nothing_to_fail,
    leases::heartbeat_twice,
    leases::idle,
    leases::nothing_to_complain,
    orders::firm_slots,
    orders::surcharge,
    orders::nothing_to_appeal,
    offers::unbookable,
    share::no_pool,
    share::wrong_weights,
    share::claimed_twice,
    orders::final_order,
    accounts::founder,
    accounts::still_open,
];

impl World {
    /// Somebody hands in what the ledger refuses.
    pub(super) fn blunder(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let first = self.load.rng.index(BLUNDERS.len());
        for i in 0..BLUNDERS.len() {
            if self.write(to, BLUNDERS[(first + i) % BLUNDERS.len()]) {
                self.cover.deed("blunder");
                return;
            }
        }
    }
}

impl World {
    /// An account that has as much as it may asks for more.
    pub(super) fn overdo(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let quotas: [Blunder; 3] = [
            offers::offer_quota,
            offers::class_units,
            orders::order_quota,
        ];
        for quota in quotas {
            if self.write(to, quota) {
                self.cover.deed("blunder");
            }
        }
    }
}

impl Desk<'_> {
    fn transfer(&mut self, to: AccountId, amount: Credits) -> EntryBody {
        let memo = Hash32(self.load.rng.bytes32());
        EntryBody::Transfer { to, amount, memo }
    }
    /// Two accounts, the first with its key.
    fn two(&mut self) -> Option<(AccountId, Key, AccountId)> {
        let (from, key) = self.owner()?;
        let (to, _) = self.owner()?;
        (from != to).then_some((from, key, to))
    }
    pub(super) fn by_owner(&mut self, body: EntryBody) -> Option<SignedEntry> {
        let (account, key) = self.owner()?;
        Some(self.sign(account, &key, body))
    }
    /// An order of such a kind, with its owner's key.
    fn order(&mut self, wanted: impl Fn(&Order) -> bool) -> Option<(OrderId, Order, Key)> {
        let orders: Vec<_> = self.state.orders().filter(|(_, o)| wanted(o)).collect();
        let (id, order) = self.load.rng.pick(&orders).copied()?;
        Some((*id, order.clone(), self.key_of(&order.account)?))
    }
}
