//! What occurred: faults by kind, and which inputs, effects and refusals were ever seen.
//!
//! A generator that never makes something happen tests nothing about it, so a batch in which a variant
//! never occurs is red.

use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_ledger::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A name for each variant, complete by the compiler's word, and the list of all of them.
macro_rules! variants {
    ($all:ident, $name:ident, $type:ident: $($variant:ident),+ $(,)?) => {
        /// All variants.
        pub const $all: &[&str] = &[$(stringify!($variant)),+];
        /// Name of a variant.
        pub fn $name(item: &$type) -> &'static str {
            match item { $($type::$variant { .. } => stringify!($variant)),+ }
        }
    };
}

variants!(INPUTS, input_name, Input:
    Start, Tick, PeerUp, PeerDown, Host, Advert, Asked, Answered, Command, Staged, JobPhase, Fetched,
);
variants!(EFFECTS, effect_name, Effect:
    WakeAt, Broadcast, Send, Penalise, Gossip, Judge, Ask, Answer, Report, ReadOutput, Stage, StartJob,
    StopJob, RemoveJob, SaveOrder, AppendOutput, ResetOutput, FetchOutputs, KeepFiles, Reply, Decided,
);
variants!(REFUSALS, refusal_name, Refusal:
    Expired, Window, Used, NoAccount, Role, KeyTaken, Funds, Overflow, TokenUsed, Grant, AccountQuota,
    NotMember, NoValidator, NoClass, NoOffer, OfferClass, OfferQuota, ClassUnits, NoOrder, OrderQuota,
    AllOrNoneQuota, SealedAlready, OpeningTime, NotSealed, Seal, Budget, Standing, Sealed, Exiting,
    Closing, NoLease, NothingToDeliver, FirmSlots, NothingToAppeal, OpeningLapsed, OpeningUnfunded, ReceiptLate, Receipts, ReceiptPower, BlockFull,
);

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// How often each kind of thing happened.
    pub counts: BTreeMap<&'static str, u64>,
    /// Variants seen.
    pub seen: BTreeSet<&'static str>,
}

impl Cover {
    /// Counts something.
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
    /// Notes an input.
    pub fn input(&mut self, input: &Input) {
        self.seen.insert(input_name(input));
    }
    /// Notes an effect.
    pub fn effect(&mut self, effect: &Effect) {
        self.seen.insert(effect_name(effect));
    }
    /// Notes a refusal.
    pub fn refusal(&mut self, refusal: &Refusal) {
        self.seen.insert(refusal_name(refusal));
    }
    /// Adds another world's.
    pub fn add(&mut self, other: &Cover) {
        for (what, count) in &other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.seen.extend(&other.seen);
    }
    /// Variants that never occurred.
    pub fn missing(&self) -> Vec<&'static str> {
        let all = [INPUTS, EFFECTS, REFUSALS].concat();
        all.into_iter()
            .filter(|name| !self.seen.contains(name))
            .collect()
    }
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in &self.counts {
            writeln!(f, "{count:>9}  {what}")?;
        }
        Ok(())
    }
}
