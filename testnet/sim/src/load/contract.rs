//! Contracts: clients that hand a batch of jobs to a provider, providers that keep their word and
//! others that do not, and entries that nobody may send.
//!
//! Nodes propose to any node. Those that provide ([`crate::found::provider`]) sign what suits them
//! and rent units on the market; to the others a proposal lapses. Accounts without a node do all of
//! it by hand: they sign and then serve a job with whatever order they have, or not at all, so that
//! jobs fail and penalties fall due.

use super::buyer::micros;
use super::desk::Desk;
use super::key::Key;
use crate::world::World;
use gridbay_core::buy::{ContractWish, Terms};
use gridbay_core::input::Command;
use gridbay_ledger::Contract;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{ContractEntry, ContractTerms, JobTerms};

/// Alphas in parts per million.
const ALPHAS: [u32; 4] = [500_000, 1_000_000, 1_000_000, 1_250_000];
/// Betas in sixteenths.
const BETAS: [u32; 6] = [0, 4, 13, 16, 32, 77];

type Word = fn(&mut Desk<'_>) -> Option<SignedEntry>;

/// Entries by hand, right or wrong.
const WORDS: [Word; 8] = [
    proposal, signature, signature, request, request, service, completion, closing,
];
/// Entries that are always wrong.
const WRONG: [Word; 6] = [
    to_oneself,
    to_nobody,
    long_ago,
    signed_twice,
    by_a_stranger,
    no_such_job,
];

impl World {
    /// A node hands a batch of jobs to another one.
    pub(crate) fn propose(&mut self, node: usize) {
        let classes = self.classes();
        let class = self.load.class(&classes);
        let to = self.load.rng.index(self.plan.nodes());
        let provider = self.core(to).and_then(|core| core.account());
        let Some(provider) = provider.filter(|_| to != node) else {
            return;
        };
        let job = self.load.job_terms();
        let rng = &mut self.load.rng;
        let jobs = rng.range(1, 5) as u32;
        let wish = ContractWish {
            provider,
            job,
            alpha_ppm: ALPHAS[rng.index(ALPHAS.len())],
            beta16: BETAS[rng.index(BETAS.len())],
            window: rng.range(1, 5) as u32,
            patience: rng.range(8, 40),
        };
        let terms = Terms::Contract(wish);
        self.order(node, "batch of jobs", class, jobs, job.slots, terms);
    }
    /// An entry about a contract by a client without a node, or by an owner in place of its node.
    pub(crate) fn contract_by_hand(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let rng = &mut self.load.rng;
        let (word, what): (Word, _) = match rng.below(5) {
            0 => (WRONG[rng.index(WRONG.len())], "wrong word of a contract"),
            _ => (WORDS[rng.index(WORDS.len())], "word of a contract"),
        };
        if rng.chance(200_000) {
            return self.close_own();
        }
        if self.write(to, word) {
            self.cover.deed(what);
        }
    }
    /// A client whose node takes no more jobs to its provider.
    fn close_own(&mut self) {
        let node = self.load.rng.index(self.plan.nodes());
        let own = self.core(node).and_then(|core| {
            let account = core.account()?;
            let mut contracts = core.state().contracts_of(&account);
            let own = contracts.find(|(_, c)| c.client == account);
            own.map(|(id, _)| *id)
        });
        if let Some(contract) = own {
            let word = ContractEntry::Close { contract };
            self.command(node, "contract closed", Command::Contract(word));
        }
    }
}

impl super::Load {
    /// A job that some node could serve: short, its value mostly above what units cost.
    fn job_terms(&mut self) -> JobTerms {
        let rng = &mut self.rng;
        let slots = rng.range(1, 3) as u32;
        JobTerms {
            units: 1,
            slots,
            value: micros(rng.range(100, 2_000)),
            hold: slots + rng.range(0, 3) as u32,
            decay: rng.range(1, 4) as u32,
            penalty: micros(rng.range(0, 400)),
        }
    }
}

impl Desk<'_> {
    fn terms(&mut self, provider: AccountId) -> ContractTerms {
        let now = self.state.calendar().slot(self.state.height() + 1);
        let class: ClassId = self.load.class(self.classes);
        let job = self.load.job_terms();
        let rng = &mut self.load.rng;
        ContractTerms {
            provider,
            class,
            first: now + rng.below(2),
            last: now + rng.range(1, 4),
            jobs: rng.range(1, 4) as u32,
            job: JobTerms {
                units: rng.range(1, 2) as u32,
                ..job
            },
            alpha_ppm: ALPHAS[rng.index(ALPHAS.len())],
            beta16: BETAS[rng.index(BETAS.len())],
            stands_until: self.state.height() + rng.range(4, 40),
        }
    }
    fn say(&mut self, account: AccountId, key: &Key, word: ContractEntry) -> SignedEntry {
        self.sign(account, key, EntryBody::Contract(word))
    }
    /// A contract of such a kind.
    fn contract(&mut self, wanted: impl Fn(&Contract) -> bool) -> Option<(OrderId, Contract)> {
        let contracts: Vec<_> = self.state.contracts().filter(|(_, c)| wanted(c)).collect();
        let (id, contract) = self.load.rng.pick(&contracts).copied()?;
        Some((*id, contract.clone()))
    }
    fn say_as(&mut self, account: AccountId, word: ContractEntry) -> Option<SignedEntry> {
        let key = self.key_of(&account)?;
        Some(self.say(account, &key, word))
    }
    /// An open job of a contract.
    fn job_of(&mut self, contract: &OrderId) -> Option<OrderId> {
        let jobs: Vec<OrderId> = self
            .state
            .contract_jobs(contract)
            .map(|(id, _)| *id)
            .collect();
        self.load.rng.pick(&jobs).copied()
    }
}

/// By anybody, to anybody.
fn proposal(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = desk.owner()?;
    let (provider, _) = desk.owner()?;
    let terms = desk.terms(provider);
    Some(desk.say(account, &key, ContractEntry::Propose(Box::new(terms))))
}

fn signature(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|c| c.progress.is_none())?;
    desk.say_as(found.terms.provider, ContractEntry::Sign { contract })
}

/// Sometimes before the signature, outside the window or beyond the number.
fn request(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|_| true)?;
    let work = Hash32(desk.load.rng.bytes32());
    desk.say_as(found.client, ContractEntry::Request { contract, work })
}

/// With any order of the provider's, suitable or not.
fn service(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|c| c.progress.is_some())?;
    let job = desk.job_of(&contract)?;
    let provider = found.terms.provider;
    let own = desk.state.orders().filter(|(_, o)| o.account == provider);
    let own: Vec<OrderId> = own.map(|(id, _)| *id).collect();
    let order = desk.load.rng.pick(&own).copied()?;
    let word = ContractEntry::Serve {
        contract,
        job,
        order,
    };
    desk.say_as(provider, word)
}

fn completion(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|c| c.progress.is_some())?;
    let job = desk.job_of(&contract)?;
    desk.say_as(found.client, ContractEntry::Complete { contract, job })
}

fn closing(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|_| true)?;
    desk.say_as(found.client, ContractEntry::Close { contract })
}

fn to_oneself(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = desk.owner()?;
    let terms = desk.terms(account);
    Some(desk.say(account, &key, ContractEntry::Propose(Box::new(terms))))
}

fn to_nobody(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = desk.owner()?;
    let nobody = AccountId(desk.load.rng.bytes32());
    let terms = desk.terms(nobody);
    Some(desk.say(account, &key, ContractEntry::Propose(Box::new(terms))))
}

/// A window that is over, or one too far ahead.
fn long_ago(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = desk.owner()?;
    let (provider, _) = desk.owner()?;
    let mut terms = desk.terms(provider);
    (terms.first, terms.last) = match desk.load.rng.chance(500_000) {
        true => (0, 0),
        false => {
            let far = terms.last + 2 * u64::from(limits::ORDER_SLOTS);
            (far, far)
        }
    };
    Some(desk.say(account, &key, ContractEntry::Propose(Box::new(terms))))
}

fn signed_twice(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|c| c.progress.is_some())?;
    desk.say_as(found.terms.provider, ContractEntry::Sign { contract })
}

/// By neither party, or by the client in the provider's place.
fn by_a_stranger(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|_| true)?;
    let (account, key) = desk.owner()?;
    let right = account == found.terms.provider;
    (!right).then(|| desk.say(account, &key, ContractEntry::Sign { contract }))
}

fn no_such_job(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (contract, found) = desk.contract(|c| c.progress.is_some())?;
    let job = OrderId(desk.load.rng.bytes32());
    desk.say_as(found.client, ContractEntry::Complete { contract, job })
}
