//! The protocol's types as the consensus core wants to see them.
//!
//! The value that the core agrees on is a block id. Its validator set carries the election's
//! ranking of the height, because the core asks for proposers with the set in hand and nothing
//! else.

use arc_malachitebft_core_types::{
    Address, Context, Height, LinearTimeouts, NilOrVal, Proposal, ProposalPart, Round,
    SignedExtension, SigningScheme, Validator, ValidatorSet, Value, Vote, VoteType,
};
use gridbay_protocol::ids::{BlockId, ValidatorId};
use gridbay_protocol::keys::{PublicKey, Signature};
use std::fmt;
use std::sync::Arc;

/// A validator's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CoreAddress(pub(super) ValidatorId);

impl fmt::Display for CoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl Address for CoreAddress {}

/// A height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CoreHeight(pub(super) u64);

impl fmt::Display for CoreHeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl Height for CoreHeight {
    const ZERO: Self = CoreHeight(0);
    const INITIAL: Self = CoreHeight(1);
    fn increment_by(&self, n: u64) -> Self {
        CoreHeight(self.0.saturating_add(n))
    }
    fn decrement_by(&self, n: u64) -> Option<Self> {
        self.0.checked_sub(n).map(CoreHeight)
    }
    fn as_u64(&self) -> u64 {
        self.0
    }
}

/// The value that is agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CoreValue(pub(super) BlockId);

impl Value for CoreValue {
    type Id = BlockId;
    fn id(&self) -> BlockId {
        self.0
    }
}

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoreProposal {
    pub(super) height: CoreHeight,
    pub(super) round: Round,
    pub(super) value: CoreValue,
    pub(super) pol_round: Round,
    pub(super) address: CoreAddress,
}

impl Proposal<Core> for CoreProposal {
    fn height(&self) -> CoreHeight {
        self.height
    }
    fn round(&self) -> Round {
        self.round
    }
    fn value(&self) -> &CoreValue {
        &self.value
    }
    fn take_value(self) -> CoreValue {
        self.value
    }
    fn pol_round(&self) -> Round {
        self.pol_round
    }
    fn validator_address(&self) -> &CoreAddress {
        &self.address
    }
}

/// A vote. Vote extensions are not used, so there is no room for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoreVote {
    pub(super) kind: VoteType,
    pub(super) height: CoreHeight,
    pub(super) round: Round,
    pub(super) value: NilOrVal<BlockId>,
    pub(super) address: CoreAddress,
}

impl Vote<Core> for CoreVote {
    fn height(&self) -> CoreHeight {
        self.height
    }
    fn round(&self) -> Round {
        self.round
    }
    fn value(&self) -> &NilOrVal<BlockId> {
        &self.value
    }
    fn take_value(self) -> NilOrVal<BlockId> {
        self.value
    }
    fn vote_type(&self) -> VoteType {
        self.kind
    }
    fn validator_address(&self) -> &CoreAddress {
        &self.address
    }
    fn extension(&self) -> Option<&SignedExtension<Core>> {
        None
    }
    fn take_extension(&mut self) -> Option<SignedExtension<Core>> {
        None
    }
    fn extend(self, _: SignedExtension<Core>) -> Self {
        self
    }
}

/// Bodies travel on their own, so the core never sees a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CorePart {}

impl ProposalPart<Core> for CorePart {
    fn is_first(&self) -> bool {
        match *self {}
    }
    fn is_last(&self) -> bool {
        match *self {}
    }
}

/// A validator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoreValidator {
    pub(super) address: CoreAddress,
    pub(super) key: PublicKey,
    pub(super) power: u64,
}

impl Validator<Core> for CoreValidator {
    fn address(&self) -> &CoreAddress {
        &self.address
    }
    fn public_key(&self) -> &PublicKey {
        &self.key
    }
    fn voting_power(&self) -> u64 {
        self.power
    }
}

/// The validators of a height, the elected proposer of round 0 first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoreSet(pub(super) Arc<Vec<CoreValidator>>);

impl ValidatorSet<Core> for CoreSet {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn total_voting_power(&self) -> u64 {
        self.0.iter().map(|v| v.power).sum()
    }
    fn get_by_address(&self, address: &CoreAddress) -> Option<&CoreValidator> {
        self.0.iter().find(|v| v.address == *address)
    }
    fn get_by_index(&self, index: usize) -> Option<&CoreValidator> {
        self.0.get(index)
    }
}

/// Ed25519 as the protocol has it. The core never decodes keys or signatures itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ed25519;

impl SigningScheme for Ed25519 {
    type DecodingError = &'static str;
    type Signature = Signature;
    type PublicKey = PublicKey;
    type PrivateKey = ();
    fn decode_signature(bytes: &[u8]) -> Result<Signature, &'static str> {
        let bytes = bytes.try_into().map_err(|_| "a signature has 64 bytes")?;
        Ok(Signature(bytes))
    }
    fn encode_signature(signature: &Signature) -> Vec<u8> {
        signature.0.to_vec()
    }
    fn decode_public_key(bytes: &[u8]) -> Result<PublicKey, &'static str> {
        let bytes = bytes.try_into().map_err(|_| "a key has 32 bytes")?;
        PublicKey::from_bytes(bytes).map_err(|_| "not a key")
    }
    fn encode_public_key(key: &PublicKey) -> Vec<u8> {
        key.as_bytes().to_vec()
    }
}

/// The core's view of all types.
#[derive(Clone, Debug)]
pub(super) struct Core;

impl Context for Core {
    type Address = CoreAddress;
    type Height = CoreHeight;
    type ProposalPart = CorePart;
    type Proposal = CoreProposal;
    type Validator = CoreValidator;
    type ValidatorSet = CoreSet;
    type Timeouts = LinearTimeouts;
    type Value = CoreValue;
    type Vote = CoreVote;
    type Extension = ();
    type SigningScheme = Ed25519;

    fn select_proposer<'a>(
        &self,
        set: &'a CoreSet,
        _height: CoreHeight,
        round: Round,
    ) -> &'a CoreValidator {
        let round = round.as_u32().unwrap_or(0) as usize;
        &set.0[round % set.0.len()]
    }
    fn new_proposal(
        &self,
        height: CoreHeight,
        round: Round,
        value: CoreValue,
        pol_round: Round,
        address: CoreAddress,
    ) -> CoreProposal {
        CoreProposal {
            height,
            round,
            value,
            pol_round,
            address,
        }
    }
    fn new_prevote(
        &self,
        height: CoreHeight,
        round: Round,
        value: NilOrVal<BlockId>,
        address: CoreAddress,
    ) -> CoreVote {
        CoreVote {
            kind: VoteType::Prevote,
            height,
            round,
            value,
            address,
        }
    }
    fn new_precommit(
        &self,
        height: CoreHeight,
        round: Round,
        value: NilOrVal<BlockId>,
        address: CoreAddress,
    ) -> CoreVote {
        CoreVote {
            kind: VoteType::Precommit,
            height,
            round,
            value,
            address,
        }
    }
}
