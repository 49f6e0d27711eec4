//! Checkers: one invariant each, looking at every event. None of them calls the code that it checks.
//!
//! A checker is a file and a line in [`all`].

mod i02_agreement;

use crate::world::World;
use gridbay_core::effect::Effect;
use gridbay_protocol::ids::BlockId;

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
    },
}

/// An invariant that looks for its own breach.
pub trait Check {
    /// Its id in the design: `I1` to `I16`.
    fn id(&self) -> &'static str;
    /// Looks at an event.
    ///
    /// # Errors
    /// What is wrong.
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String>;
    /// Looks back at the whole, at the end of the calm.
    ///
    /// # Errors
    /// What is wrong.
    fn end(&mut self, _world: &World) -> Result<(), String> {
        Ok(())
    }
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{id} broken after {at} ms: {what}")]
pub struct Broken {
    /// The invariant.
    pub id: &'static str,
    /// World time in milliseconds.
    pub at: u64,
    /// What was seen.
    pub what: String,
}

impl Broken {
    /// A breach.
    pub fn new(id: &'static str, at: u64, what: String) -> Broken {
        Broken { id, at, what }
    }
}

/// All checkers, fresh.
pub fn all() -> Vec<Box<dyn Check>> {
    vec![Box::<i02_agreement::Agreement>::default()]
}
