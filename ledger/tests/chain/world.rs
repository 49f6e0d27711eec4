//! A small world for scenarios: keys, a genesis, a chain of two states that check each other.

use gridbay_ledger::{
    BlockRefusal, CheckedBlock, Completed, Delta, Draft, NamedBlock, Refusal, State,
};
use gridbay_protocol::account::{AccountKey, Roles, opened_by};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::block::Block;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::class::{Class, ClassKey};
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::*;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::record::reservation::hint::Hint;
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::Credits;
use gridbay_protocol::vote::{Certificate, CertificateSignature};
use gridbay_sample as sample;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}

pub(crate) fn credits(micros: u64) -> Credits {
    Credits::from_micros(micros).unwrap()
}

pub(crate) fn all_roles(key: &SecretKey) -> Vec<AccountKey> {
    vec![AccountKey {
        key: key.public(),
        roles: Roles::ALL,
    }]
}

fn small() -> Class {
    sample::class("small", 1, 1024, 10)
}

pub(crate) fn class_key() -> ClassKey {
    small().key
}

/// Rounds of 4 heights, slots of 2 rounds; 10 micro-credits as reference price. Acknowledgements
/// alone pay.
pub(crate) fn policy() -> Policy {
    Policy {
        calendar: Calendar {
            round_heights: 4,
            slot_rounds: 2,
        },
        max_firm_slots: 100,
        delivery_heights: 6,
        dispute_slots: 0,
        accounts_per_member: 3,
        ..Policy::local()
    }
}

/// Four members with 1,000,000 micro-credits each; the first has a credit line of 500, if the bank
/// allows it. All run validators.
pub(crate) fn genesis(policy: Policy) -> Genesis {
    let limit = policy.bank.credit_limit;
    let member = |n: u8| Member {
        credit_line: credits(if n == 1 { 500 } else { 0 }).min(limit),
        validator: Some(sample::validator(
            key(100 + n).public(),
            key(150 + n).public(),
            Chain::new(&[n; 32], 4_000).tip(),
        )),
        ..sample::member(&format!("member{n}"), key(n).public(), credits(1_000_000))
    };
    let members = (1..=4).map(member).collect();
    Genesis {
        policy,
        ..sample::genesis("test", vec![small()], members)
    }
}

/// Two states that must agree, and what the postings alone say about balances.
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) twin: State,
    pub(crate) network: NetworkId,
    pub(crate) class: ClassId,
    members: Vec<AccountId>,
    chains: Vec<Chain>,
    last: Option<Certificate>,
    /// The only one that proposes, 0 to 3; else all take turns.
    pub(crate) sole: Option<usize>,
    pub(crate) model: BTreeMap<Purse, i128>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) left_out: Vec<(EntryId, Refusal)>,
    nonce: u64,
}

impl World {
    pub(crate) fn new() -> World {
        World::with(policy())
    }

    pub(crate) fn with(policy: Policy) -> World {
        World::founded(genesis(policy))
    }

    pub(crate) fn founded(genesis: Genesis) -> World {
        let state = State::genesis(&genesis).unwrap();
        let mut model = BTreeMap::new();
        for member in &genesis.members {
            let purse = Purse::Account(genesis.account(member));
            model.insert(purse, i128::from(member.endowment.micros()));
        }
        World {
            twin: state.clone(),
            network: state.network(),
            class: class_key().id(),
            members: genesis.members.iter().map(|m| genesis.account(m)).collect(),
            chains: (1..=4).map(|n| Chain::new(&[n; 32], 4_000)).collect(),
            last: None,
            sole: None,
            model,
            effects: vec![],
            left_out: vec![],
            nonce: 0,
            state,
        }
    }

    /// Account of member n, 1 to 4, or of a tenant.
    pub(crate) fn member(&self, n: u8) -> AccountId {
        self.members[n as usize - 1]
    }

    /// An account that a member opens for somebody else; the number under which it acts.
    pub(crate) fn tenant(&mut self, sponsor: u8, endowment: u64) -> u8 {
        let n = self.members.len() as u8 + 1;
        let entry = self.by(
            sponsor,
            EntryBody::OpenAccount {
                grant: None,
                keys: all_roles(&key(n)),
                endowment: credits(endowment),
            },
        );
        self.members.push(opened_by(&entry.id()));
        self.all(vec![entry]);
        n
    }

    pub(crate) fn sign(
        &self,
        account: AccountId,
        key: &SecretKey,
        body: EntryBody,
    ) -> Arc<Authentic> {
        self.sign_until(account, key, body, self.state.height() + 50)
    }

    pub(crate) fn sign_until(
        &self,
        account: AccountId,
        key: &SecretKey,
        body: EntryBody,
        valid_until: u64,
    ) -> Arc<Authentic> {
        let entry = Entry {
            network: self.network,
            account,
            key: key.public(),
            valid_until,
            body,
        };
        authentic(&self.network, SignedEntry::new(entry, key))
    }

    /// An entry of member or tenant n.
    pub(crate) fn by(&self, n: u8, body: EntryBody) -> Arc<Authentic> {
        self.sign(self.member(n), &key(n), body)
    }

    /// The draft of validator 1 of the set.
    pub(crate) fn draft(&self, entries: Vec<Arc<Authentic>>) -> Draft {
        let turn = (self.state.height() % 4) as usize;
        let turn = self.sole.unwrap_or(turn);
        let proposer = gridbay_protocol::validator::validator_id(&key(101 + turn as u8).public());
        let tip = self.state.beacon_tip(&proposer).unwrap();
        Draft {
            proposer,
            time_ms: self.state.time_ms() + 250,
            reveal: self.chains[turn].clone().preimage(&tip).unwrap(),
            last_commit: self.last.clone(),
            evidence: vec![],
            entries,
            hints: vec![],
        }
    }

    /// One block: proposed by one state, decoded, checked and executed by the other.
    pub(crate) fn block(&mut self, entries: Vec<Arc<Authentic>>) -> Vec<Effect> {
        self.hinted_block(entries, vec![])
    }

    /// The same by a proposer that brings hints.
    pub(crate) fn hinted_block(
        &mut self,
        entries: Vec<Arc<Authentic>>,
        hints: Vec<Hint>,
    ) -> Vec<Effect> {
        let draft = Draft {
            hints,
            ..self.draft(entries)
        };
        let proposed = self.state.propose(draft);
        let bytes = proposed.block.block().encode();
        assert_eq!(proposed.block.bytes(), bytes.len());
        let block = Block::decode(&bytes).unwrap();
        let checked = CheckedBlock::check(&self.network, block, |_, _| None).unwrap();
        self.is_put_together(&checked);
        let delta = self.twin.execute(&checked).unwrap();
        assert_eq!(delta.effects(), proposed.delta.effects());
        assert_eq!(delta.state_root(), proposed.delta.state_root());
        self.left_out = proposed.left_out;
        self.adopt(proposed.delta, delta)
    }

    /// A block is the same when it is put together from its entries by their ids.
    fn is_put_together(&self, block: &CheckedBlock) {
        let entries = block.entries();
        let ids = entries.iter().map(|entry| entry.id()).collect();
        let named = NamedBlock::check(&self.network, block.without_entries(), ids).unwrap();
        let named = match named.complete(|_| None).unwrap() {
            Completed::Lacking(named) => named,
            Completed::Whole(whole) => return assert_eq!(whole.block(), block.block()),
        };
        let find = |id: &EntryId| entries.iter().find(|entry| entry.id() == *id).cloned();
        let Completed::Whole(whole) = named.complete(find).unwrap() else {
            panic!("all its entries are here");
        };
        assert_eq!(whole.block(), block.block());
        assert_eq!(whole.id(), block.id());
    }

    fn adopt(&mut self, mine: Delta, theirs: Delta) -> Vec<Effect> {
        let effects = mine.effects().to_vec();
        self.last = Some(self.certificate(mine.height(), mine.block_id()));
        self.state.commit(mine);
        self.twin.commit(theirs);
        assert_eq!(self.state.root(), self.twin.root());
        for effect in &effects {
            if let Effect::Posting(p) = effect {
                let amount = i128::from(p.amount.micros());
                *self.model.entry(p.from).or_default() -= amount;
                *self.model.entry(p.to).or_default() += amount;
            }
        }
        self.effects.extend(effects.iter().cloned());
        effects
    }

    pub(crate) fn certificate(&self, height: u64, block: BlockId) -> Certificate {
        let mut certificate = Certificate {
            height,
            round: 0,
            block,
            signatures: vec![],
        };
        for n in 101..=103 {
            let key = key(n);
            let validator = gridbay_protocol::validator::validator_id(&key.public());
            if self.state.validators().get(&validator).is_none() {
                continue;
            }
            let vote = codec::encode(&certificate.vote(validator));
            let signature = key.sign(Domain::Vote, &self.network, &vote);
            certificate.signatures.push(CertificateSignature {
                validator,
                signature,
            });
        }
        certificate.signatures.sort_by_key(|s| s.validator);
        certificate
    }

    /// A block whose entries must all be taken.
    pub(crate) fn all(&mut self, entries: Vec<Arc<Authentic>>) -> Vec<Effect> {
        let effects = self.block(entries);
        assert_eq!(self.left_out, vec![]);
        effects
    }

    /// A block whose only entry must be refused.
    pub(crate) fn refused(&mut self, entry: Arc<Authentic>) -> Refusal {
        let admitted = self.state.admit(&entry).map(|_| ());
        let effects = self.block(vec![entry]);
        let refusal = self.left_out.pop().expect("the entry was left out").1;
        assert_eq!(admitted, Err(refusal.clone()), "admission agrees");
        drop(effects);
        refusal
    }

    /// Empty blocks up to and including `height`; the effects of the last.
    pub(crate) fn until(&mut self, height: u64) -> Vec<Effect> {
        assert!(height > self.state.height());
        let mut effects = vec![];
        while self.state.height() < height {
            effects = self.block(vec![]);
        }
        effects
    }

    /// Whether a block with a changed header or body is refused, and why.
    pub(crate) fn tampered(
        &self,
        entries: Vec<Arc<Authentic>>,
        change: impl FnOnce(&mut Block),
    ) -> Result<(), BlockRefusal> {
        let proposed = self.state.propose(self.draft(entries));
        let mut block = proposed.block.block().clone();
        change(&mut block);
        let checked = CheckedBlock::check(&self.network, block, |_, _| None)?;
        self.twin.execute(&checked).map(|_| ())
    }

    pub(crate) fn balance(&self, purse: Purse) -> i128 {
        self.model.get(&purse).copied().unwrap_or(0)
    }

    /// A number that was not given before.
    pub(crate) fn fresh(&mut self) -> u64 {
        self.nonce += 1;
        self.nonce
    }
}

pub(crate) fn authentic(network: &NetworkId, signed: SignedEntry) -> Arc<Authentic> {
    let formed = WellFormed::check(network, signed).unwrap();
    Arc::new(formed.authenticate().unwrap())
}
