//! Admission looks at no more records as the state grows: a mempool is gone through after every
//! block, and costs nothing to fill.

use crate::admit::Admitted;
use crate::record::{Account, Closed, Holding, Offer, Order, Retained, Spent, Stage, Unopened};
use crate::refusal::Refusal;
use crate::sample::{account, class, run, state};
use crate::sell::sealed::unopened;
use crate::state::State;
use crate::table::steps;
use crate::work::Work;
use crate::{book, catalogue, holdings};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::lease::Share;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim, offer_id};
use gridbay_protocol::order::{Buy, BuyPart, Commit};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::{Credits, Price};
use std::sync::Arc;

/// As many offers of one unit as the accounts of one member can have at a time.
pub(crate) const MANY: u32 = 9_216;
/// Offers of one seller.
const EACH: u32 = 64;
/// Records that one entry may make admission look at. The most is asked for by a buy or a bid: the
/// sixteen live orders that an account may have in a class.
pub(crate) const BOUND: u64 = 64;

fn id(n: u32) -> [u8; 32] {
    let mut id = [7; 32];
    id[..4].copy_from_slice(&n.wrapping_mul(2_654_435_761).to_be_bytes());
    id[4..8].copy_from_slice(&n.to_be_bytes());
    id
}

fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

fn user(state: &State, seed: u8) -> Account {
    Account {
        keys: vec![AccountKey {
            key: key(seed).public(),
            roles: Roles::ALL,
        }],
        sponsor: account(state, 0),
        credit_line: Credits::ZERO,
        inviter: account(state, 0),
        depth: 1,
        invited: 0,
        closed: Closed::default(),
        seats: Vec::new(),
        spent: Spent::default(),
    }
}

fn terms(class: ClassId, label: u32) -> OfferTerms {
    OfferTerms {
        label,
        class,
        node: key(9).public(),
        units: 1,
        reserve: Price(1),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Ausubel,
    }
}

fn offer(class: ClassId, seller: AccountId, label: u32) -> Offer {
    Offer {
        seller,
        terms: terms(class, label),
        active: true,
        bound: 1,
        pending: None,
        disputed_by: vec![],
        disputed_in: 0,
    }
}

/// So many records of every kind, with earnings held that lie in no purse.
fn crowded(many: u32) -> State {
    peopled(many, |work, n| {
        fill(work, n);
        hold(work, n);
    })
}

/// A crowd that an audit has nothing against.
pub(crate) fn sound(many: u32) -> State {
    peopled(many, fill)
}

/// So many records as `fill` makes. Seller n has the offers from `n * EACH` on; account 0 has a
/// seller's and a buyer's.
fn peopled(many: u32, fill: fn(&mut Work<'_>, u32)) -> State {
    let mut state = state();
    let empty = state.clone();
    let mut work = Work::begin(&empty, 2_000, &[1; 32]);
    for n in 0..many.div_ceil(EACH) {
        let seller = user(&empty, if n == 0 { 50 } else { 51 });
        work.tables.accounts.insert(AccountId(id(n)), seller);
    }
    // One that has nothing.
    work.tables
        .accounts
        .insert(AccountId(id(u32::MAX)), user(&empty, 52));
    for n in 0..many {
        fill(&mut work, n);
    }
    let changes = work.tables.into_changes();
    state.records.apply(changes);
    state
}

/// The owner of the n-th records, and the offer.
fn whose(n: u32) -> (AccountId, OfferId) {
    let owner = AccountId(id(n / EACH));
    (owner, offer_id(&owner, n % EACH))
}

/// Records of every kind but earnings, the n-th of each.
fn fill(work: &mut Work<'_>, n: u32) {
    let (owner, sold) = whose(n);
    let class = work.constitution.classes[0].key.id();
    let order = OrderId(id(n));
    catalogue::put(&mut work.shelf(), sold, Some(offer(class, owner, n % EACH)));
    let sealed = Stage::Sealed {
        seal: Hash32(id(n)),
        bracket: 0,
        reach: None,
    };
    // Eight orders each.
    if n % EACH < 8 {
        book::enter(&mut work.book(), order, Order::new(owner, class, 0, sealed));
    }
    let waits = Unopened {
        account: owner,
        class,
        round: 0,
        seal: Hash32(id(n)),
        bracket: 0,
        reach: None,
        until: 90,
    };
    holdings::enter(&mut work.counts(), &waits);
    work.tables.unopened.insert(OrderId(id(n + MANY)), waits);
    let share = Share {
        offer: sold,
        units: 1,
    };
    let runs = (LeaseId(id(n)), Hash32(id(n)));
    run(&mut work.floor(), (order, owner, class), runs, share);
}

/// The earlier earnings of the n-th lease.
fn hold(work: &mut Work<'_>, n: u32) {
    let (owner, sold) = whose(n);
    let held = Retained {
        order: OrderId(id(n)),
        buyer: owner,
        seller: owner,
        amount: Credits::MAX,
        back: Credits::MAX,
    };
    holdings::enter(&mut work.counts(), &held);
    work.tables.retained.insert((sold, LeaseId(id(n)), 0), held);
}

fn sign(state: &State, account: AccountId, seed: u8, body: EntryBody) -> Arc<Authentic> {
    let entry = Entry {
        network: state.network(),
        account,
        key: key(seed).public(),
        valid_until: 40,
        body,
    };
    let signed = SignedEntry::new(entry, &key(seed));
    let formed = WellFormed::check(&state.network(), signed).expect("well formed");
    Arc::new(formed.authenticate().expect("signed"))
}

/// Entries of every kind that looks at more than its own record, with their names.
pub(crate) fn entries(state: &State) -> Vec<(&'static str, Arc<Authentic>)> {
    let (busy, idle) = (AccountId(id(0)), AccountId(id(u32::MAX)));
    let by_busy = trades(state, offer_id(&busy, 0), LeaseId(id(0)));
    let by_idle = [
        ("set_offer", EntryBody::SetOffer(terms(class(state), 1))),
        (
            "close_account",
            EntryBody::CloseAccount {
                to: AccountId(id(1)),
            },
        ),
        (
            "open_account",
            EntryBody::OpenAccount {
                grant: None,
                keys: user(state, 60).keys,
                endowment: Credits::ZERO,
            },
        ),
    ];
    let by_idle = by_idle.map(|(name, body)| (name, sign(state, idle, 52, body)));
    let by_busy = by_busy.into_iter();
    let by_busy = by_busy.map(|(name, body)| (name, sign(state, busy, 50, body)));
    by_idle.into_iter().chain(by_busy).collect()
}

/// The entries of an account that has as much open as it may.
fn trades(state: &State, sold: OfferId, lease: LeaseId) -> Vec<(&'static str, EntryBody)> {
    let to = AccountId(id(1));
    let buy = Buy {
        parts: vec![BuyPart::anywhere(class(state), 1)],
        slots: 1,
        limit: Credits::from_micros(100).expect("a small amount"),
        stands_until: 0,
        surcharge: Credits::ZERO,
        work: Hash32([4; 32]),
    };
    let commit = Commit {
        class: class(state),
        seal: Hash32([5; 32]),
        bracket: 0,
    };
    let transfer = EntryBody::Transfer {
        to,
        amount: Credits::from_micros(1).expect("a small amount"),
        memo: Hash32([0; 32]),
    };
    let complain = EntryBody::Complain {
        lease,
        offer: sold,
        slot: 0,
    };
    let keys = user(state, 61).keys;
    let order = OrderId(id(0));
    vec![
        (
            "set_offer again",
            EntryBody::SetOffer(terms(class(state), 1)),
        ),
        (
            "set_offer beyond",
            EntryBody::SetOffer(terms(class(state), 900)),
        ),
        ("close_account open", EntryBody::CloseAccount { to }),
        ("set_keys", EntryBody::SetKeys { keys }),
        ("transfer", transfer),
        ("withdraw_offer", EntryBody::WithdrawOffer { label: 1 }),
        ("deliver", EntryBody::Deliver { lease }),
        ("fail", EntryBody::Fail { lease }),
        ("heartbeat", EntryBody::Heartbeat { label: 1 }),
        ("complain", complain),
        ("cancel", EntryBody::Cancel { order }),
        ("commit", EntryBody::Commit(commit)),
        ("buy", EntryBody::Buy(buy)),
    ]
}

#[test]
fn admission_looks_at_no_more_in_a_crowded_state() {
    let state = crowded(MANY);
    let work = Work::begin(&state, 2_000, &[1; 32]);
    let mut admitted = Vec::new();
    for (name, entry) in entries(&state) {
        let (steps, outcome) = steps::of(|| Admitted::check(&work, &entry));
        assert!(
            steps <= BOUND,
            "{name}: {steps} records, {:?}",
            outcome.err()
        );
        let outcome = outcome.map(|_| ());
        assert!(
            !matches!(outcome, Err(Refusal::Role { .. } | Refusal::NoAccount(_))),
            "{name} is judged by its own rule"
        );
        admitted.extend(outcome.is_ok().then_some(name));
    }
    for name in [
        "set_offer",
        "set_offer again",
        "close_account",
        "set_keys",
        "heartbeat",
    ] {
        assert!(admitted.contains(&name), "{name} is not in {admitted:?}");
    }
}

#[test]
fn new_keys_look_at_ones_own_sealed_bids_only() {
    let state = crowded(MANY);
    let mut work = Work::begin(&state, 2_000, &[1; 32]);
    let own = AccountId(id(0));
    let (steps, ()) = steps::of(|| unopened::note_keys(&mut work.book(), &own));
    assert!(steps <= BOUND, "{steps} records");
}

#[test]
fn what_is_counted_of_a_crowd_is_what_there_is() {
    let state = crowded(MANY);
    let work = Work::begin(&state, 2_000, &[1; 32]);
    assert_eq!(crate::audit::counts(&work), Ok(()));
    assert_eq!(
        holdings::count(&work, &AccountId(id(3)), Holding::Offer),
        EACH
    );
}
