//! A buyer that was served says that it was not. It gains one slot of the lease, loses the lease,
//! has so many complaints in an epoch for all of its house, and alone withdraws an offer with four
//! of them.

use crate::deadline::{job, planned, send};
use crate::trade::{START, bid, disputable_lease, lease_ends, moved, two_disputable_units};
use crate::world::{World, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::limits::{COMPLAINTS_PER_SPONSOR, COMPLAINTS_TO_WITHDRAW};
use gridbay_protocol::payment::Reason;

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
fn a_house_has_so_many_complaints_and_withdraws_so_many_offers() {
    let mut world = two_disputable_units();
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 100))]);
    let (mut said, mut withdrawn) = (0, 0);
    while said < COMPLAINTS_PER_SPONSOR {
        let height = world.state.height();
        let lease = world.state.order(&orders[0]).and_then(|o| o.lease);
        let offer = world.state.offer(&world.offer_of(1, 1));
        let sells = offer.is_some_and(|o| o.active || o.pending.is_some());
        let Some(lease) = lease else {
            // The seller sets its offer again whenever it was withdrawn.
            let again = (!sells).then(|| world.offer(1, 1, 2, 10, Some(30)));
            world.block(again.into_iter().collect());
            continue;
        };
        let slot = world.state.calendar().slot(height + 1);
        let deliver = world.by(1, EntryBody::Deliver { lease });
        let complaint = world.complaint(2, lease, slot);
        let effects = world.all(vec![deliver, complaint]);
        said += 1;
        withdrawn += effects
            .iter()
            .filter(|effect| is_withdrawal(effect))
            .count();
    }
    assert_eq!(
        withdrawn,
        COMPLAINTS_PER_SPONSOR as usize / COMPLAINTS_TO_WITHDRAW
    );
    while world
        .state
        .order(&orders[0])
        .and_then(|o| o.lease)
        .is_none()
    {
        let sells = world.state.offer(&world.offer_of(1, 1));
        let sells = sells.is_some_and(|o| o.active || o.pending.is_some());
        let again = (!sells).then(|| world.offer(1, 1, 2, 10, Some(30)));
        world.block(again.into_iter().collect());
    }
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let slot = world.state.lease(&lease).map_or(0, |l| l.slot);
    let more = world.complaint(2, lease, slot);
    assert!(matches!(
        world.refused(more),
        Refusal::ComplaintQuota {
            limit: COMPLAINTS_PER_SPONSOR,
            ..
        }
    ));
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

#[test]
fn two_houses_withdraw_an_offer_with_a_complaint_each() {
    let mut world = two_disputable_units();
    let one = bid(&world, &[(1, 50)], 5);
    let orders = world.bids(&[(2, one.clone()), (3, one)]);
    world.until(16);
    let leases: Vec<_> = orders.iter().map(|order| world.lease_of(order)).collect();
    let deliver = |lease: &_| world.by(1, EntryBody::Deliver { lease: *lease });
    let entries = leases.iter().map(deliver).collect();
    world.all(entries);
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
    // Slot 2 is held. In slot 3 a buy preempts the lease: what it used of the slot is paid at once.
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
    let mut world = two_disputable_units();
    let one = bid(&world, &[(1, 50)], 5);
    let orders = world.bids(&[(2, one.clone()), (3, one)]);
    world.until(16);
    let leases: Vec<_> = orders.iter().map(|order| world.lease_of(order)).collect();
    let deliver = |lease: &_| world.by(1, EntryBody::Deliver { lease: *lease });
    let entries = leases.iter().map(deliver).collect();
    world.all(entries);
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
fn a_complaint_is_no_cheap_way_out_of_a_job_by_a_deadline() {
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
    // The price of a job done by then, less the four of forty unit-slots.
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 900, START - 900)
    );
}
