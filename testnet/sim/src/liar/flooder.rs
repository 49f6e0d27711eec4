//! Sends as many messages as it can that cost others work: garbage, messages beyond their caps,
//! entries of accounts that do not exist, requests for bodies and blocks, votes and proofs with
//! worthless signatures, and as a validator votes and proposals of its own for every round there
//! is; for the running height, the next and the last.
//!
//! Attacks I11 and I12. Bytes are capped before they are parsed, strangers' entries have a shelf of
//! their own, answers with blocks have a pace, early messages a share per peer.

use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::limits::{SMALL_MESSAGE_BYTES, SYNC_MESSAGE_BYTES};
use gridbay_host::message::{
    BodyRequest, HostMessage, Polka, RoundProof, RoundProofKind, RoundVote, SignedVote, Status,
    SyncRequest,
};
use gridbay_protocol::election;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, BlockId, Hash32, ValidatorId};
use gridbay_protocol::keys::{SecretKey, Signature};
use gridbay_protocol::units::Credits;
use gridbay_protocol::vote::{CertificateSignature, Proposal, Vote, VoteKind};

/// Messages in one whim at the most.
const BURST: u64 = 120;
/// Of a million whims this many begin with one message beyond every cap.
const HUGE: u64 = 20_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Flooder {
    deeds: u64,
}

fn signature(puppet: &mut Puppet<'_>) -> Signature {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(&puppet.rng.bytes32());
    Signature(bytes)
}

fn garbage(puppet: &mut Puppet<'_>) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..8).flat_map(|_| puppet.rng.bytes32()).collect();
    bytes.truncate(puppet.rng.index(256));
    bytes
}

/// A message longer than its kind may be.
fn oversized(puppet: &mut Puppet<'_>) -> Vec<u8> {
    let mut bytes = HostMessage::Status(Status { tip: puppet.now }).encode();
    bytes.resize(SMALL_MESSAGE_BYTES + 1, 0);
    bytes
}

/// An entry of an account that nobody knows, under a key of its own.
fn strangers_entry(puppet: &mut Puppet<'_>) -> SignedEntry {
    let key = SecretKey::from_seed(&puppet.rng.bytes32());
    let account = AccountId(puppet.rng.bytes32());
    let body = EntryBody::Transfer {
        to: AccountId(puppet.rng.bytes32()),
        amount: Credits::from_micros(1).unwrap_or_default(),
        memo: Hash32(puppet.rng.bytes32()),
    };
    puppet.entry_of(account, body, &key)
}

/// Some height near the running one, or far away.
fn height(puppet: &mut Puppet<'_>) -> u64 {
    let next = puppet.state().height() + 1;
    let heights = [next, next, next + 1, next + 2, 0, u64::MAX];
    puppet.rng.pick(&heights).copied().unwrap_or(next)
}

fn somebodys_id(puppet: &mut Puppet<'_>) -> ValidatorId {
    let member = puppet.rng.index(puppet.plan.validators);
    let members = puppet.state().validators().members();
    members.get(member).map(|m| m.id).unwrap_or_default()
}

/// Some round near the first ones, or far away.
fn round(puppet: &mut Puppet<'_>) -> u32 {
    let rounds = [0, 1, 2, 3, 9, 10, 11, 100, u32::MAX - 1, u32::MAX];
    puppet.rng.pick(&rounds).copied().unwrap_or(0)
}

/// A proposal of a block that does not exist, for a round of the running height in which it is its
/// turn.
fn proposal(puppet: &mut Puppet<'_>) -> HostMessage {
    let state = puppet.core.state();
    let height = state.height() + 1;
    let (seed, set) = (state.election_seed(), state.validators());
    let own = puppet.validator();
    let turns = (0..20).filter(|r| election::proposer(&seed, height, *r, set) == own);
    let turns: Vec<u32> = turns.collect();
    let proposal = Proposal {
        height,
        round: puppet.rng.pick(&turns).copied().unwrap_or(0),
        block: BlockId(puppet.rng.bytes32()),
        valid_round: puppet.rng.chance(300_000).then(|| round(puppet)),
        validator: own,
    };
    puppet.proposal(proposal, None)
}

fn vote(puppet: &mut Puppet<'_>) -> HostMessage {
    let mut vote = Vote {
        kind: VoteKind::Precommit,
        height: height(puppet),
        round: round(puppet),
        block: Some(BlockId(puppet.rng.bytes32())),
        validator: somebodys_id(puppet),
    };
    if puppet.votes() && puppet.rng.chance(500_000) {
        // Rightly signed, whatever it says.
        vote.validator = puppet.validator();
        return puppet.vote(vote);
    }
    let signature = signature(puppet);
    HostMessage::Vote(SignedVote { vote, signature })
}

fn proof(puppet: &mut Puppet<'_>) -> HostMessage {
    let (height, round) = (height(puppet), puppet.rng.below(20) as u32);
    let validator = somebodys_id(puppet);
    let (block, signature) = (BlockId(puppet.rng.bytes32()), signature(puppet));
    if puppet.rng.chance(500_000) {
        let signed = CertificateSignature {
            validator,
            signature,
        };
        return HostMessage::Polka(Polka {
            height,
            round,
            block,
            signatures: vec![signed; 3],
        });
    }
    let vote = RoundVote {
        kind: VoteKind::Prevote,
        block: Some(block),
        validator,
        signature,
    };
    HostMessage::Round(RoundProof {
        height,
        round,
        kind: RoundProofKind::Skip,
        votes: vec![vote; 2],
    })
}

fn request(puppet: &mut Puppet<'_>) -> HostMessage {
    let height = height(puppet);
    match puppet.rng.below(3) {
        0 => HostMessage::SyncRequest(SyncRequest {
            from: puppet.rng.range(1, height.clamp(1, 1_000)),
        }),
        1 => HostMessage::BodyRequest(BodyRequest {
            height,
            block: BlockId(puppet.rng.bytes32()),
        }),
        _ => HostMessage::Status(Status { tip: height }),
    }
}

impl Lie for Flooder {
    fn input(&mut self, _puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        // The answer is not meant for its process; if its book lags, that asks by name again.
        match &input {
            Input::Host { bytes, .. } if bytes.len() > SMALL_MESSAGE_BYTES => {
                let answer = super::craft::heard(&input);
                (!matches!(answer, Some(HostMessage::SyncResponse(_)))).then_some(input)
            }
            _ => Some(input),
        }
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        if puppet.rng.chance(HUGE) {
            let to = *crate::found::node_key(puppet.somebody()).as_bytes();
            let bytes = vec![0xa1; SYNC_MESSAGE_BYTES + 1];
            out.push(Effect::Send { to, bytes });
        }
        for _ in 0..puppet.rng.range(1, BURST) {
            let bytes = match puppet.rng.below(12) {
                0 => garbage(puppet),
                1 => oversized(puppet),
                2..=3 => HostMessage::Entries(vec![strangers_entry(puppet)]).encode(),
                4 if puppet.votes() => proposal(puppet).encode(),
                4..=6 => vote(puppet).encode(),
                7..=8 => proof(puppet).encode(),
                _ => request(puppet).encode(),
            };
            let to = *crate::found::node_key(puppet.somebody()).as_bytes();
            out.push(Effect::Send { to, bytes });
        }
        self.deeds += out.len() as u64;
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
