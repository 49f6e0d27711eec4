//! Messages between hosts: every kind, with its own cap.

use crate::golden::{self, Family};
use crate::{Target, Verdict, decoder, strict};
use gridbay_host::limits::{BATCH_ENTRIES, SYNC_BLOCKS, SYNC_MESSAGE_BYTES};
use gridbay_host::message::{
    Body, BodyRequest, DecidedBlock, HostMessage, MessageError, Offered, Polka, RoundProof,
    RoundProofKind, RoundVote, ShortBlock, SignedProposal, SignedVote, Status, SyncRequest,
};
use gridbay_protocol::block::Block;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::keys::Signature;
use gridbay_protocol::limits::VALIDATORS;
use gridbay_protocol::vote::{Certificate, Proposal, Vote};

pub(crate) const HOST_MESSAGE: Target = decoder(
    "host_message",
    "wire bytes as a host's message: one encoding, counts within the bounds of the kind, caps before parsing",
    host_message,
    || messages().iter().map(HostMessage::encode).collect(),
);

const SIGNATURE: Signature = Signature([5; 64]);

/// One message of every kind.
fn messages() -> Vec<HostMessage> {
    let votes = golden::values::<Vote>(Family::Vote);
    let proposal = golden::values::<Proposal>(Family::Vote)[0];
    let certificate = golden::values::<Certificate>(Family::Vote).remove(0);
    let blocks = golden::values::<Block>(Family::Block);
    let (height, block) = (certificate.height, certificate.block);
    let round_votes = votes.iter().map(|vote| RoundVote {
        kind: vote.kind,
        block: vote.block,
        validator: vote.validator,
        signature: SIGNATURE,
    });
    let signed = SignedProposal {
        proposal,
        signature: SIGNATURE,
    };
    let decided = blocks.iter().map(|block| DecidedBlock {
        block: block.clone(),
        certificate: certificate.clone(),
    });
    let offered = |body: Option<Block>| {
        HostMessage::Proposal(Offered {
            signed,
            body: body.map(|block| Body::Whole(Box::new(block))),
        })
    };
    let short = ShortBlock {
        ids: blocks[0].entries.iter().map(|e| e.id()).collect(),
        block: blocks[0].clone(),
    };
    let short = Some(Body::Short(Box::new(short)));
    let votes = votes.iter().map(|vote| {
        HostMessage::Vote(SignedVote {
            vote: *vote,
            signature: SIGNATURE,
        })
    });
    votes
        .chain([
            offered(None),
            offered(Some(blocks[0].clone())),
            HostMessage::Proposal(Offered {
                signed,
                body: short,
            }),
            HostMessage::Polka(Polka {
                height,
                round: 3,
                block,
                signatures: certificate.signatures.clone(),
            }),
            HostMessage::Round(RoundProof {
                height,
                round: 3,
                kind: RoundProofKind::Skip,
                votes: round_votes.collect(),
            }),
            HostMessage::BodyRequest(BodyRequest { height, block }),
            HostMessage::Body(Box::new(blocks[1].clone())),
            HostMessage::Status(Status { tip: height }),
            HostMessage::SyncRequest(SyncRequest { from: 1 }),
            HostMessage::SyncResponse(decided.collect()),
            HostMessage::Entries(golden::values::<SignedEntry>(Family::Entry)),
        ])
        .collect()
}

fn host_message(bytes: &[u8]) -> Verdict {
    let read = HostMessage::decode(bytes);
    // The same bytes without caps and counts: the checked way accepts no more than that.
    let plain = strict::only::<HostMessage>(bytes, SYNC_MESSAGE_BYTES, |_| {});
    match read {
        Ok(message) => {
            assert_eq!(message.encode(), bytes);
            assert_eq!(plain, Verdict::Accepted);
            assert_counts(&message);
        }
        Err(MessageError::TooMany) => assert_eq!(plain, Verdict::Accepted),
        Err(_) => return Verdict::Refused,
    }
    plain
}

fn assert_counts(message: &HostMessage) {
    match message {
        HostMessage::Polka(polka) => assert!(polka.signatures.len() <= VALIDATORS),
        HostMessage::Round(proof) => assert!(proof.votes.len() <= 2 * VALIDATORS),
        HostMessage::SyncResponse(blocks) => assert!(blocks.len() <= SYNC_BLOCKS),
        HostMessage::Entries(entries) => assert!(entries.len() <= BATCH_ENTRIES),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_seed_of_every_kind() {
        let mut kinds: Vec<_> = messages().iter().map(std::mem::discriminant).collect();
        kinds.dedup();
        assert_eq!(kinds.len(), 10);
    }
}
