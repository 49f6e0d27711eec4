//! What the owner told from afar, as it comes to offers.

use super::*;
use crate::action::NewOffer;
use crate::config::Credits;

/// What the owner's disk says.
fn from_disk(owner: &str) -> String {
    let owner = owner.repeat(32);
    format!("invitation = \"gridbay1a\"\nowner = \"{owner}\"\n[sell]\nprice = \"2\"")
}

/// A ready appliance that was told so from afar by the owner 0a0a..., and sells one unit at 2.
fn told(orders: &str) -> Seen {
    told_with("0a", orders)
}

/// The same where the disk names an owner.
fn told_with(owner: &str, orders: &str) -> Seen {
    let mut seen = ready(&from_disk(owner));
    seen.offers = Some(vec![own("2")]);
    let key = owner.repeat(32);
    seen.folder.settings = Some(format!("[owner]\nkey = \"{key}\"\n").into_bytes());
    let by = format!("{{\"owner\":\"{}\",", "0a".repeat(32));
    seen.folder.orders = Some(orders.replacen('{', &by, 1).into_bytes());
    seen
}

#[test]
fn a_price_from_afar_changes_the_offer_and_nothing_else() {
    let (state, actions) = Agent::new().step(&told(r#"{"count":0}"#));
    assert_eq!((state.name(), actions.len()), ("ready", 0));
    let (_, actions) = Agent::new().step(&told(r#"{"count":1,"price":"3.5"}"#));
    let offer = NewOffer {
        class: "small".to_owned(),
        units: 1,
        price: Credits(3_500_000),
        buy: None,
    };
    assert_eq!(actions, [Action::SetOffer(offer)]);
}

#[test]
fn offers_are_withdrawn_outside_of_the_hours_and_come_back() {
    let mut agent = Agent::new();
    let mut seen = told(r#"{"hours":"22:00-06:00"}"#);
    seen.clock.minute = 12 * 60;
    let (_, actions) = agent.step(&seen);
    assert_eq!(actions, [Action::Withdraw(1)]);
    seen.offers = Some(Vec::new());
    let (state, actions) = agent.step(&seen);
    assert_eq!(actions, []);
    assert_eq!(state.reason(), "sells nothing outside of 22:00-06:00 UTC");
    seen.clock.minute = 23 * 60;
    let (_, actions) = agent.step(&seen);
    assert!(matches!(&actions[..], [Action::SetOffer(offer)] if offer.units == 1));
}

#[test]
fn a_reserve_for_everything_withdraws_the_offer() {
    let (state, actions) = Agent::new().step(&told(r#"{"reserve_vcpu":2}"#));
    assert_eq!(actions, [Action::Withdraw(1)]);
    assert_eq!(state.name(), "ready");
}

#[test]
fn hostile_orders_are_told_and_the_disk_counts() {
    for text in ["nonsense", r#"{"price":"free"}"#, r#"{"sell":"rm"}"#] {
        let (state, actions) = Agent::new().step(&told(text));
        assert_eq!(actions, [], "{text}");
        assert!(state.notes()[0].reason.contains("from afar"), "{text}");
    }
}

#[test]
fn what_another_owner_told_does_not_count() {
    let price = r#"{"count":1,"price":"3.5"}"#;
    assert_eq!(Agent::new().step(&told(price)).1.len(), 1);
    let (state, actions) = Agent::new().step(&told_with("0b", price));
    assert_eq!((state.name(), actions.len()), ("ready", 0));
}
