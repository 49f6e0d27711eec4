//! I5 for buys: at the close of a round they are decided in turn, each by the rules.
//!
//! 1. Before a block that closes a round the checker keeps a copy of the buys without a lease, and
//!    of the bids, offers and leases ([`Shop`]). The block's own buys join them.
//! 2. Their turn is by the round that each came in, then by its rank under the beacon after the
//!    block.
//! 3. In that order each is served, ended or passed over, by the units that the effects so far have
//!    left. The block's effects are compared with the shop's findings: units and price of every
//!    part, the bids displaced, the class that is short. A buy has all of its parts or none. Of the
//!    buys that waited, only the first of each class displace; of the new ones, only the first that
//!    search for bids to displace.
//! 4. A buy that is passed over may wait: it stands until the next close, has locked the reference
//!    prices, and has a place in the queue of each of its classes. A buy that ends lacks one of
//!    these.
//! 5. In other blocks no buy of several classes is served.
//!
//! Not judged are the units of a part where a lease in its class ended undelivered in the block
//! (its offers may be for sale no more), the buys that a surcharge evicts, and whether
//! compensations made a buy too dear. Buys that are decided in their own block are seen by I8 and
//! I16 only.

mod shop;

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::beacon;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::Buy;
use gridbay_protocol::record::buy::BuyRecord;
use shop::{Found, Shop, Wish};
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Buys {
    before: Option<Shop>,
}

/// The order that a decision on a buy in the shop is on.
fn decision(effect: &Effect, shop: &Shop) -> Option<OrderId> {
    let id = match effect {
        Effect::Buy(record) => record.order,
        Effect::Order {
            order,
            end: OrderEnd::NoUnits | OrderEnd::Short(_) | OrderEnd::TooDear,
        } => *order,
        _ => return None,
    };
    shop.wishes.contains_key(&id).then_some(id)
}

/// Whether a wish is among the first of each of its classes that wait, or is new.
fn is_first(wish: &Wish, waited: &mut BTreeMap<ClassId, u32>) -> bool {
    let mut first = true;
    for class in wish.buy.classes() {
        let before = waited.entry(class).or_default();
        first &= !wish.waits || *before < limits::WAITING_BUYS_DISPLACE;
        *before += u32::from(wish.waits);
    }
    first
}

/// Steps 2 to 4.
fn decide(
    mut shop: Shop,
    effects: &[Effect],
    beacon: &[u8; 32],
    policy: &Policy,
) -> Result<(), String> {
    let next = |shop: &Shop, from: usize| {
        let rest = effects.iter().enumerate().skip(from);
        let mut decided = rest.filter_map(|(at, e)| Some((at, decision(e, shop)?)));
        decided.next()
    };
    let mut coming = next(&shop, 0);
    let mut at = coming.map_or(effects.len(), |(at, _)| at);
    effects[..at].iter().for_each(|effect| shop.apply(effect));
    let (mut waited, mut searches) = (BTreeMap::new(), Searches::default());
    for id in turns(&shop, beacon) {
        let wish = shop.wishes[&id].clone();
        let first = is_first(&wish, &mut waited);
        let decided = coming.filter(|(_, decided)| *decided == id);
        let what = decided.map(|(place, _)| &effects[place]);
        let may = match wish.waits {
            true => vec![first],
            false => searches.may(&wish.buy),
        };
        let judged = may.iter().map(|displaces| {
            let found = &shop.find(&wish.buy, *displaces, policy);
            let case = Case {
                shop: &shop,
                wish: &wish,
                found,
                displaces: *displaces,
                policy,
            };
            case.judge(what)
        });
        let judged: Vec<_> = judged.collect();
        if !judged.iter().any(Result::is_ok) {
            judged.into_iter().collect::<Result<(), String>>()?;
        }
        if !wish.waits {
            let found = shop.find(&wish.buy, true, policy);
            searches.note(&wish.buy, &found, what);
        }
        match decided {
            Some((place, _)) => {
                shop.wishes.remove(&id);
                coming = next(&shop, place + 1);
                let until = coming.map_or(effects.len(), |(at, _)| at);
                effects[at..until]
                    .iter()
                    .for_each(|effect| shop.apply(effect));
                at = until;
            }
            None => {
                if let Some(wish) = shop.wishes.get_mut(&id) {
                    wish.waits = true;
                }
            }
        }
    }
    match coming {
        Some((_, id)) => Err(format!("buy {id} was decided out of turn")),
        None => Ok(()),
    }
}

/// How many new buys displace, or searched for bids to displace, by class: at the least and at the
/// most. The checker does not find out whether a buy that ended searched.
#[derive(Default)]
struct Searches(BTreeMap<ClassId, (u32, u32)>);

impl Searches {
    /// Whether a new buy may displace: all answers that can be right.
    fn may(&self, buy: &Buy) -> Vec<bool> {
        let of = |class| self.0.get(&class).copied().unwrap_or_default();
        let most = limits::NEW_BUYS_DISPLACE;
        let may = buy.classes().all(|class| of(class).0 < most);
        let must = buy.classes().all(|class| of(class).1 < most);
        let answers = [(true, may), (false, !must)];
        let right = answers.into_iter().filter(|(_, right)| *right);
        right.map(|(answer, _)| answer).collect()
    }
    fn note(&mut self, buy: &Buy, found: &Found, what: Option<&Effect>) {
        if let Found::All(parts) = found
            && parts.iter().all(|part| !part.displaces())
        {
            return;
        }
        for class in buy.classes() {
            let (least, most) = self.0.entry(class).or_default();
            let displaced = matches!(what, Some(Effect::Buy(record)) if record
                .parts
                .iter()
                .any(|part| part.class == class && !part.displaced.is_empty()));
            *least += u32::from(displaced);
            *most += 1;
        }
    }
}

/// Step 2.
fn turns(shop: &Shop, beacon: &[u8; 32]) -> Vec<OrderId> {
    let rank = |id: &OrderId| beacon::rank(beacon, id.as_bytes());
    let turns = shop.wishes.iter();
    let mut turns: Vec<_> = turns.map(|(id, w)| (w.round, rank(id), *id)).collect();
    turns.sort_unstable();
    turns.into_iter().map(|(_, _, id)| id).collect()
}

/// A buy at its turn, what it finds, and whether it may displace.
struct Case<'a> {
    shop: &'a Shop,
    wish: &'a Wish,
    found: &'a Found,
    displaces: bool,
    policy: &'a Policy,
}

impl Case<'_> {
    /// Steps 3 and 4 for what the block did with the buy.
    fn judge(&self, what: Option<&Effect>) -> Result<(), String> {
        match what {
            Some(Effect::Buy(record)) => self.served(record),
            Some(effect) => self.ended(effect),
            None => self.passed_over(),
        }
    }
    /// Step 3 for a buy that was served.
    fn served(&self, record: &BuyRecord) -> Result<(), String> {
        let buy = &self.wish.buy;
        let taken = record.parts.iter().map(|part| (part.class, part.units()));
        let wanted = buy.parts.iter().map(|part| (part.class, part.units));
        if !taken.eq(wanted) || record.price > buy.limit {
            return Err(format!("{buy:?} was served as {record:?}"));
        }
        let takes = record.displaced().next().is_some() || record.evicted().next().is_some();
        if takes && !self.displaces {
            return Err(format!("not among the first, and displaces: {record:?}"));
        }
        if record.evicted().next().is_some() {
            return match self.evicts() && !matches!(self.found, Found::All(_)) {
                true => Ok(()),
                false => Err(format!("nobody need be evicted: {record:?}")),
            };
        }
        match self.found {
            Found::Unknown => Ok(()),
            Found::Short(class) => Err(format!("class {class} is short: {record:?}")),
            Found::All(parts) if parts.iter().zip(&record.parts).all(|(p, r)| p.is(r)) => Ok(()),
            Found::All(parts) => Err(format!("{parts:?} was due, not {record:?}")),
        }
    }
    /// Whether a surcharge is offered: it may find units that the shop does not look for.
    fn evicts(&self) -> bool {
        self.policy.buy.evicts() && self.wish.buy.surcharge.micros() > 0
    }
    /// Whether the buy is a new one that others kept from displacing, though it finds bids to
    /// displace: its least cost is looked at before.
    fn may_not_search(&self) -> bool {
        let buy = &self.wish.buy;
        let found = || self.shop.find(buy, true, self.policy);
        !self.displaces && !self.wish.waits && found().may_be_too_dear(buy)
    }
    /// Whether the buy is a new one that others kept from displacing, and too few units of this
    /// class are there even if everybody gives way: that is looked at first, in all its classes.
    fn is_short_anyway(&self, class: ClassId) -> bool {
        let found = || self.shop.find(&self.wish.buy, true, self.policy);
        !self.displaces && !self.wish.waits && matches!(found(), Found::Short(c) if c == class)
    }
    /// Steps 3 and 4 for a buy that ended.
    fn ended(&self, effect: &Effect) -> Result<(), String> {
        let (wish, found) = (self.wish, self.found);
        let Effect::Order { end, .. } = effect else {
            return Err(format!("no end of a buy: {effect:?}"));
        };
        if self.shop.may_wait(wish, self.policy) {
            return Err(format!("{wish:?} ended as {end:?} and could have waited"));
        }
        let is_right = match found {
            Found::Unknown => true,
            Found::Short(_) if self.evicts() => true,
            Found::Short(_) if *end == OrderEnd::TooDear && self.may_not_search() => true,
            // Of what is named it is not looked at how much bids could give if it is too dear
            // anyway.
            Found::Short(_) if wish.buy.parts.iter().any(|part| !part.offers.is_empty()) => true,
            Found::Short(class) if wish.buy.is_group() => match end {
                OrderEnd::Short(named) => named == class || self.is_short_anyway(*named),
                _ => false,
            },
            Found::Short(_) => *end == OrderEnd::NoUnits,
            Found::All(_) => *end == OrderEnd::TooDear && found.may_be_too_dear(&wish.buy),
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("{wish:?} ended as {end:?} and found {found:?}")),
        }
    }
    /// Steps 3 and 4 for a buy that goes on waiting.
    fn passed_over(&self) -> Result<(), String> {
        let (wish, found) = (self.wish, self.found);
        if !self.shop.may_wait(wish, self.policy) {
            return Err(format!("{wish:?} waits and may not"));
        }
        match found {
            Found::All(_) if !found.may_be_too_dear(&wish.buy) => Err(format!(
                "{wish:?} was passed over, though it finds {found:?}"
            )),
            _ => Ok(()),
        }
    }
}

impl Buys {
    fn block(&mut self, fact: &Fact, beacon: &[u8; 32], policy: &Policy) -> Result<(), String> {
        let before = self.before.take();
        let rounds = u64::from(policy.calendar.round_heights);
        if !fact.height.is_multiple_of(rounds) {
            let early = |e: &&Effect| matches!(e, Effect::Buy(record) if record.parts.len() > 1);
            let early = fact.effects.iter().find(early);
            return early.map_or(Ok(()), |e| Err(format!("served within a round: {e:?}")));
        }
        let Some(mut shop) = before.filter(|shop| shop.height + 1 == fact.height) else {
            return Ok(());
        };
        shop.enter(&fact.decided.block.entries, fact.height, policy);
        decide(shop, &fact.effects, beacon, policy)
    }
}

impl Check for Buys {
    fn id(&self) -> &'static str {
        "I5"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(fact) = sight else {
            return Ok(());
        };
        let policy = &world.genesis.policy;
        let state = world.core(fact.node).map(gridbay_core::Core::state);
        let Some(state) = state.filter(|s| s.height() == fact.height) else {
            self.before = None;
            return Ok(());
        };
        let verdict = self.block(fact, &state.beacon(), policy);
        // Only the block that closes a round is looked at.
        let last = (fact.height + 1).is_multiple_of(u64::from(policy.calendar.round_heights));
        self.before = last.then(|| Shop::of(state));
        verdict
    }
}

#[cfg(test)]
mod tests;
