//! The logs against the recursive definitions of RFC 6962, and their proofs against forgery.

use gridbay_ledger::log::{
    ConsistencyProof, Frontier, Hash, InclusionProof, Log, LogProofError, OutOfRange, empty_root,
    merkle_root, prove_in_list,
};
use proptest::prelude::*;

/// Sizes up to which everything is tried.
const LIMIT: u64 = 64;

fn h(tag: &str, parts: &[&[u8]]) -> Hash {
    let preimage = [
        format!("gridbay/log/{tag}/v1\0").as_bytes(),
        &parts.concat(),
    ]
    .concat();
    *blake3::hash(&preimage).as_bytes()
}

/// The largest power of two smaller than `n`, by doubling.
fn cut(n: usize) -> usize {
    let mut k = 1;
    while k * 2 < n {
        k *= 2;
    }
    k
}

/// MTH of section 2.1.
fn mth(d: &[Hash]) -> Hash {
    match d {
        [] => h("void", &[]),
        [one] => h("leaf", &[one]),
        _ => h(
            "node",
            &[&mth(&d[..cut(d.len())]), &mth(&d[cut(d.len())..])],
        ),
    }
}

/// PATH of section 2.1.1.
fn path(m: usize, d: &[Hash]) -> Vec<Hash> {
    if d.len() == 1 {
        return vec![];
    }
    let k = cut(d.len());
    let (inner, beside) = if m < k {
        (path(m, &d[..k]), mth(&d[k..]))
    } else {
        (path(m - k, &d[k..]), mth(&d[..k]))
    };
    [inner, vec![beside]].concat()
}

/// SUBPROOF of section 2.1.2 with its flag always false, so that it begins with the common subtree.
fn subproof(m: usize, d: &[Hash]) -> Vec<Hash> {
    if m == d.len() {
        return vec![mth(d)];
    }
    let k = cut(d.len());
    let (inner, beside) = if m <= k {
        (subproof(m, &d[..k]), mth(&d[k..]))
    } else {
        (subproof(m - k, &d[k..]), mth(&d[..k]))
    };
    [inner, vec![beside]].concat()
}

fn root(d: &[Hash]) -> Hash {
    h("root", &[&(d.len() as u64).to_be_bytes(), &mth(d)])
}

fn items(n: u64) -> Vec<Hash> {
    (0..n)
        .map(|i| *blake3::hash(&i.to_be_bytes()).as_bytes())
        .collect()
}

#[test]
fn roots_follow_the_definition() {
    let items = items(LIMIT);
    let (mut log, mut frontier) = (Log::new(), Frontier::new());
    assert!(log.is_empty());
    assert_eq!(empty_root(), root(&[]));
    for n in 0..=items.len() {
        let expected = root(&items[..n]);
        assert_eq!((log.len(), frontier.size()), (n as u64, n as u64));
        assert_eq!(log.root(), expected);
        assert_eq!(frontier.root(), expected);
        assert_eq!(merkle_root(&items[..n]), expected);
        if let Some(next) = items.get(n) {
            log.append(*next);
            frontier.append(*next);
        }
    }
    for n in 0..=items.len() {
        assert_eq!(
            log.root_at(n as u64),
            Ok(root(&items[..n])),
            "an earlier root was lost"
        );
    }
}

#[test]
fn inclusion_proofs_follow_the_definition_and_verify() {
    let items = items(LIMIT);
    let log: Log = items.iter().copied().collect();
    for n in 1..=items.len() {
        let root = root(&items[..n]);
        for m in 0..n {
            let proof = log.inclusion_proof(m as u64, n as u64).unwrap();
            assert_eq!(proof.path, path(m, &items[..n]));
            assert_eq!(proof.verify(&root, n as u64, m as u64, &items[m]), Ok(()));
            assert_eq!(prove_in_list(&items[..n], m as u64), Ok(proof));
        }
    }
}

#[test]
fn consistency_proofs_follow_the_definition_and_verify() {
    let items = items(LIMIT);
    let log: Log = items.iter().copied().collect();
    for n in 0..=items.len() {
        for m in 0..=n {
            let proof = log.consistency_proof(m as u64, n as u64).unwrap();
            let expected = if m == 0 {
                vec![mth(&items[..n])]
            } else {
                subproof(m, &items[..n])
            };
            assert_eq!(proof.path, expected, "{m} of {n}");
            let (old, new) = (root(&items[..m]), root(&items[..n]));
            assert_eq!(
                proof.verify(&old, m as u64, &new, n as u64),
                Ok(()),
                "{m} of {n}"
            );
        }
    }
}

/// Every claim about another index, size or pair of sizes fails, also where the shapes of the paths
/// agree.
#[test]
fn a_proof_holds_for_its_own_numbers_only() {
    const N: u64 = 20;
    let items = items(N);
    let log: Log = items.iter().copied().collect();
    let claims = || (0..=N + 1).flat_map(|a| (0..=N + 1).map(move |b| (a, b)));
    for n in 0..=N {
        let new = log.root_at(n).unwrap();
        for m in 0..n {
            let proof = log.inclusion_proof(m, n).unwrap();
            let item = &items[m as usize];
            for (index, size) in claims().filter(|claim| *claim != (m, n)) {
                assert!(
                    proof.verify(&new, size, index, item).is_err(),
                    "{m}/{n} as {index}/{size}"
                );
            }
        }
        for m in 0..=n {
            let proof = log.consistency_proof(m, n).unwrap();
            let old = log.root_at(m).unwrap();
            for (a, b) in claims().filter(|claim| *claim != (m, n)) {
                assert!(
                    proof.verify(&old, a, &new, b).is_err(),
                    "{m}..{n} as {a}..{b}"
                );
            }
        }
    }
}

#[test]
fn a_forked_log_is_not_consistent() {
    let honest = items(40);
    let log: Log = honest.iter().copied().collect();
    for changed in 0..30 {
        let mut forked = honest.clone();
        forked[changed][0] ^= 1;
        let fork: Log = forked.into_iter().collect();
        let (old, new) = (log.root_at(30).unwrap(), fork.root());
        for from in [&log, &fork] {
            let proof = from.consistency_proof(30, 40).unwrap();
            assert!(
                proof.verify(&old, 30, &new, 40).is_err(),
                "item {changed} was rewritten"
            );
        }
    }
}

#[test]
fn what_the_log_does_not_hold_is_refused() {
    let log: Log = items(5).into_iter().collect();
    assert_eq!(log.root_at(6), Err(OutOfRange::Size { size: 6, len: 5 }));
    assert_eq!(
        log.inclusion_proof(0, 6),
        Err(OutOfRange::Size { size: 6, len: 5 })
    );
    assert_eq!(
        log.inclusion_proof(3, 3),
        Err(OutOfRange::Index { index: 3, size: 3 })
    );
    assert_eq!(
        log.consistency_proof(1, 6),
        Err(OutOfRange::Size { size: 6, len: 5 })
    );
    assert_eq!(
        log.consistency_proof(4, 3),
        Err(OutOfRange::Order { old: 4, new: 3 })
    );
    assert_eq!(
        prove_in_list(&[], 0),
        Err(OutOfRange::Index { index: 0, size: 0 })
    );
}

#[test]
fn an_item_is_never_mistaken_for_a_subtree() {
    let items = items(2);
    let (l, r) = (h("leaf", &[&items[0]]), h("leaf", &[&items[1]]));
    let joined = h("node", &[&l, &r]);
    assert_ne!(merkle_root(&[joined]), merkle_root(&items));
    let forged = InclusionProof { path: vec![] };
    let refused = forged.verify(&merkle_root(&items), 1, 0, &joined);
    assert_eq!(refused, Err(LogProofError::WrongRoot));
}

fn flip(path: &mut [Hash], at: prop::sample::Index, mask: u8) {
    let bytes = path.as_flattened_mut();
    let at = at.index(bytes.len());
    bytes[at] ^= mask;
}

proptest! {
    #[test]
    fn altered_inclusion_proofs_fail(
        size in 1..200u64, pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), mask in 1..=255u8, extra in any::<Hash>(),
    ) {
        let items = items(size);
        let index = pick.index(items.len()) as u64;
        let (root, item) = (merkle_root(&items), items[index as usize]);
        let good = prove_in_list(&items, index).unwrap();
        prop_assert_eq!(good.verify(&root, size, index, &item), Ok(()));

        let mut other = item;
        flip(std::slice::from_mut(&mut other), at, mask);
        prop_assert!(good.verify(&root, size, index, &other).is_err(), "another item");
        let mut other = root;
        flip(std::slice::from_mut(&mut other), at, mask);
        prop_assert!(good.verify(&other, size, index, &item).is_err(), "another root");

        let mut bad = good.clone();
        bad.path.push(extra);
        prop_assert!(bad.verify(&root, size, index, &item).is_err(), "a hash more");
        let mut bad = good.clone();
        if bad.path.pop().is_some() {
            prop_assert!(bad.verify(&root, size, index, &item).is_err(), "a hash less");
            let mut bad = good.clone();
            flip(&mut bad.path, at, mask);
            prop_assert!(bad.verify(&root, size, index, &item).is_err(), "another hash");
        }
    }

    #[test]
    fn altered_consistency_proofs_fail(
        new in 0..200u64, pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), mask in 1..=255u8, extra in any::<Hash>(),
    ) {
        let log: Log = items(new).into_iter().collect();
        let old = pick.index(new as usize + 1) as u64;
        let (old_root, new_root) = (log.root_at(old).unwrap(), log.root());
        let good = log.consistency_proof(old, new).unwrap();
        let verify = |proof: &ConsistencyProof| proof.verify(&old_root, old, &new_root, new);
        prop_assert_eq!(verify(&good), Ok(()));

        let mut other = old_root;
        flip(std::slice::from_mut(&mut other), at, mask);
        prop_assert!(good.verify(&other, old, &new_root, new).is_err(), "another old root");
        let mut other = new_root;
        flip(std::slice::from_mut(&mut other), at, mask);
        prop_assert!(good.verify(&old_root, old, &other, new).is_err(), "another new root");

        let mut bad = good.clone();
        bad.path.push(extra);
        prop_assert!(verify(&bad).is_err(), "a hash more");
        let mut bad = good.clone();
        bad.path.pop();
        prop_assert!(verify(&bad).is_err(), "a hash less");
        let mut bad = good.clone();
        flip(&mut bad.path, at, mask);
        prop_assert!(verify(&bad).is_err(), "another hash");
    }

    #[test]
    fn no_proof_makes_the_verifiers_panic(
        path in prop::collection::vec(any::<Hash>(), 0..80),
        a in any::<u64>(), b in any::<u64>(), hash in any::<Hash>(),
    ) {
        let inclusion = InclusionProof { path: path.clone() };
        prop_assert!(inclusion.verify(&hash, a, b, &hash).is_err());
        prop_assert!(inclusion.verify(&hash, u64::MAX, a, &hash).is_err());
        let consistency = ConsistencyProof { path };
        prop_assert!(consistency.verify(&hash, a, &hash, b).is_err());
        prop_assert!(consistency.verify(&hash, a, &hash, u64::MAX).is_err());
    }
}

#[test]
fn the_roots_of_short_logs_are_pinned() {
    let hex = |hash: Hash| {
        hash.iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    assert_eq!(
        hex(empty_root()),
        "2df80c447824cbcdd2282a544e74efcc8760bdf6116e663002ff5b6f275f1d55"
    );
    assert_eq!(
        hex(merkle_root(&[[1; 32]])),
        "7d278d245d89d8329d75746c14ab12aacef9336f9b4e666e02f076e5831e2d1e"
    );
    assert_eq!(
        hex(merkle_root(&[[1; 32], [2; 32], [3; 32]])),
        "a61718e288423a4cdbb06b57b67637518d4789d8385ead2402d09b20ba1f4676"
    );
}
