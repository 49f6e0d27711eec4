//! The committed state: all records, their tree, and where the chain stands.

use crate::delta::Delta;
use crate::log::Frontier;
use crate::record::{Account, CHAIN, Chain, Closed, Records, Spent, Successor};
use crate::roots;
use crate::tree::{Proof, Tree};
use gridbay_protocol::bank::Standing;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::class::Class;
use gridbay_protocol::genesis::{Genesis, GenesisError, Member, Policy};
use gridbay_protocol::ids::{AccountId, BlockId, ClassId, Hash32, NetworkId, ValidatorId};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;
use gridbay_protocol::validator::ValidatorSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts that never change.
#[derive(Debug)]
pub(crate) struct Constitution {
    pub(crate) network: NetworkId,
    pub(crate) policy: Policy,
    pub(crate) classes: Vec<Class>,
    pub(crate) by_id: BTreeMap<ClassId, usize>,
    pub(crate) validators: ValidatorSet,
    pub(crate) members: BTreeMap<AccountId, Founder>,
}

/// A founding member.
#[derive(Debug)]
pub(crate) struct Founder {
    pub(crate) name: String,
    pub(crate) standing: Standing,
}

impl Constitution {
    /// The dues of an account by the bank's policy; nothing for all but members.
    pub(crate) fn standing(&self, account: &AccountId) -> Standing {
        let member = self.members.get(account);
        member.map(|m| m.standing).unwrap_or_default()
    }
}

/// Everything that the blocks so far have made true. Cloning costs time and memory in proportion to
/// the records.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) constitution: Arc<Constitution>,
    pub(crate) chain: Chain,
    pub(crate) tip: BlockId,
    pub(crate) blocks: Frontier,
    pub(crate) records: Records,
    pub(crate) tree: Tree,
}

impl State {
    /// The state of height 0: members with their endowments, nothing else.
    ///
    /// # Errors
    /// A genesis that fails its own check.
    pub fn genesis(genesis: &Genesis) -> Result<State, GenesisError> {
        genesis.check()?;
        let validators = genesis
            .validators()
            .ok_or_else(|| GenesisError::Invalid("list of validators".into()))?;
        let mut records = Records::default();
        let mut members = BTreeMap::new();
        let mut minted = Credits::ZERO;
        // With all money and all credit in one purse its balance would still be in range, so that
        // no later sum can overflow.
        let lines = genesis.members.iter().map(|m| m.credit_line);
        let endowments = genesis.members.iter().map(|m| m.endowment);
        if Credits::sum(lines.chain(endowments)).is_none() {
            return Err(GenesisError::Invalid(
                "sum of endowments and credit lines".into(),
            ));
        }
        for member in &genesis.members {
            let id = genesis.account(member);
            let founder = Founder {
                name: member.name.clone(),
                standing: genesis.standing(member),
            };
            members.insert(id, founder);
            enter(&mut records, id, member)?;
            minted = minted
                .checked_add(member.endowment)
                .ok_or_else(|| GenesisError::Invalid("sum of endowments".into()))?;
        }
        let chain = Chain {
            height: 0,
            time_ms: genesis.time_ms,
            beacon: genesis.beacon,
            seed: genesis.beacon,
            minted,
        };
        let mut leaves = records.leaves();
        leaves.insert(roots::record_key(CHAIN, &()), roots::record_value(&chain));
        let by_id = genesis.classes.iter().enumerate();
        Ok(State {
            constitution: Arc::new(Constitution {
                network: genesis.network(),
                policy: genesis.policy.clone(),
                by_id: by_id.map(|(i, class)| (class.key.id(), i)).collect(),
                classes: genesis.classes.clone(),
                validators,
                members,
            }),
            chain,
            tip: BlockId::default(),
            blocks: Frontier::new(),
            tree: Tree::build(&leaves),
            records,
        })
    }

    /// The network.
    pub fn network(&self) -> NetworkId {
        self.constitution.network
    }
    /// Pacing and market policy.
    pub fn policy(&self) -> &Policy {
        &self.constitution.policy
    }
    /// Classes traded, ascending by id.
    pub fn classes(&self) -> &[Class] {
        &self.constitution.classes
    }
    /// Lengths of rounds and slots.
    pub fn calendar(&self) -> Calendar {
        self.constitution.policy.calendar
    }
    /// Height of the tip; 0 for the genesis.
    pub fn height(&self) -> u64 {
        self.chain.height
    }
    /// Ledger time of the tip in milliseconds since 1970.
    pub fn time_ms(&self) -> u64 {
        self.chain.time_ms
    }
    /// The last block; zeros for the genesis.
    pub fn tip(&self) -> BlockId {
        self.tip
    }
    /// Root of the state tree.
    pub fn root(&self) -> Hash32 {
        Hash32(self.tree.root())
    }
    /// The beacon after the tip.
    pub fn beacon(&self) -> [u8; 32] {
        self.chain.beacon.0
    }
    /// Seed of the election of the next height: the beacon at the end of the epoch before that
    /// height's.
    pub fn election_seed(&self) -> [u8; 32] {
        self.chain.seed.0
    }
    /// Validators of the next height.
    pub fn validators(&self) -> &ValidatorSet {
        &self.constitution.validators
    }
    /// Validators of the tip's height, who sign its certificate.
    pub fn parent_validators(&self) -> &ValidatorSet {
        &self.constitution.validators
    }
    /// The image whose preimage the next block of a validator reveals.
    pub fn beacon_tip(&self, validator: &ValidatorId) -> Option<[u8; 32]> {
        self.records.beacons.get(validator).map(|tip| tip.0)
    }
    /// The next beacon chain of a validator, if one was registered that does not count yet.
    pub fn beacon_successor(&self, validator: &ValidatorId) -> Option<Successor> {
        self.records.successors.get(validator).copied()
    }
    /// Root of the log of all blocks up to the tip.
    pub fn log_root(&self) -> Hash32 {
        Hash32(self.blocks.root())
    }
    /// Whether heights must tick at the block interval: something lives that a height can change.
    pub fn work_is_due(&self) -> bool {
        !self.records.orders.is_empty()
            || !self.records.unopened.is_empty()
            || !self.records.contracts.is_empty()
            || !self.records.leases.is_empty()
            || !self.records.pots.is_empty()
            || !self.records.sweeps.is_empty()
            || !self.records.retained.is_empty()
            || self.records.offers.values().any(|o| o.pending.is_some())
    }
    /// Proof of a record, or of its absence; `key` is a [`crate::record_key`].
    pub fn prove(&self, key: &[u8; 32]) -> Proof {
        self.tree.prove(key)
    }

    /// Makes an executed block real.
    ///
    /// # Panics
    /// If the delta was made on another tip.
    pub fn commit(&mut self, delta: Delta) {
        assert_eq!(
            (delta.parent, delta.chain.height),
            (self.tip, self.chain.height + 1),
            "a delta is committed to the state it was made on"
        );
        self.records.apply(delta.changes);
        self.tree
            .commit(delta.tree)
            .expect("the delta's tree was previewed on this tip");
        self.chain = delta.chain;
        self.tip = delta.block;
        self.blocks.append(delta.block.0);
    }
}

/// Enters a founding member with its account, keys, money and beacon.
fn enter(records: &mut Records, id: AccountId, member: &Member) -> Result<(), GenesisError> {
    let account = Account {
        keys: member.keys.clone(),
        sponsor: id,
        credit_line: member.credit_line,
        inviter: id,
        depth: 0,
        invited: 0,
        closed: Closed::default(),
        seats: Vec::new(),
        spent: Spent::default(),
    };
    records.accounts.insert(id, account);
    for key in &member.keys {
        if records.keys.insert(key.key, id).is_some() {
            return Err(GenesisError::Invalid("list of members' keys".into()));
        }
    }
    if member.endowment > Credits::ZERO {
        let micros = member.endowment.micros() as i64;
        records.purses.insert(Purse::Account(id), micros);
    }
    if let Some(validator) = &member.validator {
        let id = gridbay_protocol::validator::validator_id(&validator.key);
        records.beacons.insert(id, validator.beacon_tip);
    }
    Ok(())
}
