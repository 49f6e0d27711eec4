//! The state tree against a plain map.

use crate::mutate;
use crate::reader::Reader;
use crate::{Target, Verdict, machine};
use gridbay_ledger::tree::{Hash, Tree};
use std::collections::BTreeMap;

pub(crate) const STATE_TREE: Target = machine(
    "state_tree",
    "changes chosen by the bytes: the tree equals one built from a plain map, and proves what the map says",
    state_tree,
    || mutate::tapes(20, 120),
    300,
);

/// A key out of few, many of which agree in their first bits.
fn key(reader: &mut Reader<'_>) -> Hash {
    let mut key = [0; 32];
    key[0] = reader.byte() & 0b1100_0000;
    key[reader.below(32)] = reader.byte() & 0b0001_0001;
    key
}

fn state_tree(bytes: &[u8]) -> Verdict {
    let reader = &mut Reader::new(bytes);
    let (mut tree, mut map) = (Tree::new(), BTreeMap::<Hash, Hash>::new());
    while !reader.is_empty() {
        let mut changes = BTreeMap::new();
        for _ in 0..=reader.below(8) {
            let value = (!reader.once_in(3)).then(|| [reader.byte(); 32]);
            changes.insert(key(reader), value);
        }
        for (key, value) in &changes {
            match value {
                Some(value) => map.insert(*key, *value),
                None => map.remove(key),
            };
        }
        let (root, delta) = tree.preview(&changes);
        let stale = delta.clone();
        tree.commit(delta).expect("previewed on this tree");
        assert_eq!((tree.root(), &tree), (root, &Tree::build(&map)));
        let moved = stale.root() != tree.root() || tree.commit(stale).is_err();
        assert!(
            moved || tree.root() == root,
            "a stale delta changes nothing"
        );
    }
    for asked in map
        .keys()
        .copied()
        .chain([key(reader), [0xff; 32], [1; 32]])
    {
        let held = map.get(&asked);
        assert_eq!(tree.get(&asked).as_ref(), held);
        let proof = tree.prove(&asked);
        assert_eq!(proof.verify(&tree.root(), &asked, held), Ok(()));
        let other = held.map_or([7; 32], |value| value.map(|byte| !byte));
        let absent = proof.verify(&tree.root(), &asked, None);
        assert_eq!(absent.is_ok(), held.is_none());
        assert!(proof.verify(&tree.root(), &asked, Some(&other)).is_err());
    }
    Verdict::of(!map.is_empty())
}
