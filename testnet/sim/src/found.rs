//! The founders of a world: keys by number, and the genesis that they make.

use crate::clock::EPOCH_MS;
use crate::plan::{Bank, Pace, Plan};
use gridbay_core::adverts::About;
use gridbay_core::provider::{ProviderPolicy, ProviderTerms};
use gridbay_core::relay::{RelayTerms, SELLS};
use gridbay_protocol::bank::{BankPolicy, Preset, Revenue, SavingsTax};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::entry_budget::{EntryBudget, EntryBudgets};
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::units::{Credits, Price};
use gridbay_sample as sample;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Steps of a validator's beacon chains: short, so that small federations register the next ones,
/// and long enough for all turns of a world, which ends before these count.
const CHAIN_STEPS: u32 = 200;
/// Accounts that a member may open: few, so that some members reach their quota.
const ACCOUNTS_PER_MEMBER: u32 = 3;
/// An account's budget of entries for an epoch, which is longer than most worlds: several times the
/// need of honest users, and used up by a spammer in seconds.
const ENTRIES: EntryBudget = EntryBudget {
    entries: 600,
    bytes: 600 * 512,
};
/// The same where a house floods: it takes several blocks.
const FLOOD: EntryBudget = EntryBudget {
    entries: 6_000,
    bytes: 6_000 * 512,
};
/// Classes: name, processors, reference price. Most trade is in the first, none in the last.
pub(crate) const CLASSES: [(&str, u32, u64); 3] =
    [("small", 1, 100), ("large", 4, 400), ("rare", 64, 6_400)];
/// The endowment of every member, in credits.
const ENDOWMENT: u64 = 1_000;

/// Whole credits.
pub fn credits(n: u64) -> Credits {
    Credits::from_micros(n * 1_000_000).expect("a small amount")
}
thread_local! {
    /// A key is asked for with every message; making one takes a multiplication on the curve.
    static KEYS: RefCell<BTreeMap<(u8, usize), SecretKey>> = RefCell::default();
}

fn key(kind: u8, n: usize) -> SecretKey {
    let make = || {
        let mut seed = [kind; 32];
        seed[24..].copy_from_slice(&(n as u64).to_le_bytes());
        SecretKey::from_seed(&seed)
    };
    KEYS.with_borrow_mut(|keys| keys.entry((kind, n)).or_insert_with(make).clone())
}
/// Signs entries of node `n`'s account.
pub fn account_key(n: usize) -> SecretKey {
    key(1, n)
}
/// Signs what node `n` says of the ways of packets.
pub(crate) fn node_secret(n: usize) -> SecretKey {
    key(2, n)
}
/// The transport key of node `n`.
pub fn node_key(n: usize) -> PublicKey {
    key(2, n).public()
}
/// The consensus key of validator `n`.
pub fn validator_key(n: usize) -> SecretKey {
    key(3, n)
}
/// The first beacon chain of validator `n`.
pub fn chain(n: usize) -> Chain {
    let mut seed = [4; 32];
    seed[24..].copy_from_slice(&(n as u64).to_le_bytes());
    Chain::new(&seed, CHAIN_STEPS)
}

/// A preset whose periods end several times in a world's life, with the endowment as baseline.
fn bank(bank: Bank, policy: &Policy) -> BankPolicy {
    let preset = match bank {
        Bank::Owners => Preset::Owners,
        Bank::Mirage => Preset::Mirage,
        Bank::Bellagio => Preset::Bellagio,
    };
    let mut bank = preset.policy(policy.block_interval_ms);
    let slot = policy.calendar.slot_heights();
    if bank.weighs() {
        bank.baseline = credits(ENDOWMENT);
    }
    if let Revenue::Shares { every } = &mut bank.revenue {
        *every = 2 * slot;
    }
    bank.tax = bank.tax.map(|tax| SavingsTax {
        every: 3 * slot,
        ..tax
    });
    bank
}

fn policy(plan: &Plan) -> Policy {
    let policy = match plan.pace {
        Pace::Local => Policy::local(),
        Pace::WideArea => Policy::wide_area(),
    };
    Policy {
        accounts_per_member: ACCOUNTS_PER_MEMBER,
        bank: bank(plan.bank, &policy),
        buy: BuyPolicy {
            surcharge_ppm: plan.surcharge_ppm,
        },
        auction: AuctionPolicy {
            rule: plan.rule,
            switch_cost: Price(plan.switch_cost),
        },
        entries: match plan.crowd {
            true => EntryBudgets {
                member: FLOOD,
                user: FLOOD,
            },
            false => EntryBudgets {
                member: ENTRIES,
                user: ENTRIES,
            },
        },
        ..policy
    }
}

/// On what terms a node provides for clients under contract, if it does: every third one, each by a
/// policy of its own.
pub fn provider(n: usize, genesis: &Genesis) -> Option<ProviderTerms> {
    let policy = match n % 9 {
        1 => ProviderPolicy::Conservative,
        4 => ProviderPolicy::Oblivious,
        7 => ProviderPolicy::PreemptLeastLoss,
        _ => return None,
    };
    let price = CLASSES[0].2;
    Some(ProviderTerms {
        classes: genesis.classes.iter().map(|c| c.key.id()).collect(),
        policy,
        units: 6,
        cost: Price(price / 2),
        most: Price(5 * price),
    })
}

/// The genesis of a plan: validators first, then the other members; guests are not in it.
pub fn genesis(plan: &Plan) -> Genesis {
    let policy = policy(plan);
    // Every third member has double weight, where weights count.
    let weighs = policy.bank.weighs();
    let weight = |n: usize| 1 + u32::from(weighs && n.is_multiple_of(3));
    let member = |n: usize| Member {
        weight: weight(n),
        validator: (n < plan.validators)
            .then(|| sample::validator(validator_key(n).public(), node_key(n), chain(n).tip())),
        ..sample::member(
            &format!("member{n:02}"),
            account_key(n).public(),
            credits(ENDOWMENT),
        )
    };
    let classes = CLASSES.map(|(name, vcpu, price)| sample::class(name, vcpu, 512, price));
    let members = (0..plan.validators + plan.others).map(member).collect();
    Genesis {
        time_ms: EPOCH_MS,
        policy,
        beacon: Hash32([9; 32]),
        ..sample::genesis("world", classes.into(), members)
    }
}

/// Where a node takes packets.
pub(crate) fn place(n: usize) -> String {
    format!("10.0.0.{}:4100", n % 250 + 1)
}

/// What nodes carry for others; every other node sells it, and each gives a little.
pub(crate) const TERMS: RelayTerms = RelayTerms {
    unit_slot: 1 << 30,
    free_day: 1 << 20,
};

/// The terms of a node.
pub(crate) fn terms(n: usize) -> RelayTerms {
    match n % 4 {
        0 => TERMS,
        1 => RelayTerms {
            unit_slot: 0,
            ..TERMS
        },
        2 => RelayTerms {
            free_day: 0,
            ..TERMS
        },
        _ => RelayTerms::default(),
    }
}

/// What a node says of itself: whether it sells relaying.
pub(crate) fn about(n: usize) -> About {
    let sells = terms(n).unit_slot > 0;
    let said = sells.then(|| (SELLS.to_owned(), "yes".to_owned()));
    About {
        attributes: said.into_iter().collect(),
        round_trips: vec![],
    }
}
