//! Occurrences: faults by kind, deeds of users, and the variants of the product's types that were
//! ever seen.
//!
//! A generator that never makes something happen tests nothing about it, so a batch in which a
//! variant never occurs is red. [`UNREACHED`] lists the variants that cannot occur in such a world,
//! with the reason. The batch is red as well if one of these does occur, so the list stays true.

mod kinds;
mod summary;

pub use kinds::{DEEDS, FAULTS, KINDS};
pub(crate) use kinds::{effect_name, input_name};

use crate::liar::LIES;
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_ledger::Refusal;
use gridbay_protocol::block::Block;
use gridbay_protocol::effect::Effect as LedgerEffect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::record::contract::ContractEvent;
use std::collections::BTreeMap;

/// Variants that no world reaches: the type, the variant, the reason.
pub const UNREACHED: &[(&str, &str, &str)] = &[
    (
        "Refusal",
        "AllOrNoneQuota",
        "takes 512 opened bids of one class, of 32 accounts with 16 each",
    ),
    (
        "Refusal",
        "PoolFull",
        "takes 128 claims of as many accounts on one pool",
    ),
    (
        "Refusal",
        "BlockFull",
        "only a proposer says it, of the 2,001st entry that waits",
    ),
];

/// Variants that a batch may see or not, and deeds: the type, the variant, the reason.
pub const RARE: &[(&str, &str, &str)] = &[
    (
        "EntryBody",
        "Appeal",
        "no opening that its owner has receipts for is left out while few lie",
    ),
    ("OrderEnd", "Excused", "as the appeal that leads to it"),
    (
        "Market",
        "Hint",
        "takes reservations among which the rule misses the best",
    ),
    (
        "OrderEnd",
        "Lapsed",
        "takes an order that ends between the commitment of its amendment and the opening",
    ),
    (
        "Refusal",
        "NotABid",
        "takes a client with a live buy who amends it as if it were a bid",
    ),
    (
        "Refusal",
        "Reshaped",
        "takes a client with a live bid who amends more than its price",
    ),
    (
        "Refusal",
        "Spent",
        "takes an order that pays between the commitment of its amendment and the opening",
    ),
    (
        "Reason",
        "Cancellation",
        "takes a cancellation in the few slots between a booking and its beginning",
    ),
    (
        "Reason",
        "Arrears",
        "takes an account that freezes more than it leaves free when a tax falls due",
    ),
    (
        "Refusal",
        "BeaconWaits",
        "takes a liar that grinds beacons and registers twice",
    ),
    (
        "OrderEnd",
        "Evicted",
        "takes a class all bought, and somebody who offers enough to evict",
    ),
    (
        "Refusal",
        "JobQuota",
        "takes four live jobs of one account at one offer, or twelve of all",
    ),
    (
        "Refusal",
        "OpeningUnfunded",
        "takes an appeal whose opening was lost for other reasons than money",
    ),
    (
        "Refusal",
        "EntryBudget",
        "takes a user who asks his node for more than an epoch's entries",
    ),
    (
        "Refusal",
        "Unopened",
        "takes a client who cancels a bid while another one is to be opened",
    ),
    (
        "Refusal",
        "Seat",
        "takes an invited account that invites further than policy lets it",
    ),
    (
        "Refusal",
        "ComplaintQuota",
        "takes a user with four complaints in an epoch, and a leased slot for one more",
    ),
    (
        "Command",
        "CloseAccount",
        "takes an owner who leaves with nothing open",
    ),
    (
        "Deed",
        "contract closed",
        "takes an owner who is a client under contract when the draw falls on its node",
    ),
];

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// How often each fault happened, by kind.
    pub counts: BTreeMap<&'static str, u64>,
    /// How often users did what.
    pub deeds: BTreeMap<&'static str, u64>,
    /// How often liars lied, by lie.
    pub lies: BTreeMap<&'static str, u64>,
    /// How often a variant was seen, by type and variant.
    pub seen: BTreeMap<(&'static str, &'static str), u64>,
}

impl Cover {
    /// Counts a fault, or the world's result of one.
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
    /// Counts a user's deed.
    pub fn deed(&mut self, what: &'static str) {
        *self.deeds.entry(what).or_default() += 1;
    }
    /// Counts how often the liars of a world lied.
    pub fn lied(&mut self, lie: &str, times: u64) {
        if let Some(kind) = LIES.iter().find(|kind| kind.name == lie) {
            *self.lies.entry(kind.name).or_default() += times;
        }
    }
    fn see(&mut self, kind: &'static str, variant: &'static str) {
        *self.seen.entry((kind, variant)).or_default() += 1;
    }
    /// Notes an input.
    pub fn input(&mut self, input: &Input) {
        self.see("Input", input_name(input));
        if let Input::Command { command, .. } = input {
            self.see("Command", kinds::command_name(command));
        }
    }
    /// Notes an effect.
    pub fn effect(&mut self, effect: &Effect) {
        self.see("Effect", effect_name(effect));
    }
    /// Notes a refusal.
    pub fn refusal(&mut self, refusal: &Refusal) {
        self.see("Refusal", kinds::refusal_name(refusal));
    }
    /// Notes the entries of a decided block.
    pub fn block(&mut self, block: &Block) {
        for signed in &block.entries {
            self.see("EntryBody", kinds::entry_name(&signed.entry.body));
            if let EntryBody::Contract(word) = &signed.entry.body {
                self.see("ContractEntry", kinds::contract_word_name(word));
            }
        }
    }
    /// Notes the effects of a decided block.
    pub fn posted(&mut self, effect: &LedgerEffect) {
        match effect {
            LedgerEffect::Posting(posting) => {
                self.see("Reason", kinds::reason_name(&posting.reason))
            }
            LedgerEffect::Order { end, .. } => self.see("OrderEnd", kinds::order_end_name(end)),
            LedgerEffect::Lease(event) => {
                self.see("LeaseEvent", kinds::lease_event_name(event));
                if let LeaseEvent::Ended { end, .. } = event {
                    self.see("LeaseEnd", kinds::lease_end_name(end));
                }
            }
            LedgerEffect::Clearing(record) => {
                self.see("ClearingKind", kinds::clearing_kind_name(&record.kind));
                self.see("Rule", kinds::rule_name(&record.policy.rule));
                if !record.held.is_empty() {
                    self.see("Market", "HeldFirst");
                }
                if record.awards.len() < record.bids.len() && !record.awards.is_empty() {
                    self.see("Market", "ContestedClearing");
                }
            }
            LedgerEffect::Contract(event) => {
                self.see("ContractEvent", kinds::contract_event_name(event));
                if let ContractEvent::Decided(job) = event {
                    self.see("Market", if job.done { "JobDone" } else { "JobFailed" });
                }
            }
            LedgerEffect::Reservation(record) => {
                let won = !record.booked.is_empty();
                self.see("Market", if won { "Booking" } else { "Passover" });
                if record.beaten.is_some() {
                    self.see("Market", "Hint");
                }
            }
            LedgerEffect::Buy(record) => {
                if record.parts.len() > 1 {
                    self.see("Market", "Group");
                }
                let displaced = record.displaced().next().is_some();
                let name = if displaced { "Preemption" } else { "Purchase" };
                self.see("Market", name);
            }
            LedgerEffect::Planning(_) => self.see("Market", "Planning"),
            LedgerEffect::Sharing(record) if record.claims.len() > 1 => {
                self.see("Market", "ContestedPool")
            }
            LedgerEffect::Posted(record) => {
                let name = match (record.served.len(), record.bids.len()) {
                    (0, _) => "HiredOut",
                    (served, bids) if served < bids => "HiredInPart",
                    _ => "Hired",
                };
                self.see("Market", name);
            }
            _ => {}
        }
    }
    /// Adds another world's.
    pub fn add(&mut self, other: &Cover) {
        for (what, count) in &other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        for (what, count) in &other.deeds {
            *self.deeds.entry(what).or_default() += count;
        }
        for (lie, count) in &other.lies {
            *self.lies.entry(lie).or_default() += count;
        }
        for (variant, count) in &other.seen {
            *self.seen.entry(*variant).or_default() += count;
        }
    }
    /// Things that should have occurred and never did: variants as `Type::Variant`, deeds of users
    /// as `Deed::`, faults as `Fault::` and lies as `Lie::` with their names.
    pub fn missing(&self) -> Vec<String> {
        let all = KINDS.iter();
        let all = all.flat_map(|(kind, variants)| variants.iter().map(|v| (*kind, *v)));
        let unseen = all
            .filter(|variant| !is_listed(UNREACHED, variant) && !is_listed(RARE, variant))
            .filter(|variant| !self.seen.contains_key(variant))
            .map(|(kind, variant)| format!("{kind}::{variant}"));
        let undone = DEEDS.iter().filter(|what| !self.deeds.contains_key(*what));
        let undone = undone.filter(|what| !is_listed(RARE, &("Deed", what)));
        let undone = undone.map(|what| format!("Deed::{what}"));
        let faults = FAULTS
            .iter()
            .filter(|what| !self.counts.contains_key(*what));
        let faults = faults.map(|what| format!("Fault::{what}"));
        let all = unseen.chain(undone).chain(faults);
        all.chain(self.untold()).collect()
    }
    /// Lies that nobody told.
    fn untold(&self) -> impl Iterator<Item = String> {
        let told = |name: &str| self.lies.get(name).is_some_and(|times| *times > 0);
        let untold = LIES.iter().filter(move |kind| !told(kind.name));
        untold.map(|kind| format!("Lie::{}", kind.name))
    }
    /// Variants of [`UNREACHED`] that occurred all the same, and deeds that are not of [`DEEDS`].
    pub fn unexpected(&self) -> Vec<String> {
        let occurred = self.seen.keys().filter(|v| is_listed(UNREACHED, v));
        let occurred = occurred.map(|(kind, variant)| format!("{kind}::{variant}"));
        let unknown = self.deeds.keys().filter(|what| !DEEDS.contains(what));
        let unknown = unknown.map(|what| format!("Deed::{what}"));
        occurred.chain(unknown).collect()
    }
}

fn is_listed(list: &[(&str, &str, &str)], (kind, variant): &(&str, &str)) -> bool {
    list.iter().any(|(k, v, _)| k == kind && v == variant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unreached_is_a_variant_and_neither_missing_nor_welcome() {
        let mut cover = Cover::default();
        for (kind, variant, _) in UNREACHED {
            let variants = KINDS.iter().find(|(k, _)| k == kind).map(|(_, all)| *all);
            assert!(
                variants.is_some_and(|all| all.contains(variant)),
                "{variant}"
            );
            assert!(!cover.missing().contains(&format!("{kind}::{variant}")));
        }
        assert!(cover.missing().contains(&"Refusal::Funds".to_owned()));
        cover.refusal(&Refusal::BlockFull(7));
        assert_eq!(cover.unexpected(), ["Refusal::BlockFull"]);
    }

    #[test]
    fn deeds_and_lies_that_never_happen_are_missing() {
        let mut cover = Cover::default();
        let lacks = |cover: &Cover, what: &str| cover.missing().contains(&what.to_owned());
        cover.lied("censor", 0);
        assert!(lacks(&cover, "Fault::stalled stream"));
        cover.count("stalled stream");
        assert!(!lacks(&cover, "Fault::stalled stream"));
        assert!(lacks(&cover, "Lie::censor") && lacks(&cover, "Deed::account closed"));
        let mut other = Cover::default();
        other.lied("censor", 3);
        other.deed("account closed");
        cover.add(&other);
        assert!(!lacks(&cover, "Lie::censor") && !lacks(&cover, "Deed::account closed"));
        assert!(lacks(&cover, "Lie::forger") && cover.unexpected().is_empty());
        cover.deed("a walk");
        assert_eq!(cover.unexpected(), ["Deed::a walk"]);
    }
}
