use super::shop::{Bid, Held, Stall, Wish};
use super::*;
use gridbay_protocol::ids::{Hash32, LeaseId, OfferId};
use gridbay_protocol::lease::Share;
use gridbay_protocol::order::{Buy, BuyPart, Step};
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::buy::BoughtPart;
use gridbay_protocol::units::{Credits, Price};

const SMALL: ClassId = ClassId([1; 32]);
const LARGE: ClassId = ClassId([2; 32]);
const BEACON: [u8; 32] = [7; 32];

fn micros(n: u64) -> Credits {
    Credits::from_micros(n).unwrap()
}

fn id(n: u8) -> OrderId {
    OrderId([n; 32])
}

/// Two units of each class at 30, one lease of a bid on both large ones at 50 each; nobody asks
/// yet.
fn shop() -> Shop {
    let stall = |n: u8, class| {
        let stall = Stall {
            class,
            units: 2,
            price: Some(30),
        };
        (OfferId([n; 32]), stall)
    };
    let bid = Bid {
        round: 0,
        rank: Hash32([1; 32]),
        min: 1,
        steps: vec![Step {
            units: 2,
            price: Price(50),
        }],
        next: None,
    };
    let lease = Held {
        order: id(99),
        shares: vec![Share {
            offer: OfferId([2; 32]),
            units: 2,
        }],
        firm: false,
    };
    Shop {
        height: 7,
        stalls: [stall(1, SMALL), stall(2, LARGE)].into(),
        bids: [(id(99), bid)].into(),
        leases: [(LeaseId([9; 32]), lease)].into(),
        references: [(SMALL, 10), (LARGE, 20)].into(),
        ..Shop::default()
    }
}

/// Asks for units of the classes; it waited from this round on.
fn asks(shop: &mut Shop, n: u8, round: u64, small: u32, large: u32) {
    let parts = [(SMALL, small), (LARGE, large)];
    let parts = parts.into_iter().filter(|(_, units)| *units > 0);
    let buy = Buy {
        parts: parts.map(|(c, n)| BuyPart::anywhere(c, n)).collect(),
        slots: 1,
        limit: micros(500),
        stands_until: 1_000,
        surcharge: Credits::ZERO,
        work: Hash32::default(),
    };
    let waits = true;
    let wish = Wish { round, waits, buy };
    shop.wishes.insert(id(n), wish);
}

fn part(class: ClassId, offer: u8, units: u32, displaced: u64) -> BoughtPart {
    let reserve = Price(30);
    let offer = OfferId([offer; 32]);
    BoughtPart {
        class,
        taken: vec![ClearingOffer {
            offer,
            units,
            reserve,
        }],
        displaced: match displaced {
            0 => vec![],
            _ => vec![LeaseId([9; 32])],
        },
        displaced_value: micros(displaced),
        evicted: vec![],
        price: micros(displaced.max(30 * u64::from(units))),
    }
}

fn bought(n: u8, parts: Vec<BoughtPart>) -> Effect {
    Effect::Buy(BuyRecord {
        order: id(n),
        height: 8,
        price: Credits::sum(parts.iter().map(|p| p.price)).unwrap(),
        parts,
        slots: 1,
    })
}

/// The lease of a buy on small units.
fn leased(n: u8, units: u32) -> Effect {
    Effect::Lease(gridbay_protocol::lease::LeaseEvent::Started(
        gridbay_protocol::lease::LeaseTerms {
            lease: LeaseId([n; 32]),
            order: id(n),
            account: Default::default(),
            class: SMALL,
            slot: 1,
            shares: vec![Share {
                offer: OfferId([1; 32]),
                units,
            }],
            paid: Credits::ZERO,
            firm_through: Some(2),
        },
    ))
}

fn judge(shop: &Shop, effects: &[Effect]) -> Result<(), String> {
    decide(shop.clone(), effects, &BEACON, &Policy::local())
}

#[test]
fn buys_out_of_turn_are_reported() {
    let mut shop = shop();
    // Each would take all small units; the one with the higher id came first.
    asks(&mut shop, 2, 0, 2, 0);
    asks(&mut shop, 1, 1, 2, 0);
    let serve = |n| [bought(n, vec![part(SMALL, 1, 2, 0)]), leased(n, 2)];
    assert_eq!(judge(&shop, &serve(2)), Ok(()));
    assert!(judge(&shop, &serve(1)).is_err());
    assert!(judge(&shop, &[]).is_err(), "nobody is served");
    // Both came in one round: the beacon says who is first.
    asks(&mut shop, 1, 0, 2, 0);
    let rank = |n| beacon::rank(&BEACON, id(n).as_bytes());
    let (first, last) = if rank(1) < rank(2) { (1, 2) } else { (2, 1) };
    assert_eq!(judge(&shop, &serve(first)), Ok(()));
    assert!(judge(&shop, &serve(last)).is_err());
    // Served one behind the other, but the wrong way round.
    asks(&mut shop, 2, 0, 1, 0);
    asks(&mut shop, 1, 1, 1, 0);
    let both = |first, then| {
        let one = |n| [bought(n, vec![part(SMALL, 1, 1, 0)]), leased(n, 1)];
        [one(first), one(then)].concat()
    };
    assert_eq!(judge(&shop, &both(2, 1)), Ok(()));
    assert!(judge(&shop, &both(1, 2)).is_err());
}

#[test]
fn groups_that_are_not_all_or_none_are_reported() {
    let mut shop = shop();
    asks(&mut shop, 1, 0, 1, 1);
    let (small, large) = (part(SMALL, 1, 1, 0), part(LARGE, 2, 1, 50));
    let all = bought(1, vec![small.clone(), large.clone()]);
    assert_eq!(judge(&shop, std::slice::from_ref(&all)), Ok(()));
    let cheaper = part(LARGE, 2, 1, 40);
    for parts in [vec![small.clone()], vec![large], vec![small, cheaper]] {
        assert!(judge(&shop, &[bought(1, parts)]).is_err());
    }
    // Only the first of each class displace.
    asks(&mut shop, 2, 0, 3, 0);
    asks(&mut shop, 3, 0, 3, 0);
    shop.wishes.get_mut(&id(1)).unwrap().round = 1;
    assert!(judge(&shop, &[all]).is_err());
    assert_eq!(judge(&shop, &[]), Ok(()));
}

#[test]
fn ends_and_waits_that_are_not_due_are_reported() {
    let mut shop = shop();
    asks(&mut shop, 1, 0, 1, 3);
    let ends = |end| {
        let order = id(1);
        [Effect::Order { order, end }]
    };
    assert_eq!(judge(&shop, &[]), Ok(()));
    assert!(
        judge(&shop, &ends(OrderEnd::Short(LARGE))).is_err(),
        "it stands"
    );
    shop.wishes.get_mut(&id(1)).unwrap().buy.stands_until = 11;
    assert!(judge(&shop, &[]).is_err(), "its time is up");
    assert_eq!(judge(&shop, &ends(OrderEnd::Short(LARGE))), Ok(()));
    for end in [OrderEnd::Short(SMALL), OrderEnd::NoUnits, OrderEnd::TooDear] {
        assert!(judge(&shop, &ends(end)).is_err(), "{end:?}");
    }
    let wish = shop.wishes.get_mut(&id(1)).unwrap();
    (wish.buy.stands_until, wish.buy.limit) = (12, micros(69));
    assert!(
        judge(&shop, &[]).is_err(),
        "10 and 60 are the reference prices"
    );
}

#[test]
fn a_new_buy_that_may_not_search_is_too_dear_only_if_it_would_find_somebody() {
    let (mut shop, policy) = (shop(), Policy::local());
    let mut judged = |large, waits, end| {
        asks(&mut shop, 1, 0, 0, large);
        let mut wish = shop.wishes[&id(1)].clone();
        wish.waits = waits;
        (wish.buy.limit, wish.buy.stands_until) = (micros(40), 0);
        let found = &shop.find(&wish.buy, false, &policy);
        let case = Case {
            shop: &shop,
            wish: &wish,
            found,
            displaces: false,
            policy: &policy,
        };
        case.judge(Some(&Effect::Order { order: id(1), end }))
    };
    assert_eq!(judged(1, false, OrderEnd::TooDear), Ok(()), "it costs 50");
    assert_eq!(judged(1, false, OrderEnd::NoUnits), Ok(()));
    assert!(
        judged(3, false, OrderEnd::TooDear).is_err(),
        "there are two"
    );
    assert!(judged(1, true, OrderEnd::TooDear).is_err(), "it waited");
}

#[test]
fn a_new_group_that_may_not_search_is_short_of_what_nobody_could_give_it() {
    let (mut shop, policy) = (shop(), Policy::local());
    // Somebody would give way for the large one; of small ones there are two.
    let mut judged = |small, waits, class| {
        asks(&mut shop, 1, 0, small, 1);
        let mut wish = shop.wishes[&id(1)].clone();
        wish.buy.parts.sort_by_key(|part| part.class == SMALL);
        (wish.waits, wish.buy.stands_until) = (waits, 0);
        let found = &shop.find(&wish.buy, false, &policy);
        let case = Case {
            shop: &shop,
            wish: &wish,
            found,
            displaces: false,
            policy: &policy,
        };
        let (order, end) = (id(1), OrderEnd::Short(class));
        case.judge(Some(&Effect::Order { order, end }))
    };
    assert_eq!(judged(3, false, LARGE), Ok(()));
    assert_eq!(judged(3, false, SMALL), Ok(()));
    assert!(judged(2, false, SMALL).is_err(), "there are two");
    assert!(judged(3, true, SMALL).is_err(), "it waited");
}
