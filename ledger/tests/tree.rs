//! The state tree against an independent definition of its root, and its proofs against forgery.

use gridbay_ledger::tree::{
    EMPTY, Hash, MAX_DEPTH, Proof, ProofError, ProofLeaf, StaleDelta, Tree,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Map = BTreeMap<Hash, Hash>;

/// The specification's rules 1 to 3, bit by bit over the whole list.
fn oracle(leaves: &[(Hash, Hash)], depth: usize) -> Hash {
    match leaves {
        [] => [0; 32],
        [(k, v)] => {
            *blake3::hash(&[b"gridbay/tree/leaf/v1\0".as_slice(), k, v].concat()).as_bytes()
        }
        _ => {
            let is_right = |k: &Hash| (k[depth / 8] >> (7 - depth % 8)) % 2 == 1;
            let (right, left): (Vec<_>, Vec<_>) = leaves.iter().partition(|(k, _)| is_right(k));
            let (l, r) = (oracle(&left, depth + 1), oracle(&right, depth + 1));
            *blake3::hash(&[b"gridbay/tree/node/v1\0".as_slice(), &l, &r].concat()).as_bytes()
        }
    }
}

fn oracle_root(map: &Map) -> Hash {
    oracle(&map.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>(), 0)
}

/// Few keys, so that changes meet, with prefixes of very different lengths in common.
fn key() -> impl Strategy<Value = Hash> {
    prop_oneof![
        (0..6u8).prop_map(|n| *blake3::hash(&[n]).as_bytes()),
        (0..8u8).prop_map(|n| {
            let mut key = [0; 32];
            key[31] = n;
            key
        }),
        (0..256usize).prop_map(|bit| {
            let mut key = [0xff; 32];
            key[bit / 8] ^= 0x80 >> (bit % 8);
            key
        }),
    ]
}

fn value() -> impl Strategy<Value = Hash> {
    (0..3u8).prop_map(|n| [n; 32])
}

fn map() -> impl Strategy<Value = Map> {
    prop::collection::btree_map(key(), value(), 0..24)
}

fn step(tree: &mut Tree, changes: &BTreeMap<Hash, Option<Hash>>) -> Hash {
    let before = tree.root();
    let (root, delta) = tree.preview(changes);
    assert_eq!(tree.root(), before, "a preview modified the tree");
    assert_eq!(delta.root(), root);
    assert_eq!(tree.commit(delta), Ok(()));
    assert_eq!(tree.root(), root);
    root
}

proptest! {
    #[test]
    fn batches_of_changes_lead_to_the_specified_root(
        start in map(),
        batches in prop::collection::vec(
            prop::collection::btree_map(key(), prop::option::of(value()), 0..12), 0..8),
    ) {
        let (mut map, mut tree) = (start.clone(), Tree::build(&start));
        prop_assert_eq!(tree.root(), oracle_root(&map));
        for changes in batches {
            for (key, value) in &changes {
                match value {
                    Some(value) => map.insert(*key, *value),
                    None => map.remove(key),
                };
            }
            prop_assert_eq!(step(&mut tree, &changes), oracle_root(&map));
            for key in changes.keys().chain(start.keys()) {
                prop_assert_eq!(tree.get(key), map.get(key).copied());
            }
        }
        prop_assert_eq!(tree, Tree::build(&map));
    }

    #[test]
    fn the_order_of_insertion_leaves_no_trace(
        leaves in map().prop_map(|map| map.into_iter().collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut tree = Tree::new();
        for (key, value) in &leaves {
            step(&mut tree, &BTreeMap::from([(*key, Some(*value))]));
        }
        prop_assert_eq!(tree.root(), oracle_root(&leaves.into_iter().collect()));
    }

    #[test]
    fn removal_restores_the_earlier_roots(leaves in map()) {
        let mut tree = Tree::new();
        let mut roots = vec![tree.root()];
        for (key, value) in &leaves {
            roots.push(step(&mut tree, &BTreeMap::from([(*key, Some(*value))])));
        }
        for key in leaves.keys().rev() {
            prop_assert_eq!(Some(tree.root()), roots.pop());
            step(&mut tree, &BTreeMap::from([(*key, None)]));
        }
        prop_assert_eq!(tree.root(), EMPTY);
    }

    #[test]
    fn proofs_show_what_the_tree_holds_and_nothing_else(map in map(), asked in key()) {
        let tree = Tree::build(&map);
        let root = tree.root();
        for key in map.keys().chain([&asked]) {
            let proof = tree.prove(key);
            let held = map.get(key);
            prop_assert_eq!(proof.verify(&root, key, held), Ok(()));
            let other = [9; 32];
            match held {
                Some(_) => {
                    prop_assert_eq!(proof.verify(&root, key, None), Err(ProofError::Present));
                    let wrong = proof.verify(&root, key, Some(&other));
                    prop_assert_eq!(wrong, Err(ProofError::OtherValue));
                }
                None => {
                    let wrong = proof.verify(&root, key, Some(&other));
                    prop_assert_eq!(wrong, Err(ProofError::Absent));
                }
            }
            prop_assert!(proof.verify(&other, key, held).is_err());
        }
    }

    #[test]
    fn every_altered_proof_fails(
        map in map(), asked in key(), at in any::<prop::sample::Index>(), mask in 1..=255u8,
    ) {
        let tree = Tree::build(&map);
        let (root, held, proof) = (tree.root(), map.get(&asked), tree.prove(&asked));
        let fails = |forged: &Proof| forged.verify(&root, &asked, held).is_err();

        let mut packed = proof.clone();
        let mut targets: Vec<&mut u8> = packed.siblings.iter_mut().flatten().collect();
        if let Some(leaf) = &mut packed.leaf {
            targets.extend(leaf.key.iter_mut().chain(&mut leaf.value));
        }
        if !targets.is_empty() {
            let at = at.index(targets.len());
            *targets[at] ^= mask;
            prop_assert!(fails(&packed), "byte {} changed", at);
        }

        let mut longer = proof.clone();
        longer.siblings.push(EMPTY);
        prop_assert!(fails(&longer), "one more sibling");
        let mut shorter = proof.clone();
        if shorter.siblings.pop().is_some() {
            prop_assert!(fails(&shorter), "one sibling less");
        }
        let leafless = Proof { leaf: None, ..proof.clone() };
        prop_assert!(proof.leaf.is_none() || fails(&leafless), "leaf taken away");
        let own = ProofLeaf { key: asked, value: [1; 32] };
        let with_leaf = Proof { leaf: Some(own), ..proof.clone() };
        prop_assert!(with_leaf == proof || fails(&with_leaf), "leaf made up");
    }

    #[test]
    fn no_proof_makes_the_verifier_panic(
        siblings in prop::collection::vec(any::<Hash>(), 0..300),
        leaf in prop::option::of((key(), value())),
        root in any::<Hash>(), asked in key(), claim in prop::option::of(value()),
    ) {
        let leaf = leaf.map(|(key, value)| ProofLeaf { key, value });
        let proof = Proof { siblings, leaf };
        prop_assert!(proof.verify(&root, &asked, claim.as_ref()).is_err());
    }
}

#[test]
fn keys_that_differ_in_the_last_bit_make_the_deepest_path() {
    let (low, mut high) = ([0; 32], [0; 32]);
    high[31] = 1;
    let map = Map::from([(low, [1; 32]), (high, [2; 32])]);
    let tree = Tree::build(&map);
    assert_eq!(tree.root(), oracle_root(&map));

    let proof = tree.prove(&high);
    assert_eq!(proof.siblings.len(), MAX_DEPTH);
    assert_eq!(proof.verify(&tree.root(), &high, Some(&[2; 32])), Ok(()));

    let mut too_deep = proof;
    too_deep.siblings.push(EMPTY);
    let refused = too_deep.verify(&tree.root(), &high, Some(&[2; 32]));
    assert_eq!(refused, Err(ProofError::TooDeep { steps: 257 }));
}

#[test]
fn a_leaf_elsewhere_does_not_prove_absence() {
    let (left, right, asked) = ([0; 32], [0xff; 32], [0x80; 32]);
    let tree = Tree::build(&Map::from([
        (left, [1; 32]),
        (right, [2; 32]),
        (asked, [3; 32]),
    ]));
    let elsewhere = tree.prove(&left);
    assert_eq!(
        elsewhere.verify(&tree.root(), &left, Some(&[1; 32])),
        Ok(())
    );
    assert_eq!(
        elsewhere.verify(&tree.root(), &asked, None),
        Err(ProofError::OffPath)
    );
}

#[test]
fn a_delta_fits_only_the_tree_it_came_from() {
    let mut tree = Tree::new();
    let first = BTreeMap::from([([1; 32], Some([1; 32]))]);
    let (_, delta) = tree.preview(&first);
    let late = delta.clone();
    tree.commit(delta).unwrap();
    let root = tree.root();
    assert_eq!(
        tree.commit(late),
        Err(StaleDelta {
            expected: EMPTY,
            found: root
        })
    );
    assert_eq!(tree.root(), root);
}

#[test]
fn the_roots_of_small_maps_are_pinned() {
    let hex = |hash: Hash| {
        hash.iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let one = Map::from([([1; 32], [2; 32])]);
    let two = Map::from([([1; 32], [2; 32]), ([0x81; 32], [3; 32])]);
    assert_eq!(
        hex(Tree::build(&one).root()),
        "7b676fa71c1f8da6227f6d56436883dd27afe06d7a54a1bc8da630d504e6754a"
    );
    assert_eq!(
        hex(Tree::build(&two).root()),
        "799bec62ec8a38e3067e3ebbc0393fb855b2c567f0b9b5c391c0b5cfa1f57a8a"
    );
}
