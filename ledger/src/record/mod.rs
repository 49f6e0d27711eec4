//! The records of the state: a file for each noun with data and pure questions of it, and all
//! tables of them here. Every table is part of the state root; adding one is a line here.

mod account;
mod ausubel;
mod bank;
mod beacon;
mod buy;
mod chain;
mod contract;
mod deadline;
mod holding;
mod lease;
mod live;
mod offer;
mod order;
mod posted;
mod pot;
mod reservation;
mod retained;
mod sale;
mod scarce;
mod seats;
mod share;
mod spent;
mod unopened;

pub use account::Account;
pub use ausubel::BidOrder;
pub(crate) use ausubel::NextBid;
pub use bank::{Epoch, Prices, Savings, Sweep};
pub use beacon::Successor;
pub use buy::BuyOrder;
pub use chain::{CHAIN, Chain};
pub(crate) use contract::Tally;
pub use contract::{Contract, ContractJob, Progress, Serving};
pub use deadline::{DeadlineOrder, Taken};
pub use gridbay_protocol::offer::Way;
pub(crate) use holding::{Held, Holding};
pub use lease::Lease;
pub(crate) use live::{List, Live, Opening, Ran};
pub use offer::{Offer, Pending};
pub use order::{Order, Stage};
pub(crate) use posted::PostedOrder;
pub use pot::{Part, Pot, PotOffer, Stake, Stopped};
pub use reservation::{Booking, ReservationOrder};
pub use retained::{Complaints, Retained};
pub(crate) use sale::Sale;
pub(crate) use scarce::{Party, Scarce, Takes};
pub use seats::{Closed, Seats};
pub use share::ShareOrder;
pub use spent::Spent;
pub use unopened::Unopened;

use crate::roots;
use crate::table::{self, Changes, Table};
use crate::tree::Hash;
use gridbay_protocol::ids::{
    AccountId, ClassId, EntryId, Hash32, LeaseId, OfferId, OrderId, ValidatorId,
};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::payment::Purse;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $record:ty,)*) => {
        /// All records of the committed state.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Records { $($(#[$doc])* pub(crate) $name: BTreeMap<$key, $record>,)* }

        /// All records as a candidate block sees and changes them.
        #[derive(Clone, Debug)]
        pub(crate) struct Tables<'a> { $($(#[$doc])* pub(crate) $name: Table<'a, $key, $record>,)* }

        /// The net effect of a block on all records.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct RecordChanges { $(pub(crate) $name: Changes<$key, $record>,)* }

        impl Records {
            pub(crate) fn tables(&self) -> Tables<'_> {
                Tables { $($name: Table::new(&self.$name),)* }
            }
            pub(crate) fn apply(&mut self, changes: RecordChanges) {
                $(table::apply(&mut self.$name, changes.$name);)*
            }
            /// Leaves of the state tree of all records.
            pub(crate) fn leaves(&self) -> BTreeMap<Hash, Hash> {
                let mut leaves = BTreeMap::new();
                $(for (key, record) in &self.$name {
                    leaves.insert(roots::record_key(stringify!($name), key), roots::record_value(record));
                })*
                leaves
            }
        }
        impl Tables<'_> {
            pub(crate) fn into_changes(self) -> RecordChanges {
                RecordChanges { $($name: self.$name.into_changes(),)* }
            }
        }
        impl RecordChanges {
            /// Changed leaves of the state tree.
            pub(crate) fn leaves(&self) -> BTreeMap<Hash, Option<Hash>> {
                let mut leaves = BTreeMap::new();
                $(for (key, change) in &self.$name {
                    let value = change.as_ref().map(roots::record_value);
                    leaves.insert(roots::record_key(stringify!($name), key), value);
                })*
                leaves
            }
        }
    };
}

tables! {
    /// Accounts.
    accounts: AccountId => Account,
    /// The account that lists a key.
    keys: PublicKey => AccountId,
    /// Balances in micro-credits; a purse with nothing has no record.
    purses: Purse => i64,
    /// Entries that took effect, by their last height, until it has passed.
    seen: (u64, EntryId) => (),
    /// Tokens of invitations used, by inviter, with the last height of their grant.
    tokens: (AccountId, PublicKey) => u64,
    /// The image whose preimage a validator's next block reveals.
    beacons: ValidatorId => Hash32,
    /// Offers.
    offers: OfferId => Offer,
    /// Room taken of each kind that is scarce, by party; without a party that of all beyond the
    /// parts kept for them.
    scarce: (Scarce, Option<Party>) => u64,
    /// How much of a kind an account has open; without any there is no record.
    holdings: (AccountId, Holding) => u32,
    /// Live orders.
    orders: OrderId => Order,
    /// Live orders by class and account.
    book: (ClassId, AccountId, OrderId) => (),
    /// Live orders that are sealed, by account.
    sealed: (AccountId, OrderId) => (),
    /// Live jobs by deadlines, by offer.
    jobs: (OfferId, OrderId) => (),
    /// Buys that wait for units, by class; a class without any has no record.
    waiting: ClassId => u64,
    /// Live claims by pool and account.
    pools: (OfferId, AccountId) => OrderId,
    /// Bids that were not opened and wait for an appeal.
    unopened: OrderId => Unopened,
    /// Live contracts.
    contracts: OrderId => Contract,
    /// Live contracts by party.
    parties: (AccountId, OrderId) => (),
    /// Requested jobs that are not decided, by contract.
    contract_jobs: (OrderId, OrderId) => ContractJob,
    /// The last slot of what a contract waits for: of a job, or of its window.
    due: (u64, OrderId, Option<OrderId>) => (),
    /// How many contracts and promised jobs an account has; without any there is no record.
    tallies: AccountId => Tally,
    /// First different auctioneers of a round whose bids can be opened now.
    auctioneers: u64 => Vec<ValidatorId>,
    /// Running leases.
    leases: LeaseId => Lease,
    /// How many leases hold acknowledged units of an offer; of one without any there is no record.
    serving: OfferId => u32,
    /// Money paid for the running slot.
    pots: Hash32 => Pot,
    /// The accounts' savings, where the bank taxes them.
    savings: AccountId => Savings,
    /// The tax that runs, by the height at which it began.
    sweeps: u64 => Sweep,
    /// Payments and supply of the last epochs.
    epochs: u64 => Epoch,
    /// Prices of classes.
    prices: ClassId => Prices,
    /// Tips of beacon chains that were registered and do not count yet.
    successors: ValidatorId => Successor,
    /// Sellers' nodes that gave a sign of life in the running slot.
    heartbeats: (AccountId, PublicKey) => (),
    /// Earnings that buyers may still dispute, by offer, lease and slot.
    retained: (OfferId, LeaseId, u64) => Retained,
    /// Complaints of the last epoch with any, by account.
    complaints: AccountId => Complaints,
}
