//! Random buys of several classes, and the conditions for every buy that is served.

use crate::groups::large;
use crate::model::Dice;
use crate::trade::terms;
use crate::world::World;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::order::BuyPart;
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::units::Credits;

/// A few units of the second class, for bids and buys.
pub(crate) fn random_offer(world: &World, dice: &mut Dice) -> EntryBody {
    let reserve = dice.below(20);
    let buy = Some(reserve + dice.below(20));
    let units = dice.below(2) as u32 + 1;
    let mut terms = terms(world, 5, units, reserve, buy);
    terms.class = large();
    EntryBody::SetOffer(terms)
}

/// One part as it is, or with another of the second class, or of the second class alone.
pub(crate) fn random_parts(dice: &mut Dice, part: BuyPart) -> Vec<BuyPart> {
    let mut parts = vec![part];
    match dice.below(8) {
        0..=2 => parts.push(BuyPart::anywhere(large(), dice.below(2) as u32 + 1)),
        3 => parts[0].class = large(),
        _ => {}
    }
    parts.sort_by_key(|part| part.class);
    parts
}

/// Checks that a buy has all that it asked for, within its limit; returns its kind.
pub(crate) fn bought(world: &World, buy: &BuyRecord) -> &'static str {
    let prices = buy.parts.iter().map(|part| part.price);
    assert_eq!(Credits::sum(prices), Some(buy.price));
    if buy.parts.len() > 1 {
        assert!(buy.height.is_multiple_of(4), "at the close of a round");
    }
    // It may have lost its lease in its own block, with a seller that leaves.
    if let Some(order) = world.state.order(&buy.order) {
        let asked = &order.buy().unwrap().buy;
        let taken = buy.parts.iter().map(|part| (part.class, part.units()));
        let wanted = asked.parts.iter().map(|part| (part.class, part.units));
        assert!(taken.eq(wanted), "all or none: {buy:?}");
        assert!(buy.price <= asked.limit);
        let lease = world.state.lease(&order.lease.unwrap()).unwrap();
        assert_eq!(lease.units(), asked.units());
    }
    let displaced = buy.displaced().count();
    match (buy.parts.len(), buy.evicted().count()) {
        (1, 0) if displaced == 0 => "buy",
        (1, 0) => "preemption",
        (1, _) => "eviction",
        (_, 0) if displaced == 0 => "group",
        _ => "group_displacing",
    }
}
