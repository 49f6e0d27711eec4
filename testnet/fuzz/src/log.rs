//! Merkle logs: an accepted proof shows only what the log holds.

use crate::{Target, Verdict, decoder, strict};
use gridbay_ledger::log::{ConsistencyProof, Frontier, Hash, InclusionProof, Log};
use gridbay_protocol::codec;
use std::sync::LazyLock;

pub(crate) const FRONTIER: Target = decoder(
    "log_frontier",
    "bytes as the right edge of a log: one encoding, and appending keeps it sound",
    frontier,
    || {
        let sizes = [0, 1, 2, 3, 7, 8, 21, SIZE];
        let edge = |n| codec::encode(&items(n).into_iter().collect::<Frontier>());
        sizes.map(edge).to_vec()
    },
);
pub(crate) const INCLUSION: Target = decoder(
    "log_inclusion",
    "bytes as (size, index, item, proof) about a known log: only the truth verifies, by one proof",
    inclusion,
    || {
        let places = [(1, 0), (2, 1), (7, 3), (8, 7), (33, 32), (SIZE, 11)];
        let claim = |(size, index): (u64, u64)| {
            let proof = LOG.inclusion_proof(index, size).expect("within the log");
            codec::encode(&(size, index, Held(item(index)), proof))
        };
        places.map(claim).to_vec()
    },
);
pub(crate) const CONSISTENCY: Target = decoder(
    "log_consistency",
    "bytes as (old size, new size, proof) about a known log: only sizes in order verify, by one proof",
    consistency,
    || {
        let sizes = [
            (0, 0),
            (0, 5),
            (1, 2),
            (3, 7),
            (8, 33),
            (21, SIZE),
            (SIZE, SIZE),
        ];
        let claim = |(old, new): (u64, u64)| {
            let proof = LOG.consistency_proof(old, new).expect("within the log");
            codec::encode(&(old, new, proof))
        };
        sizes.map(claim).to_vec()
    },
);

const SIZE: u64 = 40;

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Held(#[serde(with = "gridbay_protocol::ids::byte_array")] Hash);

fn item(n: u64) -> Hash {
    [n as u8 + 1; 32]
}
fn items(n: u64) -> Vec<Hash> {
    (0..n).map(item).collect()
}

static LOG: LazyLock<Log> = LazyLock::new(|| items(SIZE).into_iter().collect());

fn frontier(bytes: &[u8]) -> Verdict {
    strict::only::<Frontier>(bytes, 64 * 1024, |frontier| {
        let mut longer = frontier.clone();
        longer.append([9; 32]);
        assert_eq!(longer.size(), frontier.size() + 1);
        assert_ne!(longer.root(), frontier.root());
        let known = LOG
            .root_at(frontier.size())
            .is_ok_and(|root| root == frontier.root());
        let same: Frontier = items(frontier.size().min(SIZE)).into_iter().collect();
        assert_eq!(known, *frontier == same, "a root names one frontier");
    })
}

fn inclusion(bytes: &[u8]) -> Verdict {
    let read = codec::decode::<(u64, u64, Held, InclusionProof)>(bytes, 64 * 1024);
    let Ok((size, index, held, proof)) = read else {
        return Verdict::Refused;
    };
    let size_known = size.min(SIZE);
    let root = LOG.root_at(size_known).expect("within the log");
    if proof.verify(&root, size, index, &held.0).is_err() {
        return Verdict::Refused;
    }
    assert!(index < size && size == size_known, "a root names one size");
    assert_eq!(held.0, item(index));
    assert_eq!(Ok(proof), LOG.inclusion_proof(index, size));
    Verdict::Accepted
}

fn consistency(bytes: &[u8]) -> Verdict {
    let read = codec::decode::<(u64, u64, ConsistencyProof)>(bytes, 64 * 1024);
    let Ok((old, new, proof)) = read else {
        return Verdict::Refused;
    };
    let root = |size: u64| LOG.root_at(size.min(SIZE)).expect("within the log");
    if proof.verify(&root(old), old, &root(new), new).is_err() {
        return Verdict::Refused;
    }
    assert!(old <= new && new <= SIZE, "a root names one size");
    assert_eq!(Ok(proof), LOG.consistency_proof(old, new));
    Verdict::Accepted
}
