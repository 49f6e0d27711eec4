//! The rules of `reservation` restated plainly, without production code: a table of what is busy,
//! and a matching found by augmenting paths. Also the benchmark's baseline.

use std::collections::BTreeSet;

use gridbay_protocol::mechanism::reservation::{Award, Bid, Input, Orders, Outcome, Placement};

pub(crate) type Market = Input<u64, u64>;
type Offer = Bid<u64, u64>;

/// Chooses nodes for quantities of lists of free nodes, rising; `None` if they do not suffice.
pub(crate) type Pick = fn(&[(usize, Vec<u64>)]) -> Option<Vec<Vec<u64>>>;

/// The rank of a bid, as a fraction.
type Figure = fn(&Offer) -> (u128, u128);

/// The best attempt, with any way of choosing nodes.
pub(crate) fn clear(market: &Market, pick: Pick) -> Outcome<u64, u64> {
    let valid = |bid: &&Offer| {
        let size = bid.node_slots();
        bid.slots > 0
            && !bid.classes.is_empty()
            && bid.classes.iter().all(|class| class.quantity > 0)
            && bid.earliest <= bid.latest
            && size * u128::from(market.reserve) <= u128::from(bid.value)
    };
    let bids: Vec<&Offer> = market.bids.iter().filter(valid).collect();
    let figures: &[Figure] = &[
        |bid| (bid.value.into(), bid.node_slots()),
        |bid| (bid.value.into(), 1),
        // Of squares; tests that rank like this keep values below 2^40.
        |bid| (u128::from(bid.value).pow(2), bid.node_slots()),
    ];
    let rankings = if market.policy.orders == Orders::Three {
        3
    } else {
        1
    };
    let fronts = (market.policy.fronts as usize).min(bids.len()).max(1);
    let mut best: Option<Outcome<u64, u64>> = None;
    let mut number = 0;
    for figure in &figures[..rankings] {
        let mut ranked = bids.clone();
        ranked.sort_by(|a, b| {
            let ((x, p), (y, q)) = (figure(a), figure(b));
            (y * p)
                .cmp(&(x * q))
                .then((a.time, a.id).cmp(&(b.time, b.id)))
        });
        for front in 0..fronts {
            let mut order = ranked.clone();
            if front < order.len() {
                let first = order.remove(front);
                order.insert(0, first);
            }
            let attempt = fill(market, &order, number, pick);
            if best.as_ref().is_none_or(|best| attempt.total > best.total) {
                best = Some(attempt);
            }
            number += 1;
        }
    }
    best.unwrap()
}

fn fill(market: &Market, order: &[&Offer], number: u32, pick: Pick) -> Outcome<u64, u64> {
    let mut busy: BTreeSet<(u64, u32)> = market.busy.iter().copied().collect();
    let mut channels: BTreeSet<(u32, u32)> = market.busy_channels.iter().copied().collect();
    let mut awards = Vec::new();
    for bid in order {
        let Some(placement) = first_fit(market, bid, &busy, &channels, pick) else {
            continue;
        };
        for slot in placement.start..placement.start + bid.slots {
            busy.extend(placement.nodes.iter().flatten().map(|&node| (node, slot)));
            channels.extend(placement.channel.map(|channel| (channel, slot)));
        }
        awards.push(Award {
            placement,
            pay: bid.value,
        });
    }
    awards.sort_by_key(|award: &Award<u64, u64>| award.placement.id);
    Outcome {
        attempt: Some(number),
        total: awards.iter().map(|award| u128::from(award.pay)).sum(),
        awards,
    }
}

fn first_fit(
    market: &Market,
    bid: &Offer,
    busy: &BTreeSet<(u64, u32)>,
    channels: &BTreeSet<(u32, u32)>,
    pick: Pick,
) -> Option<Placement<u64, u64>> {
    for start in 0..market.starts.min(market.slots) {
        let end = start + bid.slots;
        if i64::from(start) < bid.earliest || i64::from(start) > bid.latest || end > market.slots {
            continue;
        }
        let channel = bid.channels.map(|range| {
            let free = |c: &u32| (start..end).all(|slot| !channels.contains(&(*c, slot)));
            (range.low..=range.high).find(free)
        });
        if channel == Some(None) {
            continue;
        }
        let free: BTreeSet<u64> = market
            .nodes
            .iter()
            .copied()
            .filter(|&node| (start..end).all(|slot| !busy.contains(&(node, slot))))
            .collect();
        let wants: Vec<(usize, Vec<u64>)> = bid
            .classes
            .iter()
            .map(|class| {
                let named: BTreeSet<u64> = class.nodes.iter().copied().collect();
                (
                    class.quantity as usize,
                    named.intersection(&free).copied().collect(),
                )
            })
            .collect();
        if let Some(nodes) = pick(&wants) {
            let channel = channel.flatten();
            return Some(Placement {
                id: bid.id,
                start,
                nodes,
                channel,
            });
        }
    }
    None
}

/// Node by node: the lowest one with which, by augmenting paths, all quantities can still be met.
pub(crate) fn by_paths(wants: &[(usize, Vec<u64>)]) -> Option<Vec<Vec<u64>>> {
    let mut left: Vec<(usize, Vec<u64>)> = wants.to_vec();
    if !served(&left) {
        return None;
    }
    let mut picked = vec![Vec::new(); wants.len()];
    for class in 0..wants.len() {
        for &node in &wants[class].1 {
            if left[class].0 == 0 {
                break;
            }
            if !left[class].1.contains(&node) {
                continue;
            }
            let mut without = left.clone();
            without[class].0 -= 1;
            for (_, nodes) in &mut without {
                nodes.retain(|&other| other != node);
            }
            if served(&without) {
                picked[class].push(node);
                left = without;
            }
        }
    }
    Some(picked)
}

/// Whether every class can have its quantity: one path for each node wanted.
fn served(wants: &[(usize, Vec<u64>)]) -> bool {
    // The class that a node serves.
    let mut serves = std::collections::BTreeMap::new();
    (0..wants.len()).all(|class| {
        (0..wants[class].0).all(|_| augment(wants, class, &mut serves, &mut BTreeSet::new()))
    })
}

fn augment(
    wants: &[(usize, Vec<u64>)],
    class: usize,
    serves: &mut std::collections::BTreeMap<u64, usize>,
    seen: &mut BTreeSet<u64>,
) -> bool {
    for &node in &wants[class].1 {
        if seen.insert(node) {
            let holder = serves.get(&node).copied();
            if holder.is_none_or(|holder| augment(wants, holder, serves, seen)) {
                serves.insert(node, class);
                return true;
            }
        }
    }
    false
}
