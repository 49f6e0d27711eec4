//! From a wish for nodes ahead of time to a reservation.
//!
//! 1. The window becomes slots: seconds from now at the network's nominal pace, or slots by number.
//!    It begins no earlier than the first slot that is decided once the order is open, and ends
//!    with the last start that is sold then.
//! 2. A winner pays its bid: the budget, or the price limit for all node-slots; without either, the
//!    posted price.
//! 3. Nodes that no group names are of any offer.

use super::{Ahead, Start};
use crate::backend::failure::usage;
use crate::market::Market;
use crate::market::desk::Answer;
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan, Said, Shelf, too_much};
use gridbay_core::buy::{ReserveTerms, Terms};
use gridbay_protocol::appeal::last_opening;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::limits;
use gridbay_protocol::order::Group;
use gridbay_protocol::units::{Credits, Price};

/// Finds the offer that a text means.
type Meant<'a> = &'a dyn Fn(&str) -> Answer<OfferId>;

impl Ahead {
    /// Plans a reservation; `meant` finds the offer that a text means.
    pub(super) fn planned(&self, market: &Market, ask: &Ask, meant: Meant<'_>) -> Answer<Plan> {
        let slots = ask.slots(market, market.policy.reservation.slots)?;
        ask.in_range()?;
        self.of(market, ask, slots, meant)
    }

    fn of(&self, market: &Market, ask: &Ask, slots: u32, meant: Meant<'_>) -> Answer<Plan> {
        let slot_ms = market.policy.slot_ms();
        let node_slots = u64::from(ask.nodes) * u64::from(slots);
        let posted = market.reference.times(node_slots).ok_or_else(too_much)?;
        let limit = match ask.max_price {
            Some(most) => {
                let price = Price::from_hourly(most, slot_ms).ok_or_else(too_much)?;
                Some(price.times(node_slots).ok_or_else(too_much)?)
            }
            None => None,
        };
        let value = match (ask.budget, limit) {
            (Some(budget), Some(limit)) => budget.min(limit),
            (one, other) => one.or(other).unwrap_or(posted),
        };
        if value < posted {
            return Err(usage(
                format!("it bids {value} credits, the posted price is {posted}"),
                "raise --budget or --max-price, or ask for less",
            ));
        }
        let (earliest, latest) = window(self, market)?;
        let terms = ReserveTerms {
            groups: groups(ask.nodes, self, meant)?,
            earliest,
            latest,
            value,
            channels: self.channels,
        };
        let bracket = u64::from(ask.nodes.next_power_of_two());
        let deposit = market.reference.times(bracket).ok_or_else(too_much)?;
        let each = Price(value.micros().div_ceil(node_slots.max(1)));
        Ok(Plan {
            terms: Terms::Reserve(terms),
            slots,
            max_price: ask.max_price.unwrap_or_else(|| limit_hourly(each, slot_ms)),
            most: value,
            likely: Some(value),
            needed_now: deposit.max(value),
            worth: None,
            shelf: Shelf {
                offered: market.reservable(),
                ..Shelf::of(market)
            },
            said: Said::Least(posted),
        })
    }
}

/// First and last start.
fn window(ahead: &Ahead, market: &Market) -> Answer<(u64, u64)> {
    let (calendar, slot_ms) = (market.policy.calendar, market.policy.slot_ms().max(1));
    let height = market.height.saturating_add(1);
    let now = calendar.slot(height);
    let opened = last_opening(&calendar, calendar.round(height));
    let first = calendar.slot(opened) + 1;
    let last = first + u64::from(market.policy.reservation.starts) - 1;
    let in_slots = |seconds: u32| u64::from(seconds) * 1_000;
    let earliest = match ahead.from {
        Start::In(seconds) => now + in_slots(seconds).div_ceil(slot_ms),
        Start::Slot(slot) => slot,
    };
    let earliest = earliest.max(first);
    let latest = match ahead.until {
        None => last,
        Some(Start::In(seconds)) => now + in_slots(seconds) / slot_ms,
        Some(Start::Slot(slot)) => slot,
    };
    if earliest > latest || latest > last {
        return Err(usage(
            format!("a start in slot {earliest} to {latest}"),
            format!("choose a window within the starts for sale, slot {first} to {last}"),
        ));
    }
    Ok((earliest, latest))
}

fn groups(nodes: u32, ahead: &Ahead, meant: Meant<'_>) -> Answer<Vec<Group>> {
    let named = ahead.groups.iter().map(|group| {
        let offers = group.offers.iter().map(|offer| meant(offer));
        let mut offers = offers.collect::<Answer<Vec<_>>>()?;
        offers.sort_unstable();
        offers.dedup();
        Ok(Group {
            units: group.nodes,
            offers,
        })
    });
    let mut groups = named.collect::<Answer<Vec<Group>>>()?;
    let named: u64 = groups.iter().map(|g| u64::from(g.units)).sum();
    let rest = u64::from(nodes).checked_sub(named);
    let rest = rest.ok_or_else(|| {
        let why = format!("groups of {named} nodes together, {nodes} nodes");
        usage(why, "ask for at least as many nodes as the groups have")
    })?;
    if rest > 0 {
        groups.push(Group {
            units: rest as u32,
            offers: vec![],
        });
    }
    if groups.len() > limits::RESERVATION_GROUPS || nodes > limits::RESERVATION_UNITS {
        let (groups, units) = (limits::RESERVATION_GROUPS, limits::RESERVATION_UNITS);
        return Err(usage(
            "a reservation out of range",
            format!("want at most {units} nodes in {groups} groups"),
        ));
    }
    Ok(groups)
}

/// A reservation's bid for a unit and slot, rounded up.
pub(super) fn each(value: Credits, units: u32, slots: u32) -> Price {
    let node_slots = u64::from(units) * u64::from(slots);
    Price(value.micros().div_ceil(node_slots.max(1)))
}

#[cfg(test)]
mod tests {
    use super::super::NodeGroup;
    use super::*;
    use crate::api::ErrorCode;
    use crate::market::tests::market;

    fn ahead() -> Ahead {
        Ahead {
            groups: vec![],
            from: Start::In(0),
            until: None,
            channels: None,
        }
    }
    fn ask(nodes: u32) -> Ask {
        Ask {
            nodes,
            max_price: None,
            seconds: 6,
            budget: None,
        }
    }
    /// Offers of four units; the posted price is 100 a slot of 2 s; the next height is 18, in slot
    /// 2.
    fn terms(ask: &Ask, ahead: &Ahead) -> Answer<ReserveTerms> {
        let market = market(&[(4, 4, 50, None)]);
        let meant = |offer: &str| offer.parse().map_err(|_| usage("no offer", "look"));
        match ahead.of(&market, ask, 3, &meant)?.terms {
            Terms::Reserve(terms) => Ok(terms),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_winner_pays_its_bid_and_no_less_than_the_posted_price() {
        let value = |budget: Option<&str>, max_price: Option<&str>| {
            let parse = |text: &str| text.parse().unwrap();
            let ask = Ask {
                budget: budget.map(parse),
                max_price: max_price.map(parse),
                ..ask(2)
            };
            terms(&ask, &ahead()).map(|t| t.value.micros())
        };
        assert_eq!(value(None, None), Ok(600));
        assert_eq!(value(Some("0.001"), None), Ok(1_000));
        // 3.6 credits an hour are 2,000 micro-credits a slot.
        assert_eq!(value(None, Some("3.6")), Ok(12_000));
        assert_eq!(value(Some("0.001"), Some("3.6")), Ok(1_000));
        assert_eq!(
            value(Some("0.000599"), None).unwrap_err().code,
            ErrorCode::Usage
        );
    }

    #[test]
    fn windows() {
        let window = |from, until| {
            let ahead = Ahead {
                from,
                until,
                ..ahead()
            };
            terms(&ask(2), &ahead).map(|t| (t.earliest, t.latest))
        };
        // Committed in round 4, opened in round 5 of slot 2; starts are sold from slot 3 to 74.
        assert_eq!(window(Start::In(0), None), Ok((3, 74)));
        assert_eq!(window(Start::In(7), Some(Start::In(20))), Ok((6, 12)));
        assert_eq!(window(Start::Slot(9), Some(Start::Slot(9))), Ok((9, 9)));
        for (from, until) in [
            (Start::In(9), Some(Start::In(8))),
            (Start::In(0), Some(Start::Slot(75))),
            (Start::In(0), Some(Start::Slot(2))),
            (Start::In(u32::MAX), None),
        ] {
            assert!(window(from, until).is_err());
        }
    }

    #[test]
    fn nodes_of_no_group_are_of_any_offer() {
        let (a, b) = (OfferId([1; 32]), OfferId([2; 32]));
        let ahead = Ahead {
            groups: vec![NodeGroup {
                nodes: 2,
                offers: [b, a, b].map(|offer| offer.to_hex()).into(),
            }],
            ..ahead()
        };
        let groups = terms(&ask(3), &ahead).unwrap().groups;
        assert_eq!(groups[0].offers, [a, b]);
        assert_eq!((groups[1].units, groups[1].offers.len()), (1, 0));
        assert_eq!(terms(&ask(2), &ahead).unwrap().groups.len(), 1);
        assert!(terms(&ask(1), &ahead).is_err());
        let mut none = ahead.clone();
        none.groups[0].offers.push("x".to_owned());
        assert_eq!(terms(&ask(3), &none).unwrap_err().code, ErrorCode::Usage);
        assert!(terms(&ask(257), &ahead).is_err());
    }
}
