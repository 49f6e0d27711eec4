//! Checkers, and the events that they see.

use super::Fact;
use crate::world::World;
use gridbay_core::effect::Effect;
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// Something that happened, as checkers see it. Effects of liars are shown as well: look at
/// [`crate::world::Machine::is_honest`].
#[derive(Debug)]
pub enum Sight<'a> {
    /// A node took a step; its effects are about to be performed.
    Step {
        /// The node.
        node: usize,
        /// Height of its ledger before.
        before: u64,
        /// Its effects.
        effects: &'a [Effect],
    },
    /// An honest node decided a height that no honest node had decided before. Comes once for every
    /// height, in order, before the [`Sight::Decided`] of that node.
    Block(&'a Fact),
    /// A user without a node hands in an entry at one whose ledger admits it at its next height.
    Handed {
        /// The node.
        node: usize,
        /// The entry.
        entry: &'a Arc<Authentic>,
    },
    /// A node says that a block was decided and is durable.
    Decided {
        /// The node.
        node: usize,
        /// Height.
        height: u64,
        /// The block.
        block: BlockId,
    },
    /// A node's process ended.
    Down {
        /// The node.
        node: usize,
    },
    /// A node's process started; it has taken no step yet.
    Up {
        /// The node.
        node: usize,
        /// Whether its disk was empty.
        fresh: bool,
    },
    /// An honest node is about to take a message of a liar.
    Heard {
        /// The node.
        node: usize,
        /// The liar.
        liar: usize,
        /// The message.
        bytes: &'a [u8],
    },
}

/// An invariant that looks for its own breach.
pub trait Check {
    /// Its id: `I1` to `I22`.
    fn id(&self) -> &'static str;
    /// Looks at an event.
    ///
    /// # Errors
    /// The breach, in words.
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String>;
    /// Looks back at the whole, at the end of the calm.
    ///
    /// # Errors
    /// The breach, in words.
    fn end(&mut self, _world: &World) -> Result<(), String> {
        Ok(())
    }
}
