//! Random blocks of random entries, checked against the effects alone.
//!
//! After every block, with nothing but effects as input: balances are those of a plain map fed by
//! the postings (I1); two states agree (I2, in `World::block`); an entry is taken once (I4); leases
//! never share a unit (I8); every clearing record is within supply, at or above reserves, at or
//! below bids, sells the cheapest units and pays out what was paid (I5, I16); reservations are
//! booked as they asked, on units that are free; the cost of running units covers their reserves;
//! an account that owes tax on frozen money has nothing free above its baseline. Once with revenue
//! to the owners, and once under Mirage's bank; under each rule of the auction, with and without a
//! cost of switching.

mod effects;
mod entries;
mod group;
mod share;

use crate::bank::million;
use crate::groups::two_classes;
use crate::reserving::random_hints;
use crate::world::{World, credits, policy};
use effects::check;
pub(crate) use effects::check_pots;
use entries::entry;
use gridbay_protocol::bank::BankPolicy;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{EntryId, Hash32, LeaseId, OrderId};
use gridbay_protocol::lease::Share;
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::order::Wish;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::splitmix::splitmix64;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A small generator of numbers (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        splitmix64(&mut self.0) % n
    }
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let n = items.len() as u64;
        (n > 0).then(|| items[self.below(n) as usize])
    }
}

/// The memory of a run.
#[derive(Default)]
struct Memory {
    sealed: Vec<(u8, Arc<Authentic>, Wish)>,
    sent: Vec<Arc<Authentic>>,
    /// Openings that were signed and sent to no block.
    kept_out: Vec<(u8, Arc<Authentic>)>,
    taken: BTreeSet<EntryId>,
    leases: BTreeMap<LeaseId, Vec<Share>>,
    served: BTreeMap<&'static str, u32>,
}

/// Leaves the second member little.
fn drain(world: &mut World) {
    let body = EntryBody::Transfer {
        to: world.member(1),
        amount: credits(999_000),
        memo: Hash32([0; 32]),
    };
    let give = world.by(2, body);
    world.all(vec![give]);
}

fn run(seed: u64, blocks: u32, bank: BankPolicy) -> BTreeMap<&'static str, u32> {
    let mut dice = Dice(seed);
    let auction = AuctionPolicy {
        rule: Rule::ALL[seed as usize % 3],
        switch_cost: Price(seed % 4 * 3),
    };
    let mut policy = Policy {
        bank,
        auction,
        buy: BuyPolicy {
            surcharge_ppm: (seed % 2) as u32 * 200_000,
        },
        ..policy()
    };
    policy.dispute_slots = (seed / 2 % 3) as u32;
    // With one attempt the rule misses more, and hints help more often.
    policy.reservation.fronts = if seed.is_multiple_of(2) { 1 } else { 10 };
    let mut world = World::founded(two_classes(policy));
    let mut memory = Memory::default();
    if seed.is_multiple_of(3) {
        drain(&mut world);
    }
    for _ in 0..blocks {
        if world.state.height().is_multiple_of(4) {
            let sole = dice.below(20) as usize;
            world.sole = (sole < 4).then_some(sole);
        }
        let count = dice.below(9);
        let mut entries = vec![];
        let mut ids = BTreeSet::new();
        for _ in 0..count {
            let entry = entry(&mut world, &mut dice, &mut memory);
            if ids.insert(entry.id()) {
                entries.push(entry);
            }
        }
        if memory.kept_out.len() > 24 {
            memory.kept_out.drain(..8);
        }
        if memory.sealed.len() > 24 {
            memory.sealed.drain(..8);
        }
        let sent = entries.clone();
        let hints = random_hints(&world, &mut Dice(seed ^ world.state.height() << 32));
        let effects = world.hinted_block(entries, hints);
        let refused: BTreeSet<EntryId> = world.left_out.iter().map(|(id, _)| *id).collect();
        for entry in &sent {
            if !refused.contains(&entry.id()) {
                assert!(
                    memory.taken.insert(entry.id()),
                    "an entry took effect twice"
                );
            }
        }
        memory.sent.extend(sent);
        check(&world, &mut memory, &effects);
    }
    // Once nobody asks for anything any more, all money is free again.
    world.until(world.state.height() + 8 * 60);
    let standing: Vec<OrderId> = world.state.orders().map(|(id, _)| *id).collect();
    assert_eq!(standing, vec![], "every order ends");
    assert_eq!(world.state.contracts().count(), 0, "every contract ends");
    for (purse, balance) in &world.model {
        let settled = matches!(purse, Purse::Account(_) | Purse::Bank);
        assert!(settled || *balance == 0, "{purse:?} still holds {balance}");
    }
    memory.served
}

#[test]
fn random_blocks_keep_every_invariant() {
    let total = runs(40, BankPolicy::default());
    reached(&total, &["earning"]);
}

#[test]
fn random_blocks_keep_every_invariant_under_mirage() {
    let total = runs(32, million());
    reached(&total, &["revenue", "profit", "tax", "relief"]);
}

fn runs(seeds: u64, bank: BankPolicy) -> BTreeMap<&'static str, u32> {
    let mut total: BTreeMap<&'static str, u32> = BTreeMap::new();
    let runs: Vec<_> = (0..seeds)
        .map(|seed| std::thread::spawn(move || run(seed, 400, bank)))
        .collect();
    for run in runs {
        for (kind, count) in run.join().expect("a run keeps every invariant") {
            *total.entry(kind).or_default() += count;
        }
    }
    total
}

/// The generator reaches every kind of effect often enough to mean something.
fn reached(total: &BTreeMap<&'static str, u32>, also: &[&str]) {
    let usual = [
        "posting",
        "clearing",
        "buy",
        "preemption",
        "eviction",
        "group",
        "group_displacing",
        "short",
        "decision",
        "booking",
        "sharing",
        "unserved",
        "disputed",
        "order",
        "excused",
        "waived",
        "amended",
        "forfeited",
        "end",
        "start",
        "renewal",
        "planning",
        "missed",
        "signed",
        "failed",
        "done",
        "completed",
        "settled",
        "lapsed",
    ];
    for kind in usual.iter().chain(also) {
        let count = total.get(kind).copied().unwrap_or(0);
        assert!(count >= 20, "only {count} of {kind}: {total:?}");
    }
}
