//! Proofs for strangers: headers with certificates, and facts under a header's roots.

use crate::ledgers::{Decided, Ledger};
use crate::{Target, Verdict, decoder, machine};
use gridbay_ledger::log::{self, InclusionProof, Log};
use gridbay_ledger::tree::Proof;
use gridbay_ledger::{light, record_key};
use gridbay_protocol::block::Header;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{BlockId, EntryId, Hash32};
use gridbay_protocol::vote::Certificate;
use serde::{Deserialize, Serialize};

pub(crate) const TREE_PROOF: Target = decoder(
    "tree_proof",
    "bytes as (key, value, proof) about a known state: only the truth verifies, by one proof",
    tree_proof,
    tree_claims,
);
pub(crate) const LIGHT_HEADERS: Target = machine(
    "light_headers",
    "bytes as headers with certificates: a follower ends up on the chain that was decided",
    light_headers,
    || {
        let all = chain()
            .iter()
            .map(|b| (b.header.clone(), b.certificate.clone()));
        let all: Vec<_> = all.collect();
        [1, 2, 5]
            .map(|n| codec::encode(&all[..n].to_vec()))
            .to_vec()
    },
    400,
);
pub(crate) const LIGHT_FACTS: Target = decoder(
    "light_facts",
    "bytes as a fact with its proof (an effect, an entry, an ancestor): only what happened verifies",
    light_facts,
    || facts().iter().map(codec::encode).collect(),
);

const BYTES_MAX: usize = 256 * 1024;

fn chain() -> &'static [Decided] {
    &Ledger::busy_ref().blocks
}

fn tree_claims() -> Vec<Vec<u8>> {
    let state = &Ledger::busy_ref().state;
    let accounts = state.accounts().map(|(id, _)| record_key("accounts", id));
    let orders = state.orders().map(|(id, _)| record_key("orders", id));
    let absent = record_key("orders", &Hash32([9; 32]));
    let claim = |key: [u8; 32]| {
        let proof = state.prove(&key);
        let held = proof.leaf.as_ref().filter(|leaf| leaf.key == key);
        let value = held.map(|leaf| Hash32(leaf.value));
        codec::encode(&(Hash32(key), value, proof))
    };
    accounts.chain(orders).chain([absent]).map(claim).collect()
}

fn tree_proof(bytes: &[u8]) -> Verdict {
    let state = &Ledger::busy_ref().state;
    let Ok((key, value, proof)) =
        codec::decode::<(Hash32, Option<Hash32>, Proof)>(bytes, BYTES_MAX)
    else {
        return Verdict::Refused;
    };
    let value = value.map(|value| value.0);
    if proof
        .verify(&state.root().0, &key.0, value.as_ref())
        .is_err()
    {
        return Verdict::Refused;
    }
    let truth = state.prove(&key.0);
    let held = truth.leaf.as_ref().filter(|leaf| leaf.key == key.0);
    assert_eq!(held.map(|leaf| leaf.value), value);
    assert_eq!(proof, truth);
    Verdict::Accepted
}

fn light_headers(bytes: &[u8]) -> Verdict {
    let genesis = crate::ledgers::genesis(crate::ledgers::MEMBERS);
    let mut follower = light::Follower::new(&genesis).expect("the genesis has validators");
    let Ok(steps) = codec::decode::<Vec<(Header, Certificate)>>(bytes, BYTES_MAX) else {
        return Verdict::Refused;
    };
    for (header, certificate) in &steps {
        let height = follower.height();
        match follower.follow(header, certificate) {
            Ok(()) => {
                let decided = &chain()[height as usize];
                assert_eq!(*header, decided.header, "a header that nobody decided");
                assert_eq!(follower.header(), Some(header));
                assert!(certificate.signatures.len() >= 3);
            }
            Err(_) => assert_eq!(follower.height(), height, "it stays where it is"),
        }
    }
    Verdict::of(follower.height() > 0)
}

/// A fact about the block of a height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Fact {
    Effect {
        height: u64,
        effect: Effect,
        index: u64,
        count: u64,
        proof: InclusionProof,
    },
    Entry {
        height: u64,
        id: EntryId,
        index: u64,
        count: u64,
        proof: InclusionProof,
    },
    Ancestor {
        height: u64,
        block: BlockId,
        below: u64,
        proof: InclusionProof,
    },
}

fn leaves(block: &Decided) -> Vec<log::Hash> {
    block.effects.iter().map(Effect::leaf).collect()
}
fn ids(block: &Decided) -> Vec<log::Hash> {
    block.entries.iter().map(|id| id.0).collect()
}
fn ancestors(height: u64) -> Log {
    let below = chain().iter().take(height.saturating_sub(1) as usize);
    below.map(|block| block.header.id().0).collect()
}

/// Three facts of every block that has them.
fn facts() -> Vec<Fact> {
    let mut facts = Vec::new();
    for block in chain() {
        let height = block.header.height;
        if let Some(effect) = block.effects.last() {
            let count = block.effects.len() as u64;
            facts.push(Fact::Effect {
                height,
                effect: effect.clone(),
                index: count - 1,
                count,
                proof: log::prove_in_list(&leaves(block), count - 1).expect("in the list"),
            });
        }
        if let Some(id) = block.entries.first() {
            facts.push(Fact::Entry {
                height,
                id: *id,
                index: 0,
                count: block.entries.len() as u64,
                proof: log::prove_in_list(&ids(block), 0).expect("in the list"),
            });
        }
        if height > 1 {
            let below = height / 2;
            let log = ancestors(height);
            facts.push(Fact::Ancestor {
                height,
                block: chain()[below as usize - 1].header.id(),
                below,
                proof: log.inclusion_proof(below - 1, log.len()).expect("below"),
            });
        }
    }
    facts
}

fn light_facts(bytes: &[u8]) -> Verdict {
    let Ok(fact) = codec::decode::<Fact>(bytes, BYTES_MAX) else {
        return Verdict::Refused;
    };
    let (Fact::Effect { height, .. } | Fact::Entry { height, .. } | Fact::Ancestor { height, .. }) =
        fact;
    let place = height.checked_sub(1).and_then(|i| usize::try_from(i).ok());
    let Some(decided) = place.and_then(|i| chain().get(i)) else {
        return Verdict::Refused;
    };
    let header = &decided.header;
    let shown = match &fact {
        Fact::Effect {
            effect,
            index,
            count,
            proof,
            ..
        } => {
            let shown = light::effect(header, effect, *index, *count, proof).is_ok();
            let held = || decided.effects.get(*index as usize) == Some(effect);
            assert!(!shown || held() && decided.effects.len() as u64 == *count);
            shown
        }
        Fact::Entry {
            id,
            index,
            count,
            proof,
            ..
        } => {
            let shown = light::entry(header, id, *index, *count, proof).is_ok();
            let held = || decided.entries.get(*index as usize) == Some(id);
            assert!(!shown || held() && decided.entries.len() as u64 == *count);
            shown
        }
        Fact::Ancestor {
            block,
            below,
            proof,
            ..
        } => {
            let shown = light::ancestor(header, block, *below, proof).is_ok();
            assert!(
                !shown || *below < height && chain()[*below as usize - 1].header.id() == *block
            );
            shown
        }
    };
    Verdict::of(shown)
}
