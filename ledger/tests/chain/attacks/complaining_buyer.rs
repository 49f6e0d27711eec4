//! A buyer that was served says that it was not. It gains one slot of the lease, loses the lease,
//! has so many complaints in an epoch, of so many for all of its house, and alone withdraws an
//! offer with four of them.

use crate::deadline::{job, planned, send};
use crate::trade::{
    START, bid, disputable_lease, lease_ends, lease_in, moved, two_disputable_units,
    units_disputable_for,
};
use crate::world::{World, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{LeaseId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::limits::{
    COMPLAINTS_PER_ACCOUNT, COMPLAINTS_PER_SPONSOR, COMPLAINTS_TO_WITHDRAW,
};
use gridbay_protocol::payment::{Purse, Reason};

#[test]
fn a_lie_brings_one_slot_and_ends_the_lease() {
    let (mut world, order, lease) = disputable_lease(5);
    world.until(24);
    // Height 25: slot 2 is held, slot 3 has run for one height and is paid for that.
    let said = world.complaint(2, lease, 2);
    let stranger = world.complaint(3, lease, 2);
    assert!(matches!(
        world.refused(stranger),
        Refusal::NothingToComplain { .. }
    ));
    let effects = world.all(vec![said]);
    assert_eq!(
        moved(&effects, Reason::Refund),
        [20, 15],
        "slot 2, and 6 of 8 heights"
    );
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Disputed)]);
    let cancel = world.by(2, EntryBody::Cancel { order });
    world.all(vec![cancel]);
    for slot in [2, 3] {
        let more = world.complaint(2, lease, slot);
        assert!(matches!(
            world.refused(more),
            Refusal::NothingToComplain { .. }
        ));
    }
    let effects = world.until(32);
    assert_eq!(
        moved(&effects, Reason::Earning),
        [5],
        "the two heights, at once"
    );
    assert_eq!((world.account(1), world.account(2)), (START + 5, START - 5));
}

#[test]
fn of_a_lease_that_is_complained_of_all_other_slots_are_paid_at_once() {
    let (mut world, _, lease) = disputable_lease(5);
    world.until(24);
    world.beat(1);
    let said = world.complaint(2, lease, 3);
    let effects = world.all(vec![said]);
    assert_eq!(moved(&effects, Reason::Earning), [20], "slot 2");
    assert_eq!(world.account(1), START + 20);
}

#[test]
fn of_two_slots_that_are_held_the_one_complained_of_goes_back_and_no_other() {
    let (mut world, _, lease) = lease_in(units_disputable_for(2), 5);
    world.until(24);
    world.beat(1);
    let effects = world.until(32);
    assert_eq!(
        moved(&effects, Reason::Earning),
        Vec::<u64>::new(),
        "slots 2 and 3 are held"
    );
    let seller = Purse::Retained(world.member(1));
    assert_eq!((world.account(1), world.balance(seller)), (START, 40));
    let said = world.complaint(2, lease, 3);
    let effects = world.all(vec![said]);
    assert_eq!(
        moved(&effects, Reason::Refund),
        [20, 17],
        "slot 3, and 7 of 8 heights of the running one"
    );
    assert_eq!(moved(&effects, Reason::Earning), [20], "slot 2");
    assert_eq!((world.account(1), world.balance(seller)), (START + 20, 0));
}

/// The lease of an order, when it runs. The seller sets its offer again whenever it was withdrawn.
fn lease(world: &mut World, order: &OrderId) -> LeaseId {
    loop {
        if let Some(lease) = world.state.order(order).and_then(|o| o.lease) {
            return lease;
        }
        let offer = world.state.offer(&world.offer_of(1, 1));
        let sells = offer.is_some_and(|o| o.active || o.pending.is_some());
        let again = (!sells).then(|| world.offer(1, 1, 2, 10, Some(30)));
        world.block(again.into_iter().collect());
    }
}

/// An account complains so many times of one order, for which it outbids all before it; how often
/// the offer was withdrawn.
fn complain(world: &mut World, buyer: u8, times: u32) -> (OrderId, usize) {
    let price = 50 + 10 * u64::from(buyer);
    let order = world.bids(&[(buyer, bid(world, &[(2, price)], 100))])[0];
    let mut withdrawn = 0;
    for _ in 0..times {
        let lease = lease(world, &order);
        world.deliver(1, lease);
        let slot = world.state.calendar().slot(world.state.height() + 1);
        let complaint = world.complaint(buyer, lease, slot);
        let effects = world.all(vec![complaint]);
        withdrawn += effects.iter().filter(|e| is_withdrawal(e)).count();
    }
    (order, withdrawn)
}

/// Why an account may not complain once more of an order.
fn one_more(world: &mut World, buyer: u8, order: &OrderId) -> Refusal {
    let lease = lease(world, order);
    world.deliver(1, lease);
    let slot = world.state.lease(&lease).map_or(0, |l| l.slot);
    let more = world.complaint(buyer, lease, slot);
    world.refused(more)
}

#[test]
fn an_account_has_four_complaints_and_its_house_sixteen() {
    let mut world = two_disputable_units();
    let mut house = vec![2];
    for _ in 0..4 {
        house.push(world.tenant(2, 150_000));
    }
    let last = house.pop().unwrap();
    let mut withdrawals = 0;
    for buyer in house {
        let (order, withdrawn) = complain(&mut world, buyer, COMPLAINTS_PER_ACCOUNT);
        withdrawals += withdrawn;
        let (account, limit) = (world.member(buyer), COMPLAINTS_PER_ACCOUNT);
        let spent = Refusal::ComplaintQuota { account, limit };
        assert_eq!(
            one_more(&mut world, buyer, &order),
            spent,
            "not for the others"
        );
    }
    let most = COMPLAINTS_PER_SPONSOR as usize / COMPLAINTS_TO_WITHDRAW;
    assert_eq!(withdrawals, most);
    let (order, _) = complain(&mut world, last, 0);
    let (account, limit) = (world.member(2), COMPLAINTS_PER_SPONSOR);
    let spent = Refusal::ComplaintQuota { account, limit };
    assert_eq!(one_more(&mut world, last, &order), spent);
}

fn is_withdrawal(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Lease(LeaseEvent::Disputed {
            withdrawn: true,
            ..
        })
    )
}

/// Two houses, members 2 and 3, with a lease of one unit each at the same offer, acknowledged.
fn two_houses() -> (World, Vec<LeaseId>) {
    let mut world = two_disputable_units();
    let one = bid(&world, &[(1, 50)], 5);
    let orders = world.bids(&[(2, one.clone()), (3, one)]);
    world.until(16);
    let leases: Vec<_> = orders.iter().map(|order| world.lease_of(order)).collect();
    let deliver = |lease: &_| world.by(1, EntryBody::Deliver { lease: *lease });
    let entries = leases.iter().map(deliver).collect();
    world.all(entries);
    (world, leases)
}

#[test]
fn two_houses_withdraw_an_offer_with_a_complaint_each() {
    let (mut world, leases) = two_houses();
    let first = world.complaint(2, leases[0], 2);
    let effects = world.all(vec![first]);
    assert!(!effects.iter().any(is_withdrawal));
    let second = world.complaint(3, leases[1], 2);
    let effects = world.all(vec![second]);
    assert!(effects.iter().any(is_withdrawal));
    assert!(
        !world
            .state
            .offer(&world.offer_of(1, 1))
            .is_some_and(|o| o.active)
    );
}

#[test]
fn of_a_preempted_lease_there_is_one_complaint_as_well() {
    let (mut world, order, lease) = disputable_lease(5);
    // Slot 2 is held. In slot 3 a buy preempts the lease: the used part of the slot is paid at
    // once.
    world.until(24);
    let buy = world.buy(3, 2, 1, 10_000);
    world.all(vec![buy]);
    world.until(28);
    assert_eq!(
        world.state.order(&order).and_then(|o| o.lease),
        None,
        "preempted"
    );
    let said = world.complaint(2, lease, 2);
    let effects = world.all(vec![said]);
    assert_eq!(moved(&effects, Reason::Refund), [20]);
    world.until(32);
    let more = world.complaint(2, lease, 3);
    assert!(matches!(
        world.refused(more),
        Refusal::NothingToComplain { .. }
    ));
}

#[test]
fn setting_an_offer_again_forgets_no_complaint() {
    let (mut world, leases) = two_houses();
    let first = world.complaint(2, leases[0], 2);
    world.all(vec![first]);
    // The same terms take effect with the round, and the complaint of the one house stays.
    let again = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![again]);
    world.until(20);
    let second = world.complaint(3, leases[1], 2);
    let effects = world.all(vec![second]);
    assert!(effects.iter().any(is_withdrawal));
}

#[test]
fn of_a_job_by_a_deadline_a_complaint_pays_what_was_counted() {
    let mut world = World::with(Policy {
        dispute_slots: 1,
        ..policy()
    });
    let offer = planned(&world, 1, 4, 0);
    let offer = world.by(1, EntryBody::SetOffer(offer));
    world.all(vec![offer]);
    world.until(8);
    // Ten slots of four units are declared, and in the first of them the buyer has enough.
    let order = {
        let job = job(&world, 40, (20, 30), (1_000, 500));
        send(&mut world, 2, job)
    };
    world.until(16);
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    let said = world.complaint(2, lease, 2);
    world.all(vec![said]);
    world.until(24);
    assert!(world.state.order(&order).is_none(), "it is over");
    // Nothing was counted before the slot complained of: a seller that serves nothing gets nothing.
    assert_eq!((world.account(1), world.account(2)), (START, START));
}
