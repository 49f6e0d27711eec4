//! Views: the tables that a rule may change.
//!
//! Any rule reads the whole working set, for reading changes nothing. Its signature says what it
//! changes: it takes a [`View`] with rights to some tables, and a method for each of these. A rule
//! hands on its rights or fewer (`at.book()`), never more. Only the code that runs the steps of a
//! block holds a [`Work`], and so all rights; a test lists those files.

use crate::record::{
    Account, Complaints, Contract, ContractJob, Epoch, Holding, Lease, Offer, Order, Party, Pot,
    Prices, Retained, Savings, Scarce, Serving, Successor, Sweep, Tally, Unopened,
};
use crate::table::Table;
use crate::work::Work;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::payment::Purse;
use std::marker::PhantomData;
use std::ops::Deref;

/// The working set, of which some tables may be changed.
pub(crate) struct View<'v, 'a, R> {
    work: &'v mut Work<'a>,
    rights: PhantomData<R>,
}

impl<'a, R> Deref for View<'_, 'a, R> {
    type Target = Work<'a>;
    fn deref(&self) -> &Work<'a> {
        self.work
    }
}

/// Declares rights, each with its purpose, the method that hands it on and where (of a `work`, a
/// `view`, a work in a `test`), the rights that it includes, and the tables that it lets a rule
/// change, by the name of the method and that of the table.
macro_rules! rights {
    ($(
        $(#[$doc:meta])*
        $right:ident $hands:ident($($of:ident)*) [$($less:ident)*] {
            $($method:ident: $table:ident $key:ty => $value:ty,)*
        }
    )*) => {
        /// Rights, by what they are for.
        pub(crate) mod right {
            $($(#[$doc])* pub(crate) enum $right {})*

            /// Rights that include others.
            pub(crate) trait Has<R> {}
            impl<R> Has<R> for R {}
            $($(impl Has<$less> for $right {})*)*
        }

        $(
            pub(crate) type $right<'v, 'a> = View<'v, 'a, right::$right>;

            impl<'a, R: Has<right::$right>> View<'_, 'a, R> {
                $(pub(crate) fn $method(&mut self) -> &mut Table<'a, $key, $value> {
                    &mut self.work.tables.$table
                })*
            }

            $(rights!(@$of $right $hands);)*
        )*
    };
    (@work $right:ident $hands:ident) => {
        impl<'a> Work<'a> {
            pub(crate) fn $hands(&mut self) -> $right<'_, 'a> { self.view() }
        }
    };
    (@test $right:ident $hands:ident) => { #[cfg(test)] rights!(@work $right $hands); };
    (@view $right:ident $hands:ident) => {
        impl<'a, R: Has<right::$right>> View<'_, 'a, R> {
            pub(crate) fn $hands(&mut self) -> $right<'_, 'a> { self.work.view() }
        }
    };
}

rights! {
    /// Purses, savings and effects.
    Money money(work view) [] {
        purses: purses Purse => i64,
        savings: savings AccountId => Savings,
    }
    /// The counts of records that come and go.
    Counts counts(test view) [] {
        scarce: scarce (Scarce, Option<Party>) => u64,
        holdings: holdings (AccountId, Holding) => u32,
    }
    /// Live orders, with money and counts.
    Book book(work view) [Money Counts] {
        orders: orders OrderId => Order,
        listed: book (ClassId, AccountId, OrderId) => (),
        sealed: sealed (AccountId, OrderId) => (),
        jobs: jobs (OfferId, OrderId) => (),
        waiting: waiting ClassId => u64,
        pools: pools (OfferId, AccountId) => OrderId,
    }
    /// The earnings of classes.
    Earned earned(view) [] {
        prices: prices ClassId => Prices,
    }
    /// Leases and pots, with the book and what classes earned.
    Floor floor(work view) [Money Counts Book Earned] {
        leases: leases LeaseId => Lease,
        serving: serving OfferId => u32,
        pots: pots Hash32 => Pot,
        heartbeats: heartbeats (AccountId, PublicKey) => (),
    }
    /// Offers, with counts.
    Shelf shelf(work view) [Counts] {
        offers: offers OfferId => Offer,
    }
    /// Contracts and their jobs, with money and counts.
    Pacts pacts(work view) [Money Counts] {
        contracts: contracts OrderId => Contract,
        parties: parties (AccountId, OrderId) => (),
        contract_jobs: contract_jobs (OrderId, OrderId) => ContractJob,
        due: due (u64, OrderId, Option<OrderId>) => (),
        tallies: tallies AccountId => Tally,
    }
    /// Earnings and complaints, with floor, shelf and contracts.
    Till till(work) [Money Counts Book Floor Earned Shelf Pacts] {
        retained: retained (OfferId, LeaseId, u64) => Retained,
        complaints: complaints AccountId => Complaints,
    }
    /// Sealed bids that were not opened, with the book.
    Seals seals(work) [Money Counts Book] {
        unopened: unopened OrderId => Unopened,
        auctioneers: auctioneers u64 => Vec<ValidatorId>,
    }
    /// The tax that runs and what is published, with money.
    Bank bank(work) [Money Earned] {
        sweeps: sweeps u64 => Sweep,
        epochs: epochs u64 => Epoch,
    }
    /// Accounts with their keys and invitations, with money.
    Register register(work) [Money] {
        accounts: accounts AccountId => Account,
        keys: keys PublicKey => AccountId,
        tokens: tokens (AccountId, PublicKey) => u64,
    }
    /// Validators' beacon chains.
    Beacons beacons(work) [] {
        beacons: beacons ValidatorId => Hash32,
        successors: successors ValidatorId => Successor,
    }
}

use right::Has;

impl<'a> Work<'a> {
    fn view<R>(&mut self) -> View<'_, 'a, R> {
        View {
            work: self,
            rights: PhantomData,
        }
    }
}

impl<R: Has<right::Money>> View<'_, '_, R> {
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.work.emit(effect);
    }
    /// Counts micro-credits of a payment.
    pub(crate) fn add_volume(&mut self, micros: u64) {
        self.work.volume = self.work.volume.saturating_add(micros);
    }
}

impl<R: Has<right::Book>> View<'_, '_, R> {
    /// The job of a contract that an order serves waits for another order.
    pub(crate) fn unserved(&mut self, serving: &Serving, order: &OrderId) {
        let jobs = &mut self.work.tables.contract_jobs;
        if let Some(job) = jobs.get_mut(&serving.key())
            && job.order == Some(*order)
        {
            job.order = None;
        }
    }
}

impl<R: Has<right::Pacts>> View<'_, '_, R> {
    /// An order serves a job.
    pub(crate) fn set_serving(&mut self, order: &OrderId, serving: Serving) {
        let order = self.work.tables.orders.get_mut(order);
        order.expect("the order was checked").serves = Some(serving);
    }
}
