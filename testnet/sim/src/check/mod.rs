//! Checkers: one invariant each, looking at every event. None of them calls the code that it
//! checks.
//!
//! A checker is a file and a line in [`all`].

mod ahead;
mod fact;
mod i01_conservation;
mod i02_agreement;
mod i03_append_only;
mod i04_exactly_once;
mod i05_buys;
mod i05_clearing;
mod i06_inclusion;
mod i07_secrecy;
mod i08_exclusive;
mod i09_one_statement;
mod i10_evidence;
mod i11_bounds;
mod i11_budgets;
mod i12_liveness;
mod i13_recovery;
mod i14_determinism;
mod i16_books;
mod i16_contracts;
mod i16_delivery;
mod i16_plans;
mod i17_pace;
mod i18_beacon;
pub mod judge;
mod naive;
mod pools;

pub use fact::Fact;
pub use i14_determinism::same;

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
    /// An honest node decided a height that no honest node had decided before. Comes once for every
    /// height, in order, before the [`Sight::Decided`] of that node.
    Block(&'a Fact),
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
    /// Its id: `I1` to `I18`.
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

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{id} broken after {at} ms: {what}")]
pub struct Broken {
    /// The invariant.
    pub id: &'static str,
    /// World time in milliseconds.
    pub at: u64,
    /// The breach, in words.
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
    vec![
        Box::<i01_conservation::Conservation>::default(),
        Box::<i02_agreement::Agreement>::default(),
        Box::<i03_append_only::AppendOnly>::default(),
        Box::<i04_exactly_once::ExactlyOnce>::default(),
        Box::<i05_clearing::Clearing>::default(),
        Box::<i05_buys::Buys>::default(),
        Box::<i06_inclusion::Inclusion>::default(),
        Box::<i07_secrecy::Secrecy>::default(),
        Box::<i08_exclusive::Exclusive>::default(),
        Box::<i09_one_statement::OneStatement>::default(),
        Box::<i10_evidence::Convictions>::default(),
        Box::<i11_bounds::Bounds>::default(),
        Box::<i11_budgets::Budgets>::default(),
        Box::<i12_liveness::Liveness>::default(),
        Box::<i13_recovery::Recovery>::default(),
        Box::<i16_books::Books>::default(),
        Box::<i16_contracts::Contracts>::default(),
        Box::<i16_delivery::Delivery>::default(),
        Box::<i16_plans::Plans>::default(),
        Box::<i17_pace::LongRun>::default(),
        Box::<i18_beacon::Reveals>::default(),
    ]
}
