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

/// Rights, by what they are for.
pub(crate) mod right {
    /// Purses, savings and effects.
    pub(crate) enum Money {}
    /// The counts of records that come and go.
    pub(crate) enum Counts {}
    /// Live orders, with money and counts.
    pub(crate) enum Book {}
    /// The earnings of classes.
    pub(crate) enum Earned {}
    /// Leases and pots, with the book and what classes earned.
    pub(crate) enum Floor {}
    /// Offers, with counts.
    pub(crate) enum Shelf {}
    /// Contracts and their jobs, with money and counts.
    pub(crate) enum Pacts {}
    /// Earnings and complaints, with floor, shelf and contracts.
    pub(crate) enum Till {}
    /// Sealed bids that were not opened, with the book.
    pub(crate) enum Seals {}
    /// The tax that runs and what is published, with money.
    pub(crate) enum Bank {}
    /// Accounts with their keys and invitations, with money.
    pub(crate) enum Register {}
    /// Validators' beacon chains.
    pub(crate) enum Beacons {}

    /// Rights that include others.
    pub(crate) trait Has<R> {}
    impl<R> Has<R> for R {}
    impl Has<Money> for Book {}
    impl Has<Counts> for Book {}
    impl Has<Money> for Floor {}
    impl Has<Counts> for Floor {}
    impl Has<Book> for Floor {}
    impl Has<Earned> for Floor {}
    impl Has<Counts> for Shelf {}
    impl Has<Money> for Pacts {}
    impl Has<Counts> for Pacts {}
    impl Has<Money> for Till {}
    impl Has<Counts> for Till {}
    impl Has<Book> for Till {}
    impl Has<Floor> for Till {}
    impl Has<Earned> for Till {}
    impl Has<Shelf> for Till {}
    impl Has<Pacts> for Till {}
    impl Has<Money> for Seals {}
    impl Has<Counts> for Seals {}
    impl Has<Book> for Seals {}
    impl Has<Money> for Bank {}
    impl Has<Earned> for Bank {}
    impl Has<Money> for Register {}
}

use right::Has;

pub(crate) type Money<'v, 'a> = View<'v, 'a, right::Money>;
pub(crate) type Counts<'v, 'a> = View<'v, 'a, right::Counts>;
pub(crate) type Book<'v, 'a> = View<'v, 'a, right::Book>;
pub(crate) type Earned<'v, 'a> = View<'v, 'a, right::Earned>;
pub(crate) type Floor<'v, 'a> = View<'v, 'a, right::Floor>;
pub(crate) type Shelf<'v, 'a> = View<'v, 'a, right::Shelf>;
pub(crate) type Pacts<'v, 'a> = View<'v, 'a, right::Pacts>;
pub(crate) type Till<'v, 'a> = View<'v, 'a, right::Till>;
pub(crate) type Seals<'v, 'a> = View<'v, 'a, right::Seals>;
pub(crate) type Bank<'v, 'a> = View<'v, 'a, right::Bank>;
pub(crate) type Register<'v, 'a> = View<'v, 'a, right::Register>;
pub(crate) type Beacons<'v, 'a> = View<'v, 'a, right::Beacons>;

impl<'a> Work<'a> {
    fn view<R>(&mut self) -> View<'_, 'a, R> {
        View {
            work: self,
            rights: PhantomData,
        }
    }
    pub(crate) fn money(&mut self) -> Money<'_, 'a> {
        self.view()
    }
    #[cfg(test)]
    pub(crate) fn counts(&mut self) -> Counts<'_, 'a> {
        self.view()
    }
    pub(crate) fn book(&mut self) -> Book<'_, 'a> {
        self.view()
    }
    pub(crate) fn floor(&mut self) -> Floor<'_, 'a> {
        self.view()
    }
    pub(crate) fn shelf(&mut self) -> Shelf<'_, 'a> {
        self.view()
    }
    pub(crate) fn pacts(&mut self) -> Pacts<'_, 'a> {
        self.view()
    }
    pub(crate) fn till(&mut self) -> Till<'_, 'a> {
        self.view()
    }
    pub(crate) fn seals(&mut self) -> Seals<'_, 'a> {
        self.view()
    }
    pub(crate) fn bank(&mut self) -> Bank<'_, 'a> {
        self.view()
    }
    pub(crate) fn register(&mut self) -> Register<'_, 'a> {
        self.view()
    }
    pub(crate) fn beacons(&mut self) -> Beacons<'_, 'a> {
        self.view()
    }
}

impl<'a, R: Has<right::Money>> View<'_, 'a, R> {
    pub(crate) fn money(&mut self) -> Money<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn purses(&mut self) -> &mut Table<'a, Purse, i64> {
        &mut self.work.tables.purses
    }
    pub(crate) fn savings(&mut self) -> &mut Table<'a, AccountId, Savings> {
        &mut self.work.tables.savings
    }
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.work.emit(effect);
    }
    /// Counts micro-credits of a payment.
    pub(crate) fn add_volume(&mut self, micros: u64) {
        self.work.volume = self.work.volume.saturating_add(micros);
    }
}

impl<'a, R: Has<right::Counts>> View<'_, 'a, R> {
    pub(crate) fn counts(&mut self) -> Counts<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn scarce(&mut self) -> &mut Table<'a, (Scarce, Option<Party>), u64> {
        &mut self.work.tables.scarce
    }
    pub(crate) fn holdings(&mut self) -> &mut Table<'a, (AccountId, Holding), u32> {
        &mut self.work.tables.holdings
    }
}

impl<'a, R: Has<right::Book>> View<'_, 'a, R> {
    pub(crate) fn book(&mut self) -> Book<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn orders(&mut self) -> &mut Table<'a, OrderId, Order> {
        &mut self.work.tables.orders
    }
    pub(crate) fn listed(&mut self) -> &mut Table<'a, (ClassId, AccountId, OrderId), ()> {
        &mut self.work.tables.book
    }
    pub(crate) fn sealed(&mut self) -> &mut Table<'a, (AccountId, OrderId), ()> {
        &mut self.work.tables.sealed
    }
    pub(crate) fn jobs(&mut self) -> &mut Table<'a, (OfferId, OrderId), ()> {
        &mut self.work.tables.jobs
    }
    pub(crate) fn waiting(&mut self) -> &mut Table<'a, ClassId, u64> {
        &mut self.work.tables.waiting
    }
    pub(crate) fn pools(&mut self) -> &mut Table<'a, (OfferId, AccountId), OrderId> {
        &mut self.work.tables.pools
    }
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

impl<'a, R: Has<right::Floor>> View<'_, 'a, R> {
    pub(crate) fn floor(&mut self) -> Floor<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn leases(&mut self) -> &mut Table<'a, LeaseId, Lease> {
        &mut self.work.tables.leases
    }
    pub(crate) fn serving(&mut self) -> &mut Table<'a, OfferId, u32> {
        &mut self.work.tables.serving
    }
    pub(crate) fn pots(&mut self) -> &mut Table<'a, Hash32, Pot> {
        &mut self.work.tables.pots
    }
    pub(crate) fn heartbeats(&mut self) -> &mut Table<'a, (AccountId, PublicKey), ()> {
        &mut self.work.tables.heartbeats
    }
}

impl<'a, R: Has<right::Shelf>> View<'_, 'a, R> {
    pub(crate) fn shelf(&mut self) -> Shelf<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn offers(&mut self) -> &mut Table<'a, OfferId, Offer> {
        &mut self.work.tables.offers
    }
}

impl<'a, R: Has<right::Pacts>> View<'_, 'a, R> {
    pub(crate) fn pacts(&mut self) -> Pacts<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn contracts(&mut self) -> &mut Table<'a, OrderId, Contract> {
        &mut self.work.tables.contracts
    }
    pub(crate) fn parties(&mut self) -> &mut Table<'a, (AccountId, OrderId), ()> {
        &mut self.work.tables.parties
    }
    pub(crate) fn contract_jobs(&mut self) -> &mut Table<'a, (OrderId, OrderId), ContractJob> {
        &mut self.work.tables.contract_jobs
    }
    pub(crate) fn due(&mut self) -> &mut Table<'a, (u64, OrderId, Option<OrderId>), ()> {
        &mut self.work.tables.due
    }
    pub(crate) fn tallies(&mut self) -> &mut Table<'a, AccountId, Tally> {
        &mut self.work.tables.tallies
    }
    /// An order serves a job.
    pub(crate) fn set_serving(&mut self, order: &OrderId, serving: Serving) {
        let order = self.work.tables.orders.get_mut(order);
        order.expect("the order was checked").serves = Some(serving);
    }
}

impl<'a, R: Has<right::Till>> View<'_, 'a, R> {
    pub(crate) fn retained(&mut self) -> &mut Table<'a, (OfferId, LeaseId, u64), Retained> {
        &mut self.work.tables.retained
    }
    pub(crate) fn complaints(&mut self) -> &mut Table<'a, AccountId, Complaints> {
        &mut self.work.tables.complaints
    }
}

impl<'a, R: Has<right::Seals>> View<'_, 'a, R> {
    pub(crate) fn unopened(&mut self) -> &mut Table<'a, OrderId, Unopened> {
        &mut self.work.tables.unopened
    }
    pub(crate) fn auctioneers(&mut self) -> &mut Table<'a, u64, Vec<ValidatorId>> {
        &mut self.work.tables.auctioneers
    }
}

impl<'a, R: Has<right::Bank>> View<'_, 'a, R> {
    pub(crate) fn sweeps(&mut self) -> &mut Table<'a, u64, Sweep> {
        &mut self.work.tables.sweeps
    }
    pub(crate) fn epochs(&mut self) -> &mut Table<'a, u64, Epoch> {
        &mut self.work.tables.epochs
    }
}

impl<'a, R: Has<right::Register>> View<'_, 'a, R> {
    pub(crate) fn accounts(&mut self) -> &mut Table<'a, AccountId, Account> {
        &mut self.work.tables.accounts
    }
    pub(crate) fn keys(&mut self) -> &mut Table<'a, PublicKey, AccountId> {
        &mut self.work.tables.keys
    }
    pub(crate) fn tokens(&mut self) -> &mut Table<'a, (AccountId, PublicKey), u64> {
        &mut self.work.tables.tokens
    }
}

impl<'a, R: Has<right::Beacons>> View<'_, 'a, R> {
    pub(crate) fn beacons(&mut self) -> &mut Table<'a, ValidatorId, Hash32> {
        &mut self.work.tables.beacons
    }
    pub(crate) fn successors(&mut self) -> &mut Table<'a, ValidatorId, Successor> {
        &mut self.work.tables.successors
    }
}

impl<'a, R: Has<right::Earned>> View<'_, 'a, R> {
    pub(crate) fn earned(&mut self) -> Earned<'_, 'a> {
        self.work.view()
    }
    pub(crate) fn prices(&mut self) -> &mut Table<'a, ClassId, Prices> {
        &mut self.work.tables.prices
    }
}
