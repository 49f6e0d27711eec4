//! The signed statements of consensus, and the sets of those who make them.

use crate::golden::{self, Family, NETWORK};
use crate::{Target, Verdict, decoder, strict};
use gridbay_host::limits::SMALL_MESSAGE_BYTES;
use gridbay_protocol::election;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::limits;
use gridbay_protocol::validator::{ValidatorSet, validator_id};
use gridbay_protocol::vote::{Certificate, Proposal, Vote};
use std::collections::BTreeSet;

pub(crate) const VOTE: Target = decoder(
    "vote",
    "bytes as a vote: one encoding",
    |bytes| strict::only::<Vote>(bytes, SMALL_MESSAGE_BYTES, |_| {}),
    || golden::seeds::<Vote>(Family::Vote),
);
pub(crate) const PROPOSAL: Target = decoder(
    "proposal",
    "bytes as a proposal: one encoding",
    |bytes| strict::only::<Proposal>(bytes, SMALL_MESSAGE_BYTES, |_| {}),
    || golden::seeds::<Proposal>(Family::Vote),
);
pub(crate) const CERTIFICATE: Target = decoder(
    "certificate",
    "bytes as a commit certificate: one encoding, and none verifies that no quorum signed",
    certificate,
    || golden::seeds::<Certificate>(Family::Vote),
);
pub(crate) const EVIDENCE: Target = decoder(
    "evidence",
    "bytes as evidence of equivocation: one encoding, and it convicts nobody who did not sign both votes",
    evidence,
    || golden::seeds::<Evidence>(Family::Vote),
);
pub(crate) const VALIDATOR_SET: Target = decoder(
    "validator_set",
    "bytes as a set of validators: one encoding, legal as decoded, every election has one winner",
    validator_set,
    || golden::seeds::<ValidatorSet>(Family::Vote),
);

fn set() -> ValidatorSet {
    let mut sets = golden::values::<ValidatorSet>(Family::Vote);
    sets.pop().expect("the golden vectors hold a set")
}

fn certificate(bytes: &[u8]) -> Verdict {
    strict::only::<Certificate>(bytes, SMALL_MESSAGE_BYTES, |certificate| {
        let original = (CERTIFICATE.seeds)().iter().any(|golden| golden == bytes);
        let verdict = certificate.verify(&NETWORK, &set());
        assert_eq!(verdict.is_ok(), original, "{verdict:?}");
    })
}

fn evidence(bytes: &[u8]) -> Verdict {
    strict::only::<Evidence>(bytes, SMALL_MESSAGE_BYTES, |evidence| {
        let original = (EVIDENCE.seeds)().iter().any(|golden| golden == bytes);
        assert_eq!(evidence.convicts(&NETWORK, &set()), original);
    })
}

fn validator_set(bytes: &[u8]) -> Verdict {
    strict::only::<ValidatorSet>(bytes, limits::GENESIS_BYTES, |set| {
        let members = set.members();
        assert!((1..=limits::VALIDATORS).contains(&members.len()));
        assert!(
            members
                .iter()
                .all(|m| m.id == validator_id(&m.key) && m.power > 0)
        );
        let total = set.total_power();
        assert!(set.is_quorum(total) && !set.is_quorum(total / 3));
        let ranking = election::ranking(&[3; 32], u64::MAX, set);
        let ranked: BTreeSet<_> = ranking.iter().collect();
        assert_eq!(ranked, members.iter().map(|m| &m.id).collect());
        assert_eq!(ranking.len(), members.len());
    })
}
