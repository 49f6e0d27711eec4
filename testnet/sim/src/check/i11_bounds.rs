//! I11: queues, maps and bytes per peer stay within `limits`.
//!
//! Every [`EVENTS`] steps the sizes of the node that stepped are compared with the bounds that its
//! packages publish, and no message that it says is larger than its kind may be.

use super::{Check, Sight};
use crate::world::World;
use gridbay_core::Core;
use gridbay_core::adverts::ADVERTS;
use gridbay_core::effect::Effect;
use gridbay_host::{Sizes, limits};

/// Steps between two looks.
const EVENTS: u64 = 100;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    steps: u64,
}

/// The first size beyond its bound.
fn beyond(sizes: &Sizes, adverts: usize) -> Option<(&'static str, usize, usize)> {
    let all = [
        (
            "entries in the mempool",
            sizes.mempool,
            limits::MEMPOOL_ENTRIES,
        ),
        ("early messages", sizes.early, limits::EARLY_MESSAGES),
        ("bodies", sizes.bodies, limits::BODIES),
        ("bytes of bodies", sizes.body_bytes, limits::BODIES_BYTES),
        (
            "proposals of a round",
            sizes.proposals,
            limits::PROPOSALS_PER_ROUND,
        ),
        ("items of evidence", sizes.evidence, limits::EVIDENCE),
        ("connected peers", sizes.connected, limits::PEERS),
        ("known peers", sizes.known, limits::PEERS),
        ("open requests", sizes.requests, limits::PEERS),
        ("adverts", adverts, ADVERTS),
    ];
    all.into_iter().find(|(_, size, bound)| size > bound)
}

fn look(node: usize, core: &Core) -> Result<(), String> {
    let adverts = core.adverts().live(core.state()).count();
    match beyond(&core.host().sizes(), adverts) {
        Some((what, size, bound)) => Err(format!("node {node} holds {size} {what} of {bound}")),
        None => Ok(()),
    }
}

/// Whether a message is larger than any kind may be.
fn is_too_large(effect: &Effect) -> bool {
    match effect {
        Effect::Broadcast { bytes } | Effect::Send { bytes, .. } => {
            bytes.len() > limits::SYNC_MESSAGE_BYTES
        }
        _ => false,
    }
}

impl Check for Bounds {
    fn id(&self) -> &'static str {
        "I11"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Step { node, effects, .. } = sight else {
            return Ok(());
        };
        if !world.machines[*node].is_honest() {
            return Ok(());
        }
        if effects.iter().any(is_too_large) {
            return Err(format!("node {node} says too large a message"));
        }
        self.steps += 1;
        match world.core(*node) {
            Some(core) if self.steps.is_multiple_of(EVENTS) => look(*node, core),
            _ => Ok(()),
        }
    }
    fn end(&mut self, world: &World) -> Result<(), String> {
        let cores = world.honest().filter_map(|n| Some((n, world.core(n)?)));
        cores.into_iter().try_for_each(|(n, core)| look(n, core))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_its_bound_is_reported() {
        assert_eq!(beyond(&Sizes::default(), 0), None);
        let early = Sizes {
            early: limits::EARLY_MESSAGES + 1,
            ..Sizes::default()
        };
        assert!(beyond(&early, 0).is_some());
        let full = Sizes {
            evidence: limits::EVIDENCE,
            ..Sizes::default()
        };
        assert_eq!(beyond(&full, 0), None);
        assert!(beyond(&full, ADVERTS + 1).is_some());
        let bytes = vec![0; limits::SYNC_MESSAGE_BYTES + 1];
        assert!(is_too_large(&Effect::Send { to: [0; 32], bytes }));
    }
}
