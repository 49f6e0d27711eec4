//! The messages between hosts, in the strict codec.
//!
//! Every kind has its own size cap, applied before parsing. Votes and proposals are the protocol's
//! own types with the signature over their canonical bytes, so they can be shown to a stranger as
//! they are.

mod body;

use crate::limits;
pub use body::{Body, ShortBlock};
use gridbay_protocol::block::{BLOCK_EVIDENCE, Block};
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{BlockId, EntryId, NetworkId, ValidatorId};
use gridbay_protocol::keys::{KeyError, PublicKey, SecretKey, Signature};
use gridbay_protocol::limits::{BLOCK_ENTRIES, VALIDATORS};
use gridbay_protocol::receipt::SignedReceipt;
use gridbay_protocol::record::reservation::hint;
use gridbay_protocol::vote::{Certificate, CertificateSignature, Proposal, Vote, VoteKind};
use serde::{Deserialize, Serialize};

/// A vote with its voter's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedVote {
    /// The vote.
    pub vote: Vote,
    /// By the voter's consensus key, domain [`Domain::Vote`].
    pub signature: Signature,
}

impl SignedVote {
    /// Signs a vote.
    pub fn new(vote: Vote, network: &NetworkId, key: &SecretKey) -> SignedVote {
        let signature = key.sign(Domain::Vote, network, &codec::encode(&vote));
        SignedVote { vote, signature }
    }
    /// Checks the signature against the voter's key.
    pub fn verify(&self, network: &NetworkId, key: &PublicKey) -> Result<(), KeyError> {
        let bytes = codec::encode(&self.vote);
        key.verify(Domain::Vote, network, &bytes, &self.signature)
    }
}

/// A proposal with its proposer's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedProposal {
    /// The proposal.
    pub proposal: Proposal,
    /// By the proposer's consensus key, domain [`Domain::Proposal`].
    pub signature: Signature,
}

impl SignedProposal {
    /// Signs a proposal.
    pub fn new(proposal: Proposal, network: &NetworkId, key: &SecretKey) -> SignedProposal {
        let signature = key.sign(Domain::Proposal, network, &codec::encode(&proposal));
        SignedProposal {
            proposal,
            signature,
        }
    }
    /// Checks the signature against the proposer's key.
    pub fn verify(&self, network: &NetworkId, key: &PublicKey) -> Result<(), KeyError> {
        let bytes = codec::encode(&self.proposal);
        key.verify(Domain::Proposal, network, &bytes, &self.signature)
    }
}

/// Prevotes of a quorum for one block; a validator needs them to follow a proposal made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Polka {
    /// Height.
    pub height: u64,
    /// Round of the prevotes.
    pub round: u32,
    /// The block.
    pub block: BlockId,
    /// Signatures over the prevotes.
    pub signatures: Vec<CertificateSignature>,
}

/// The fact that the votes of a [`RoundProof`] show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundProofKind {
    /// Votes of more than a third of the power: the round has begun.
    Skip,
    /// Precommits of a quorum: the round is over.
    Precommits,
}

/// One vote of a [`RoundProof`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundVote {
    /// Step.
    pub kind: VoteKind,
    /// The block, or nil.
    pub block: Option<BlockId>,
    /// The voter.
    pub validator: ValidatorId,
    /// Over the vote.
    pub signature: Signature,
}

/// Votes that justify entering a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundProof {
    /// Height.
    pub height: u64,
    /// Round of the votes.
    pub round: u32,
    /// The fact that they show.
    pub kind: RoundProofKind,
    /// The votes.
    pub votes: Vec<RoundVote>,
}

/// A proposal, and the block if the sender pushes it along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// The proposal.
    pub signed: SignedProposal,
    /// The block it names; the proposer sends it along, relays do not.
    pub body: Option<Body>,
}

/// A request for the body of a block at the current height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRequest {
    /// Height.
    pub height: u64,
    /// The block.
    pub block: BlockId,
}

/// How far the sender's book reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Height of its last block.
    pub tip: u64,
}

/// A request for decided blocks from a height on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncRequest {
    /// First height wanted, from 1.
    pub from: u64,
}

/// A block with the proof that it was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecidedBlock {
    /// The block.
    pub block: Block,
    /// Its certificate.
    pub certificate: Certificate,
}

/// The sender's promise, as in a receipt, for entries that the receiver sent: by word alone, since
/// the connection shows which validator's node speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Height of the validator's tip since which the entries count as acknowledged.
    pub height: u64,
    /// The entries.
    pub entries: Vec<EntryId>,
}

/// Everything that hosts say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostMessage {
    /// A vote, of the sender or repeated by it.
    Vote(SignedVote),
    /// A proposal, of the sender or relayed by it.
    Proposal(Offered),
    /// A quorum of prevotes.
    Polka(Polka),
    /// Votes that justify a round.
    Round(RoundProof),
    /// Asks for a body.
    BodyRequest(BodyRequest),
    /// A body that was asked for.
    Body(Box<Block>),
    /// The sender's tip.
    Status(Status),
    /// Asks for decided blocks.
    SyncRequest(SyncRequest),
    /// Decided blocks of consecutive heights, ascending.
    SyncResponse(Vec<DecidedBlock>),
    /// Entries for the mempool.
    Entries(Vec<SignedEntry>),
    /// Receipts of openings that the receiver sent.
    Receipts(Vec<SignedReceipt>),
    /// Acknowledges other entries that the receiver sent.
    Acknowledged(Acknowledgement),
}

/// The classes of messages: those of one arrive in their order, and none waits for another class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Small messages that decide the running height.
    Votes,
    /// Proposals and bodies of the running height.
    Bodies,
    /// Entries, and what is promised for them.
    Entries,
    /// Words of blocks, and blocks for those that lack them.
    Words,
}

/// Messages that take long to parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Large {
    /// The body of a block, with a proposal or alone.
    Body,
    /// Decided blocks.
    Blocks,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Not the canonical bytes of a message within its cap.
    #[error("malformed message")]
    Bytes(#[from] CodecError),
    /// Of no known kind.
    #[error("unknown kind of message")]
    Kind,
    /// More items than the kind may hold.
    #[error("too many items in a message")]
    TooMany,
}

impl HostMessage {
    /// Canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }
    /// The class that bytes claim.
    pub fn class(bytes: &[u8]) -> Class {
        match kind(bytes) {
            Some(b"vote" | b"polka" | b"round" | b"body_request") => Class::Votes,
            Some(b"proposal" | b"body") => Class::Bodies,
            Some(b"entries" | b"receipts" | b"acknowledged") => Class::Entries,
            _ => Class::Words,
        }
    }
    /// Whether bytes claim to be a large message, of the kinds that have a use for some peers only.
    pub(crate) fn claims_large(bytes: &[u8]) -> Option<Large> {
        match kind(bytes)? {
            b"proposal" | b"body" => Some(Large::Body),
            b"sync_response" => Some(Large::Blocks),
            _ => None,
        }
    }
    /// The same of a message.
    pub(crate) fn large(&self) -> Option<Large> {
        match self {
            HostMessage::Proposal(_) | HostMessage::Body(_) => Some(Large::Body),
            HostMessage::SyncResponse(_) => Some(Large::Blocks),
            _ => None,
        }
    }
    /// Whether bytes claim to be what validators need to decide the running height: such messages
    /// go before all others.
    pub fn is_urgent(bytes: &[u8]) -> bool {
        matches!(HostMessage::class(bytes), Class::Votes | Class::Bodies)
    }
    /// Parses canonical bytes: cap of the kind first, then the codec, then the counts.
    pub fn decode(bytes: &[u8]) -> Result<HostMessage, MessageError> {
        let message: HostMessage = codec::decode(bytes, cap(bytes).ok_or(MessageError::Kind)?)?;
        if message.counts_fit() {
            Ok(message)
        } else {
            Err(MessageError::TooMany)
        }
    }
    /// Whether the lists are within their bounds; also for messages that never were bytes.
    pub(crate) fn counts_fit(&self) -> bool {
        match self {
            HostMessage::Proposal(offered) => offered.body.as_ref().is_none_or(Body::counts_fit),
            HostMessage::Body(block) => block_fits(block),
            HostMessage::Polka(polka) => polka.signatures.len() <= VALIDATORS,
            HostMessage::Round(proof) => proof.votes.len() <= 2 * VALIDATORS,
            HostMessage::SyncResponse(items) => {
                items.len() <= limits::SYNC_BLOCKS
                    && items
                        .iter()
                        .all(|i| block_fits(&i.block) && certificate_fits(&i.certificate))
            }
            HostMessage::Entries(entries) => entries.len() <= limits::BATCH_ENTRIES,
            HostMessage::Receipts(receipts) => receipts.len() <= limits::BATCH_RECEIPTS,
            HostMessage::Acknowledged(all) => all.entries.len() <= limits::BATCH_ENTRIES,
            HostMessage::Vote(_)
            | HostMessage::BodyRequest(_)
            | HostMessage::Status(_)
            | HostMessage::SyncRequest(_) => true,
        }
    }
}

fn block_fits(block: &Block) -> bool {
    block.entries.len() <= BLOCK_ENTRIES
        && block.evidence.len() <= BLOCK_EVIDENCE
        && hint::fit(&block.hints)
        && block.last_commit.as_ref().is_none_or(certificate_fits)
}

fn certificate_fits(certificate: &Certificate) -> bool {
    certificate.signatures.len() <= VALIDATORS
}

/// The kind that the bytes claim to be: a map of one entry, its key a short text.
fn kind(bytes: &[u8]) -> Option<&[u8]> {
    let (&[0xa1, text], rest) = bytes.split_first_chunk::<2>()? else {
        return None;
    };
    rest.get(..usize::from(text.checked_sub(0x60)?))
}

/// The cap of that kind.
fn cap(bytes: &[u8]) -> Option<usize> {
    let cap = match kind(bytes)? {
        b"proposal" => limits::PROPOSAL_MESSAGE_BYTES,
        b"body" => limits::BODY_MESSAGE_BYTES,
        b"sync_response" => limits::SYNC_MESSAGE_BYTES,
        b"entries" => limits::BATCH_BYTES,
        b"vote" | b"polka" | b"round" | b"body_request" | b"status" | b"sync_request"
        | b"receipts" | b"acknowledged" => limits::SMALL_MESSAGE_BYTES,
        _ => return None,
    };
    Some(cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::receipt::Receipt;

    #[test]
    fn kinds_have_their_own_caps() {
        let status = HostMessage::Status(Status { tip: 7 });
        assert!(!HostMessage::is_urgent(&status.encode()));
        assert!(!HostMessage::is_urgent(b"") && !HostMessage::is_urgent(&[0xa1, 0x64, b'v']));
        let block = BlockId([1; 32]);
        let wanted = HostMessage::BodyRequest(BodyRequest { height: 1, block });
        assert!(HostMessage::is_urgent(&wanted.encode()));
        assert_eq!(HostMessage::decode(&status.encode()), Ok(status));
        let mut long = HostMessage::SyncRequest(SyncRequest { from: 1 }).encode();
        long.resize(limits::SMALL_MESSAGE_BYTES + 1, 0);
        assert!(matches!(
            HostMessage::decode(&long),
            Err(MessageError::Bytes(CodecError::TooLarge { .. }))
        ));
        let vote = |validator| RoundVote {
            kind: VoteKind::Prevote,
            block: Some(BlockId([1; 32])),
            validator: ValidatorId([validator; 32]),
            signature: Signature([2; 64]),
        };
        let proof = |n: u8| {
            HostMessage::Round(RoundProof {
                height: 1,
                round: u32::MAX,
                kind: RoundProofKind::Skip,
                votes: (0..n).map(vote).collect(),
            })
        };
        let full = proof(2 * VALIDATORS as u8);
        assert_eq!(
            HostMessage::decode(&full.encode()),
            Ok(full),
            "fits its cap"
        );
        let over = proof(2 * VALIDATORS as u8 + 1).encode();
        assert_eq!(HostMessage::decode(&over), Err(MessageError::TooMany));
    }

    #[test]
    fn a_full_batch_of_receipts_fits_its_cap() {
        let receipt = SignedReceipt {
            receipt: Receipt {
                entry: EntryId([255; 32]),
                height: u64::MAX,
                validator: ValidatorId([255; 32]),
            },
            signature: Signature([255; 64]),
        };
        let batch = |n| HostMessage::Receipts(vec![receipt; n]);
        let full = batch(limits::BATCH_RECEIPTS);
        assert_eq!(HostMessage::decode(&full.encode()), Ok(full));
        let over = batch(limits::BATCH_RECEIPTS + 1).encode();
        assert_eq!(HostMessage::decode(&over), Err(MessageError::TooMany));
    }

    #[test]
    fn a_full_acknowledgement_fits_its_cap() {
        let of = |n| {
            HostMessage::Acknowledged(Acknowledgement {
                height: u64::MAX,
                entries: vec![EntryId([255; 32]); n],
            })
        };
        let full = of(limits::BATCH_ENTRIES);
        assert_eq!(HostMessage::decode(&full.encode()), Ok(full));
        let over = of(limits::BATCH_ENTRIES + 1).encode();
        assert_eq!(HostMessage::decode(&over), Err(MessageError::TooMany));
    }

    #[test]
    fn garbage_is_refused_without_panic() {
        for bytes in [
            &[][..],
            &[0xa1],
            &[0xa1, 0x7f],
            &[0xa1, 0x64, b'v'],
            b"GET /",
        ] {
            assert_eq!(HostMessage::decode(bytes), Err(MessageError::Kind));
        }
        let good = HostMessage::Status(Status { tip: 7 }).encode();
        for cut in 0..good.len() {
            assert!(HostMessage::decode(&good[..cut]).is_err());
        }
    }
}
