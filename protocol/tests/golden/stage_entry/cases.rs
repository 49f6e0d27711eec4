//! Bodies of entries, and those outside of each range.

use crate::samples::entry::{self, ACCOUNT, SIGNER};
use crate::samples::{key, micros, posted};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::codec;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, ClassId, EntryId, Hash32, OfferId, ValidatorId};
use gridbay_protocol::invitation::Grant;
use gridbay_protocol::keys::Signature;
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::reservation::{CHANNELS, Channels};
use gridbay_protocol::mechanism::share::BUDGET_END;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::{Bid, Buy, BuyPart, Claim, Commit, Hire, Open, Reservation, Step};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::units::{Credits, Price};

pub(super) type Case = (&'static str, EntryBody);

fn roles(bits: u8) -> Roles {
    codec::decode(&codec::encode(&bits), 2).expect("any byte is a set of roles")
}
/// `n` keys in order, of which all may spend.
pub(super) fn keys(n: u8) -> Vec<AccountKey> {
    let mut keys: Vec<_> = (100..100 + n)
        .map(|seed| AccountKey {
            key: key(seed).public(),
            roles: Roles::SPEND,
        })
        .collect();
    keys.sort_by_key(|k| k.key);
    keys
}
fn set_keys(change: impl FnOnce(&mut Vec<AccountKey>)) -> EntryBody {
    let mut keys = keys(3);
    change(&mut keys);
    EntryBody::SetKeys { keys }
}
pub(super) fn offer(change: impl FnOnce(&mut OfferTerms)) -> EntryBody {
    let mut terms = entry::offer(Reclaim::None);
    change(&mut terms);
    EntryBody::SetOffer(terms)
}
pub(super) fn open(change: impl FnOnce(&mut Bid)) -> EntryBody {
    let mut bid = entry::bid();
    change(&mut bid);
    EntryBody::Open(Open {
        commit: EntryId([1; 32]),
        wish: bid.into(),
        salt: [2; 32],
    })
}
pub(super) fn reserve(change: impl FnOnce(&mut Reservation)) -> EntryBody {
    let mut wish = entry::reservation();
    change(&mut wish);
    EntryBody::Open(Open {
        commit: EntryId([1; 32]),
        wish: wish.into(),
        salt: [2; 32],
    })
}
pub(super) fn steps(steps: &[(u32, u64)]) -> Vec<Step> {
    let step = |&(units, price)| Step {
        units,
        price: Price(price),
    };
    steps.iter().map(step).collect()
}
/// `n` steps of one unit, falling to a price of 1.
pub(super) fn stairs(n: usize) -> Vec<Step> {
    steps(&(1..=n as u64).rev().map(|p| (1, p)).collect::<Vec<_>>())
}
pub(super) fn buy(change: impl FnOnce(&mut Buy)) -> EntryBody {
    let mut buy = entry::buy();
    change(&mut buy);
    EntryBody::Buy(buy)
}
/// One unit of each of so many classes.
pub(super) fn parts(n: usize) -> Vec<BuyPart> {
    let part = |n| BuyPart::anywhere(ClassId([n; 32]), 1);
    (1..=n as u8).map(part).collect()
}
pub(super) fn share(change: impl FnOnce(&mut Claim)) -> EntryBody {
    let mut claim = entry::claim();
    change(&mut claim);
    EntryBody::Share(claim)
}
/// An appeal with receipts of `n` validators in order.
pub(super) fn appeal(bid: EntryBody, n: u8) -> EntryBody {
    let EntryBody::Open(open) = bid else {
        panic!("only openings are appealed for");
    };
    let receipt = |n| SignedReceipt {
        receipt: Receipt {
            entry: EntryId([1; 32]),
            height: u64::MAX,
            validator: ValidatorId([n; 32]),
        },
        signature: Signature([n; 64]),
    };
    EntryBody::Appeal(Box::new(Appeal {
        key: key(SIGNER).public(),
        valid_until: u64::MAX,
        open,
        receipts: (0..n).map(receipt).collect(),
    }))
}
pub(super) fn offers(n: usize) -> Vec<OfferId> {
    (0..n).map(|i| OfferId([i as u8; 32])).collect()
}
pub(super) fn commit(bracket: u8) -> EntryBody {
    EntryBody::Commit(Commit {
        class: entry::bid().class,
        seal: Hash32([1; 32]),
        bracket,
    })
}
pub(super) fn transfer(to: AccountId, amount: Credits) -> EntryBody {
    let memo = Hash32::default();
    EntryBody::Transfer { to, amount, memo }
}
pub(super) fn opening(keys: Vec<AccountKey>, endowment: u64) -> EntryBody {
    EntryBody::OpenAccount {
        grant: None,
        keys,
        endowment: micros(endowment),
    }
}
pub(super) fn granted(change: impl FnOnce(&mut Grant), more: u64) -> EntryBody {
    let mut grant = entry::grant();
    change(&mut grant.grant);
    EntryBody::OpenAccount {
        grant: Some(Box::new(grant)),
        keys: keys(1),
        endowment: micros(more),
    }
}

pub(super) fn refused() -> Vec<Case> {
    let tables = [
        refused_accounts(),
        refused_transfers(),
        refused_offers(),
        refused_bids(),
        refused_buys(),
        refused_reservations(),
        refused_claims(),
        refused_hires(),
        vec![("an appeal without receipts", appeal(open(|_| ()), 0))],
    ];
    tables.into_iter().flatten().collect()
}

fn refused_accounts() -> Vec<Case> {
    vec![
        ("no keys", set_keys(Vec::clear)),
        ("17 keys", EntryBody::SetKeys { keys: keys(17) }),
        ("keys out of order", set_keys(|k| k.swap(0, 1))),
        ("a key twice", set_keys(|k| k[1] = k[0])),
        ("an unknown role", set_keys(|k| k[1].roles = roles(9))),
        ("a key without a role", set_keys(|k| k[1].roles = roles(0))),
        (
            "nobody may spend",
            set_keys(|k| k.iter_mut().for_each(|k| k.roles = Roles::TRADE)),
        ),
        ("an account without keys", opening(vec![], 1)),
        (
            "a grant to another token",
            granted(|g| g.token = key(8).public(), 0),
        ),
        (
            "another's grant",
            granted(|g| g.inviter = AccountId([9; 32]), 0),
        ),
        ("a grant and an endowment", granted(|_| (), 1)),
    ]
}

fn refused_transfers() -> Vec<Case> {
    vec![
        (
            "nothing transferred",
            transfer(AccountId([9; 32]), Credits::ZERO),
        ),
        ("a transfer to oneself", transfer(ACCOUNT, micros(1))),
        (
            "an account closed in its own favour",
            EntryBody::CloseAccount { to: ACCOUNT },
        ),
    ]
}

fn refused_offers() -> Vec<Case> {
    let above = Price(Price::MAX.0 + 1);
    vec![
        ("an offer of nothing", offer(|o| o.units = 0)),
        (
            "too many units offered",
            offer(|o| o.units = limits::OFFER_UNITS + 1),
        ),
        (
            "a reserve too high",
            offer(|o| (o.reserve, o.buy_price) = (above, None)),
        ),
        (
            "a reservation at a buy price",
            offer(|o| o.mechanism = Primary::Reservation),
        ),
        (
            "a deadline offer that is taken back",
            offer(|o| {
                (o.buy_price, o.reclaim) = (None, Reclaim::Notice(1));
                o.mechanism = Primary::Deadline(entry::DEADLINE);
            }),
        ),
        (
            "a stake above the price",
            offer(|o| {
                let bond_ppm = 1_000_001;
                o.buy_price = None;
                o.mechanism = Primary::Deadline(DeadlineTerms {
                    bond_ppm,
                    ..entry::DEADLINE
                });
            }),
        ),
        (
            "a pool of which nobody may have anything",
            offer(|o| {
                let cap_ppm = 0;
                o.buy_price = None;
                o.mechanism = Primary::Share(PoolTerms {
                    cap_ppm,
                    ..entry::POOL
                });
            }),
        ),
        (
            "a pool of which nobody may hold a unit",
            offer(|o| {
                (o.buy_price, o.units) = (None, 2);
                o.mechanism = Primary::Share(PoolTerms {
                    cap_ppm: 499_999,
                    ..entry::POOL
                });
            }),
        ),
        ("a buy price too high", offer(|o| o.buy_price = Some(above))),
        (
            "a buy price below the reserve",
            offer(|o| o.buy_price = Some(Price(o.reserve.0 - 1))),
        ),
    ]
}

fn refused_bids() -> Vec<Case> {
    let above = Price(Price::MAX.0 + 1);
    vec![
        ("a bracket too high", commit(limits::BRACKET + 1)),
        ("no steps", open(|b| b.steps.clear())),
        (
            "65 steps",
            open(|b| b.steps = stairs(limits::BID_STEPS + 1)),
        ),
        ("a step of nothing", open(|b| b.steps[1].units = 0)),
        ("a price too high", open(|b| b.steps[0].price = above)),
        ("rising prices", open(|b| b.steps.reverse())),
        (
            "one price in two steps",
            open(|b| b.steps[1].price = b.steps[0].price),
        ),
        (
            "too many units bid for",
            open(|b| b.steps = steps(&[(limits::ORDER_UNITS, 2), (1, 1)])),
        ),
        (
            "more units than can be counted",
            open(|b| b.steps = steps(&[(u32::MAX, 2), (3, 1)])),
        ),
        ("a least of nothing", open(|b| b.min = 0)),
        ("a least above all", open(|b| b.min = 17)),
        ("a bid for no slots", open(|b| b.slots = 0)),
        (
            "a bid for ever",
            open(|b| b.slots = limits::ORDER_SLOTS + 1),
        ),
    ]
}

fn refused_buys() -> Vec<Case> {
    vec![
        ("a buy of nothing", buy(|b| b.parts[0].units = 0)),
        (
            "too many units bought",
            buy(|b| b.parts[0].units = limits::ORDER_UNITS + 1),
        ),
        ("a buy of no parts", buy(|b| b.parts.clear())),
        (
            "a buy of too many parts",
            buy(|b| b.parts = parts(limits::BUY_PARTS + 1)),
        ),
        ("a class twice", buy(|b| b.parts.push(b.parts[0].clone()))),
        (
            "classes out of order",
            buy(|b| {
                b.parts = parts(3);
                b.parts.swap(1, 2);
            }),
        ),
        (
            "a part of nothing",
            buy(|b| {
                b.parts = parts(2);
                b.parts[1].units = 0;
            }),
        ),
        (
            "too many units of two classes",
            buy(|b| {
                b.parts = parts(2);
                b.parts[1].units = limits::ORDER_UNITS;
            }),
        ),
        (
            "too many offers of two classes",
            buy(|b| {
                b.parts = parts(2);
                b.parts[0].offers = offers(limits::OFFERS_PER_ACCOUNT);
                b.parts[1].offers = offers(1);
            }),
        ),
        ("a buy for no slots", buy(|b| b.slots = 0)),
        ("a buy for ever", buy(|b| b.slots = limits::ORDER_SLOTS + 1)),
        (
            "too many offers named",
            buy(|b| b.parts[0].offers = offers(limits::OFFERS_PER_ACCOUNT + 1)),
        ),
        ("offers out of order", buy(|b| b.parts[0].offers.reverse())),
        (
            "an offer twice",
            buy(|b| b.parts[0].offers[1] = b.parts[0].offers[0]),
        ),
    ]
}

fn refused_reservations() -> Vec<Case> {
    vec![
        ("no groups", reserve(|r| r.groups.clear())),
        (
            "seven groups",
            reserve(|r| r.groups = vec![r.groups[1].clone(); 7]),
        ),
        ("a group of nothing", reserve(|r| r.groups[0].units = 0)),
        (
            "too many units reserved",
            reserve(|r| r.groups[0].units = limits::RESERVATION_UNITS),
        ),
        (
            "more units reserved than can be counted",
            reserve(|r| r.groups[0].units = u32::MAX),
        ),
        (
            "offers of a group out of order",
            reserve(|r| r.groups[0].offers.reverse()),
        ),
        (
            "too many offers in all groups",
            reserve(|r| {
                r.groups[0].offers = offers(limits::RESERVATION_OFFERS);
                r.groups[1].offers = offers(1);
            }),
        ),
        ("a reservation of no slots", reserve(|r| r.slots = 0)),
        (
            "a reservation for ever",
            reserve(|r| r.slots = limits::RESERVATION_SLOTS + 1),
        ),
        (
            "a last start before the first",
            reserve(|r| r.latest = r.earliest - 1),
        ),
        (
            "channels that end before they begin",
            reserve(|r| r.channels = Some(Channels { low: 2, high: 1 })),
        ),
        (
            "too many channels",
            reserve(|r| {
                r.channels = Some(Channels {
                    low: 0,
                    high: CHANNELS,
                })
            }),
        ),
    ]
}

fn refused_hires() -> Vec<Case> {
    let hire = |change: fn(&mut Hire)| {
        let mut hire = posted::hire();
        change(&mut hire);
        EntryBody::Posted(hire)
    };
    vec![
        ("a hire of nothing", hire(|h| h.units = 0)),
        (
            "a hire of too many units",
            hire(|h| h.units = limits::ORDER_UNITS + 1),
        ),
        ("a hire for no slot", hire(|h| h.slots = 0)),
        (
            "a hire for too many slots",
            hire(|h| h.slots = limits::ORDER_SLOTS + 1),
        ),
        (
            "a hire at a price beyond all",
            hire(|h| h.limit = Price(Price::MAX.0 + 1)),
        ),
    ]
}

fn refused_claims() -> Vec<Case> {
    vec![
        ("a claim for nothing", share(|c| c.rate = Credits::ZERO)),
        ("a rate too high", share(|c| c.rate = micros(BUDGET_END))),
        ("no weights", share(|c| c.weights.clear())),
        ("processors for nothing", share(|c| c.weights[0] = 0)),
        ("too many weights", share(|c| c.weights = vec![1; 5])),
        ("a claim without tasks", share(|c| c.tasks = 0)),
        (
            "a claim with too many tasks",
            share(|c| c.tasks = limits::ORDER_UNITS + 1),
        ),
        ("a claim for no slot", share(|c| c.slots = 0)),
        (
            "a claim for too many slots",
            share(|c| c.slots = limits::ORDER_SLOTS + 1),
        ),
    ]
}
