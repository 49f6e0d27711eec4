//! A seller acknowledges, gives its signs of life and serves nothing. Its buyers say so: they get
//! back the slot, running or just over, and after a few such cases the offer is withdrawn.

use crate::trade::{START, bid, disputable_lease, lease_ends, moved, two_disputable_units};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::payment::{Purse, Reason};

#[test]
fn a_complaint_in_the_slot_gives_all_of_it_back_and_ends_the_lease() {
    let (mut world, order, lease) = disputable_lease(5);
    world.until(18);
    // Height 19 of 24: floor(20 * 5 / 8) at once, the rest at the boundary.
    let said = world.complaint(2, lease, 2);
    let effects = world.all(vec![said]);
    assert_eq!(moved(&effects, Reason::Refund), [12]);
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Disputed)]);
    let cancel = world.by(2, gridbay_protocol::entry::EntryBody::Cancel { order });
    // Height 20 closes a round: the order stands again and is served by the same units before it
    // can be taken back.
    world.until(20);
    world.all(vec![cancel]);
    let mut back = moved(&world.until(24), Reason::Refund);
    back.sort_unstable();
    assert_eq!(back, [8, 10], "never acknowledged again");
    world.until(40);
    assert_eq!((world.account(1), world.account(2)), (START, START));
}

#[test]
fn a_complaint_after_the_last_slot_gives_back_what_is_held() {
    let (mut world, _, lease) = disputable_lease(1);
    let effects = world.until(24);
    assert_eq!(moved(&effects, Reason::Retained), [20]);
    let seller = Purse::Retained(world.member(1));
    assert_eq!((world.account(1), world.balance(seller)), (START, 20));
    let said = world.complaint(2, lease, 2);
    let effects = world.all(vec![said]);
    assert_eq!(moved(&effects, Reason::Refund), [20]);
    let again = world.complaint(2, lease, 2);
    assert!(matches!(
        world.refused(again),
        Refusal::NothingToComplain { slot: 2, .. }
    ));
    world.until(40);
    assert_eq!((world.account(1), world.account(2)), (START, START));
}

#[test]
fn silence_pays_the_seller_a_slot_later() {
    let (mut world, _, lease) = disputable_lease(1);
    world.until(31);
    assert_eq!(world.account(1), START);
    assert!(world.state.work_is_due(), "heights tick until it is paid");
    let effects = world.until(32);
    assert_eq!(moved(&effects, Reason::Earning), [20]);
    let late = world.complaint(2, lease, 2);
    assert!(matches!(
        world.refused(late),
        Refusal::NothingToComplain { .. }
    ));
}

#[test]
fn the_fourth_complaint_of_one_house_withdraws_the_offer_and_nothing_was_earned() {
    let mut world = two_disputable_units();
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 50))]);
    let mut withdrawals = vec![];
    // A lease at every close of a round, acknowledged and complained of.
    for close in [16, 20, 24, 28] {
        if world.state.height() < close {
            world.until(close);
        }
        let (lease, slot) = (
            world.lease_of(&orders[0]),
            world.state.calendar().slot(close + 1),
        );
        world.deliver(1, lease);
        let said = world.complaint(2, lease, slot);
        let effects = world.all(vec![said]);
        let withdrawn = effects.iter().find_map(|effect| match effect {
            Effect::Lease(LeaseEvent::Disputed { withdrawn, .. }) => Some(*withdrawn),
            _ => None,
        });
        withdrawals.extend(withdrawn);
    }
    assert_eq!(withdrawals, [false, false, false, true]);
    world.until(48);
    assert_eq!(world.state.order(&orders[0]).and_then(|o| o.lease), None);
    assert_eq!(world.account(1), START);
    assert_eq!(
        world.account(2),
        START - 100,
        "only what stands in the escrow"
    );
}
