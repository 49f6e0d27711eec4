//! Queries for API and agents; nothing here changes the state. Ids that do not exist read as
//! nothing.

use crate::bank::figures;
use crate::bank::supply::{self, Supply};
use crate::market::{self, Held};
use crate::record::{
    Account, Chain, Contract, ContractJob, Epoch, Lease, Offer, Order, Pot, Prices, Retained,
    Sweep, Unopened,
};
use crate::state::State;
use gridbay_protocol::bank::Standing;
use gridbay_protocol::class::Class;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;

/// Where an account's money is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// In its purse, micro-credits; negative down to the credit line.
    pub free: i64,
    /// How far it may fall below zero.
    pub credit_line: Credits,
    /// Locked in the escrows of its orders, and of the contracts that it proposed.
    pub escrow: Credits,
    /// Staked in the bonds of the jobs by deadlines that it took, and of the contracts that it
    /// signed.
    pub bonds: Credits,
    /// Paid for the running slot and not yet settled.
    pub in_use: Credits,
    /// Tax that was due and found frozen: taken as money reaches the account.
    pub arrears: Credits,
    /// The earnings of its units at the next boundary if all of them run to the end and are
    /// acknowledged.
    pub expected: Credits,
    /// Earned, and held while buyers may complain.
    pub retained: Credits,
}

impl Balance {
    /// Locked in escrows and bonds.
    pub fn locked(&self) -> Credits {
        more(self.escrow, self.bonds)
    }
}

/// The user of an order's units: its account, or the client of the contract that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The account whose keys start tasks.
    pub account: AccountId,
    /// Salted hash of what may run.
    pub work: Hash32,
    /// The most tasks that the job may have. Under a contract: all jobs together, so that each
    /// knows its place.
    pub tasks: u32,
}

/// The units of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// For sale or sold.
    pub supply: u32,
    /// Held by preemptible leases.
    pub preemptible: u32,
    /// Held by firm leases.
    pub firm: u32,
}

impl Occupancy {
    /// Units nobody holds.
    pub fn free(&self) -> u32 {
        let held = self.preemptible + self.firm;
        self.supply.saturating_sub(held)
    }
}

/// Sums over the whole ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Money ever minted.
    pub minted: Credits,
    /// In the treasury.
    pub bank: Credits,
    /// In escrows.
    pub escrow: Credits,
    /// Paid for running slots.
    pub in_use: Credits,
    /// Staked by sellers.
    pub bonds: Credits,
    /// Accounts.
    pub accounts: usize,
    /// Live orders.
    pub orders: usize,
    /// Running leases.
    pub leases: usize,
    /// Offers.
    pub offers: usize,
    /// Earned and held while buyers may complain.
    pub retained: Credits,
}

impl State {
    /// Where the chain stands.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }
    /// A class by id.
    pub fn class(&self, id: &ClassId) -> Option<&Class> {
        let index = *self.constitution.by_id.get(id)?;
        self.constitution.classes.get(index)
    }
    /// A class by name.
    pub fn class_named(&self, name: &str) -> Option<&Class> {
        self.constitution.classes.iter().find(|c| c.name == name)
    }
    /// Name of a founding member.
    pub fn member_name(&self, account: &AccountId) -> Option<&str> {
        let founder = self.constitution.members.get(account);
        founder.map(|founder| founder.name.as_str())
    }
    /// Founding members with their names, in the order of their accounts.
    pub fn members(&self) -> impl Iterator<Item = (&AccountId, &str)> {
        let members = self.constitution.members.iter();
        members.map(|(account, founder)| (account, founder.name.as_str()))
    }
    /// The account of the founding member with a name, if exactly one has it.
    pub fn member_named(&self, name: &str) -> Option<AccountId> {
        let members = self.constitution.members.iter();
        let mut named = members.filter(|(_, founder)| founder.name == name);
        match (named.next(), named.next()) {
            (Some((account, _)), None) => Some(*account),
            _ => None,
        }
    }
    /// An account.
    pub fn account(&self, id: &AccountId) -> Option<&Account> {
        self.records.accounts.get(id)
    }
    /// The account that lists a key.
    pub fn account_of(&self, key: &PublicKey) -> Option<AccountId> {
        self.records.keys.get(key).copied()
    }
    /// All accounts, ascending.
    pub fn accounts(&self) -> impl Iterator<Item = (&AccountId, &Account)> {
        self.records.accounts.iter()
    }
    /// The balance of a purse, micro-credits.
    pub fn purse(&self, purse: &Purse) -> i64 {
        self.records.purses.get(purse).copied().unwrap_or(0)
    }
    /// Where an account's money is.
    pub fn balance(&self, id: &AccountId) -> Balance {
        let Some(account) = self.account(id) else {
            return Balance::default();
        };
        let mut balance = Balance {
            free: self.purse(&Purse::Account(*id)),
            credit_line: account.credit_line,
            arrears: self.arrears(id),
            retained: self.held(&Purse::Retained(*id)),
            ..Balance::default()
        };
        let unopened = self.records.unopened.iter();
        let unopened = unopened.filter(|(_, order)| order.account == *id);
        let locked = self.orders_of(id).map(|(order, _)| order);
        for order in locked.chain(unopened.map(|(order, _)| order)) {
            balance.escrow = more(balance.escrow, self.escrow(order));
        }
        for (contract, found) in self.contracts_of(id) {
            match found.client == *id {
                true => balance.escrow = more(balance.escrow, self.escrow(contract)),
                false => balance.bonds = more(balance.bonds, self.bond(contract)),
            }
        }
        for (offer, _) in self.offers_of(id) {
            let (first, last) = (OrderId([0; 32]), OrderId([255; 32]));
            for ((_, job), ()) in self.records.jobs.range((*offer, first)..=(*offer, last)) {
                balance.bonds = more(balance.bonds, self.bond(job));
            }
        }
        for pot in self.records.pots.values() {
            let stakes = pot.stakes.iter().filter(|s| s.account == *id);
            let sold = pot.sold.iter().filter(|s| s.seller == *id);
            balance.in_use = stakes.fold(balance.in_use, |sum, s| more(sum, s.running));
            balance.expected = sold.fold(balance.expected, |sum, s| more(sum, s.earns));
        }
        balance
    }
    /// Tax that an account owes on money that was frozen when it was due.
    pub fn arrears(&self, id: &AccountId) -> Credits {
        let savings = self.records.savings.get(id);
        let micros = savings.map_or(0, |savings| savings.arrears);
        Credits::from_micros(micros).unwrap_or(Credits::MAX)
    }
    /// A founding member's dues by the bank's policy; nothing for all other accounts.
    pub fn standing(&self, id: &AccountId) -> Standing {
        self.constitution.standing(id)
    }
    /// The money locked for an order, or for a contract by its client.
    pub fn escrow(&self, order: &OrderId) -> Credits {
        self.held(&Purse::Escrow(*order))
    }
    /// The provider's stake on a contract.
    pub fn bond(&self, contract: &OrderId) -> Credits {
        self.held(&Purse::Bond(*contract))
    }
    /// The balance of a purse that is never negative.
    fn held(&self, purse: &Purse) -> Credits {
        let micros = u64::try_from(self.purse(purse)).unwrap_or(0);
        Credits::from_micros(micros).unwrap_or(Credits::MAX)
    }
    /// A live contract.
    pub fn contract(&self, id: &OrderId) -> Option<&Contract> {
        self.records.contracts.get(id)
    }
    /// All live contracts, ascending.
    pub fn contracts(&self) -> impl Iterator<Item = (&OrderId, &Contract)> {
        self.records.contracts.iter()
    }
    /// Live contracts of an account as client or provider, ascending.
    pub fn contracts_of(&self, party: &AccountId) -> impl Iterator<Item = (&OrderId, &Contract)> {
        let (first, last) = (OrderId([0; 32]), OrderId([255; 32]));
        let range = self.records.parties.range((*party, first)..=(*party, last));
        range.filter_map(|((_, id), ())| self.records.contracts.get_key_value(id))
    }
    /// A requested job of a contract that is not decided.
    pub fn contract_job(&self, contract: &OrderId, job: &OrderId) -> Option<&ContractJob> {
        self.records.contract_jobs.get(&(*contract, *job))
    }
    /// Requested jobs of a contract that are not decided, ascending.
    pub fn contract_jobs(
        &self,
        contract: &OrderId,
    ) -> impl Iterator<Item = (&OrderId, &ContractJob)> {
        let (first, last) = (OrderId([0; 32]), OrderId([255; 32]));
        let jobs = &self.records.contract_jobs;
        let range = jobs.range((*contract, first)..=(*contract, last));
        range.map(|((_, id), job)| (id, job))
    }
    /// The user of an order's units, and the work; `None` while nobody can use them.
    pub fn user(&self, order: &OrderId) -> Option<User> {
        let order = self.order(order)?;
        let Some(serving) = &order.serves else {
            return Some(User {
                account: order.account,
                work: order.work()?,
                tasks: order.tasks(),
            });
        };
        let contract = self.contract(&serving.contract)?;
        let job = self.contract_job(&serving.contract, &serving.job)?;
        Some(User {
            account: contract.client,
            work: job.work,
            tasks: contract.terms.jobs.saturating_mul(contract.terms.job.units),
        })
    }
    /// A live order.
    pub fn order(&self, id: &OrderId) -> Option<&Order> {
        self.records.orders.get(id)
    }
    /// All live orders, ascending.
    pub fn orders(&self) -> impl Iterator<Item = (&OrderId, &Order)> {
        self.records.orders.iter()
    }
    /// Live orders of an account, ascending.
    pub fn orders_of(&self, account: &AccountId) -> impl Iterator<Item = (&OrderId, &Order)> {
        let account = *account;
        self.orders().filter(move |(_, o)| o.account == account)
    }
    /// A bid that was not opened and waits for an appeal.
    pub fn unopened(&self, id: &OrderId) -> Option<&Unopened> {
        self.records.unopened.get(id)
    }
    /// An offer.
    pub fn offer(&self, id: &OfferId) -> Option<&Offer> {
        self.records.offers.get(id)
    }
    /// All offers, ascending.
    pub fn offers(&self) -> impl Iterator<Item = (&OfferId, &Offer)> {
        self.records.offers.iter()
    }
    /// Offers of a seller, ascending.
    pub fn offers_of(&self, seller: &AccountId) -> impl Iterator<Item = (&OfferId, &Offer)> {
        let seller = *seller;
        self.offers().filter(move |(_, o)| o.seller == seller)
    }
    /// How an offer's units are taken.
    pub fn occupancy(&self, id: &OfferId) -> Occupancy {
        let Some(offer) = self.offer(id) else {
            return Occupancy::default();
        };
        let mut occupancy = Occupancy {
            supply: offer.supply(),
            ..Occupancy::default()
        };
        for (_, lease) in self.leases() {
            let units = lease.units_of(id);
            if lease.is_firm() {
                occupancy.firm += units;
            } else {
                occupancy.preemptible += units;
            }
        }
        occupancy
    }
    /// A running lease.
    pub fn lease(&self, id: &LeaseId) -> Option<&Lease> {
        self.records.leases.get(id)
    }
    /// The earnings of a lease at an offer that its buyer may still dispute, by slot, ascending.
    pub fn retained(
        &self,
        offer: &OfferId,
        lease: &LeaseId,
    ) -> impl Iterator<Item = (u64, &Retained)> {
        let range = (*offer, *lease, 0)..=(*offer, *lease, u64::MAX);
        let held = self.records.retained.range(range);
        held.map(|((_, _, slot), retained)| (*slot, retained))
    }
    /// Whether a seller's node gave a sign of life in the slot of the last block. At a boundary the
    /// next slot has begun.
    pub fn has_beaten(&self, seller: &AccountId, node: &PublicKey) -> bool {
        self.records.heartbeats.contains_key(&(*seller, *node))
    }
    /// All running leases, ascending.
    pub fn leases(&self) -> impl Iterator<Item = (&LeaseId, &Lease)> {
        self.records.leases.iter()
    }
    /// Running leases of a buyer, ascending.
    pub fn leases_of(&self, buyer: &AccountId) -> impl Iterator<Item = (&LeaseId, &Lease)> {
        let buyer = *buyer;
        self.leases().filter(move |(_, l)| l.account == buyer)
    }
    /// Running leases with units at a node, ascending: the node has to serve them.
    pub fn leases_at(&self, node: &PublicKey) -> impl Iterator<Item = (&LeaseId, &Lease)> {
        let node = *node;
        let here = move |offer: &OfferId| self.offer(offer).is_some_and(|o| o.terms.node == node);
        self.leases()
            .filter(move |(_, lease)| lease.shares.iter().any(|s| here(&s.offer)))
    }
    /// Money paid for running slots, by pot.
    pub fn pots(&self) -> impl Iterator<Item = &Pot> {
        self.records.pots.values()
    }
    /// Units of a class: for sale, and free now.
    pub fn supply(&self, class: &ClassId) -> (u32, u32) {
        let held = market::held_by(self.records.leases.values());
        let offers = self.offers().filter(|(_, o)| o.terms.class == *class);
        offers.fold((0, 0), |(supply, free), (id, offer)| {
            let taken = held.get(id).copied().unwrap_or(Held::default()).all();
            let units = offer.supply();
            (supply + units, free + units.saturating_sub(taken))
        })
    }
    /// How much money there is now; `None` never, unless the books are broken.
    pub fn supply_of_money(&self) -> Option<Supply> {
        let balances = self.records.purses.iter();
        let balances = balances.filter(|(purse, _)| **purse != Purse::Bank);
        let treasury = u64::try_from(self.purse(&Purse::Bank)).ok()?;
        supply::supply(balances.map(|(_, balance)| *balance), treasury)
    }
    /// Payments and supply of the last epochs, ascending; the running one has no supply, and no
    /// record before its first payment.
    pub fn epochs(&self) -> impl Iterator<Item = (u64, &Epoch)> {
        self.records.epochs.iter().map(|(n, epoch)| (*n, epoch))
    }
    /// Payments over mean supply in the epochs kept that have ended, in millionths; `None` if none
    /// has.
    pub fn velocity(&self) -> Option<u64> {
        supply::velocity(&figures::window(&self.records.epochs))
    }
    /// Prices of a class; `None` before its first sale.
    pub fn prices(&self, class: &ClassId) -> Option<&Prices> {
        self.records.prices.get(class)
    }
    /// Whether a tax is being taken, with the height at which it began and the last account that
    /// had its turn.
    pub fn sweep(&self) -> Option<(u64, Sweep)> {
        let (began, sweep) = self.records.sweeps.first_key_value()?;
        Some((*began, *sweep))
    }
    /// Sums over the whole ledger.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            minted: self.chain.minted,
            accounts: self.records.accounts.len(),
            orders: self.records.orders.len(),
            leases: self.records.leases.len(),
            offers: self.records.offers.len(),
            ..Totals::default()
        };
        for (purse, balance) in &self.records.purses {
            let micros = u64::try_from(*balance).unwrap_or(0);
            let amount = Credits::from_micros(micros).unwrap_or(Credits::MAX);
            match purse {
                Purse::Account(_) => {}
                Purse::Escrow(_) => totals.escrow = more(totals.escrow, amount),
                Purse::Class(_) => totals.in_use = more(totals.in_use, amount),
                Purse::Bond(_) => totals.bonds = more(totals.bonds, amount),
                Purse::Bank => totals.bank = amount,
                Purse::Retained(_) => totals.retained = more(totals.retained, amount),
            }
        }
        totals
    }
}

fn more(sum: Credits, amount: Credits) -> Credits {
    sum.checked_add(amount).unwrap_or(Credits::MAX)
}
