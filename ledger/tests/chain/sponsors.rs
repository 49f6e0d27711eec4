//! Accounts of one sponsor in one clearing, with figures worked out by hand.
//!
//! Two units at a reserve of 10. A rival needs both and would pay 50.

use crate::trade::{bid, clearings, two_units};
use crate::world::World;
use gridbay_protocol::ids::AccountId;

/// Height 9 with two units for sale, and a second account of member 2.
fn with_tenant() -> (World, u8) {
    let mut world = two_units();
    let tenant = world.tenant(2, 10_000);
    let calendar = world.state.calendar();
    world.until(calendar.last_of_round(calendar.round(world.state.height())));
    (world, tenant)
}

/// The payment of each of the bidders at the next boundary if each bids for units at 45, beside the
/// rival of member 3; and the sponsors on record, ascending.
fn pay(world: &mut World, bidders: &[(u8, u32)]) -> (Vec<u64>, Vec<AccountId>) {
    let mut whole = bid(world, &[(2, 25)], 1);
    whole.min = 2;
    let mut bids = vec![(3, whole)];
    for (n, units) in bidders {
        bids.push((*n, bid(world, &[(*units, 45)], 1)));
    }
    let orders = world.bids(&bids);
    let height = world.state.height();
    let effects = world.until(height.next_multiple_of(8));
    let record = &clearings(&effects)[0];
    let pays = orders[1..].iter().map(|order| {
        let award = record.awards.iter().find(|a| a.order == *order);
        award.expect("both outbid the rival").pay.micros()
    });
    let mut sponsors: Vec<AccountId> = record.bids.iter().map(|b| b.sponsor).collect();
    sponsors.sort_unstable();
    sponsors.dedup();
    (pays.collect(), sponsors)
}

fn sorted(mut accounts: Vec<AccountId>) -> Vec<AccountId> {
    accounts.sort_unstable();
    accounts
}

#[test]
fn a_split_over_accounts_of_one_sponsor_gains_nothing() {
    let (mut world, _) = with_tenant();
    let (one, _) = pay(&mut world, &[(2, 2)]);
    assert_eq!(one, [50], "a single bid pays what the rival would");
    // Without either of them the seller would keep the other unit for 10; without both the rival
    // pays 50.
    let (mut world, tenant) = with_tenant();
    let (both, sponsors) = pay(&mut world, &[(2, 1), (tenant, 1)]);
    assert_eq!(both, [25, 25]);
    assert_eq!(sponsors, sorted(vec![world.member(2), world.member(3)]));
}

#[test]
fn two_sponsors_pay_for_themselves() {
    let (mut world, _) = with_tenant();
    let (both, sponsors) = pay(&mut world, &[(2, 1), (4, 1)]);
    assert_eq!(both, [10, 10]);
    let all = [2, 3, 4].map(|n| world.member(n));
    assert_eq!(sponsors, sorted(all.to_vec()));
}
