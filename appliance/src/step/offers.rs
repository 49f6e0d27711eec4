//! What the machine sells.
//!
//! 1. Units of a class are as many as fit into the machine less the owner's reserves, in
//!    processors, in memory and in disk; at most `units` of the owner. A class with graphics
//!    processors does not fit.
//! 2. The disk counts as a whole, less a reserve. What jobs write must not change the offer, and
//!    the node holds its offers back by itself while the disk is short of room.
//! 3. One class is sold at a time: units of two would promise the same machine twice. It is the
//!    owner's class, else the one that is on sale already, else the one that sells most of the
//!    machine.
//! 4. The price is the owner's, else that of the offer that stands, else the market's last one,
//!    else the median of the other sellers' lowest reserves, each seller counted once: a single one
//!    cannot make it. Without any of them nothing is offered, which is told.
//! 5. Own offers of other classes are withdrawn first; all of them with `off`.
//! 6. Other offers that the node holds back are its own affair, and are left alone.

use crate::action::NewOffer;
use crate::config::{Credits, Sell};
use crate::node::{Class, Offer};
use crate::seen::Machine;
use crate::state::Fault;
use crate::text::clean;
use std::collections::BTreeMap;

/// Least disk kept for the ledger and the system.
const DISK_MIB: u64 = 256;
/// The same as a part of the disk.
const DISK_PART: u64 = 16;
/// Longest name of a class that is shown.
const NAME_CHARS: usize = 64;

/// What is to be done about the offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Set one.
    Set(NewOffer),
    /// Withdraw one.
    Withdraw(u32),
    /// All is as it should be; the text says what is sold.
    Stands(String),
    /// Nothing can be offered.
    Cannot(Fault),
}

/// The plan, given the offer that was set last.
pub(super) fn plan(
    sell: &Sell,
    machine: Machine,
    classes: &[Class],
    offers: &[Offer],
    last: Option<&NewOffer>,
) -> Plan {
    let own = || offers.iter().filter(|offer| offer.own && !offer.withdrawn);
    let chosen = match sell.off {
        true => None,
        false => Some(choose(sell, machine, classes, own().next())),
    };
    let class = match &chosen {
        Some(Ok(class)) => Some(class.0.name.as_str()),
        _ => None,
    };
    if let Some(other) = own().find(|offer| Some(offer.class.as_str()) != class) {
        return Plan::Withdraw(other.label);
    }
    if offers.iter().any(|offer| offer.own && offer.held_back) {
        return Plan::Stands("holds its offers back for now".to_owned());
    }
    let (class, units) = match chosen {
        None => return Plan::Stands("sells nothing, as its settings say".to_owned()),
        Some(Err(fault)) => return Plan::Cannot(fault),
        Some(Ok(chosen)) => chosen,
    };
    let standing = own().next();
    let Some(price) = sell.price.or_else(|| price(class, offers, standing)) else {
        let name = clean(&class.name, NAME_CHARS);
        return Plan::Cannot(Fault::new(
            format!("the market has no price for {name} yet"),
            "set price in [sell] of invite.toml, or gridbay appliance set NAME price from afar",
        ));
    };
    let buy = sell
        .buy
        .or_else(|| standing.filter(|_| sell.price.is_none())?.buy);
    let wanted = NewOffer {
        class: class.name.clone(),
        units,
        price,
        buy: buy.filter(|buy| *buy >= price),
    };
    match standing {
        Some(offer) if stands(offer, &wanted, last) => Plan::Stands(format!(
            "sells {units} {} at {price} an hour",
            clean(&class.name, NAME_CHARS)
        )),
        _ => Plan::Set(wanted),
    }
}

/// Whether an offer is what is wanted. The ledger rounds prices to its slots, so an offer that was
/// set as wanted stands whatever its price reads.
fn stands(offer: &Offer, wanted: &NewOffer, last: Option<&NewOffer>) -> bool {
    let near = |have: Option<Credits>, want: Option<Credits>| match (have, want) {
        (Some(have), Some(want)) => want.is_near(have),
        (have, want) => have == want,
    };
    let priced = near(offer.reserve, Some(wanted.price)) && near(offer.buy, wanted.buy);
    offer.units == wanted.units && (priced || last == Some(wanted))
}

/// The class to sell and its units.
fn choose<'a>(
    sell: &Sell,
    machine: Machine,
    classes: &'a [Class],
    standing: Option<&Offer>,
) -> Result<(&'a Class, u32), Fault> {
    let named = |name: &str| classes.iter().find(|class| class.name == name);
    if let Some(name) = &sell.class {
        let class = named(name).ok_or_else(|| no_class(name, classes))?;
        return match units(sell, machine, class) {
            0 => Err(too_small(sell, machine, &[class])),
            units => Ok((class, units)),
        };
    }
    let fits = |class: &'a Class| match units(sell, machine, class) {
        0 => None,
        units => Some((class, units)),
    };
    if let Some(kept) = standing
        .and_then(|offer| named(&offer.class))
        .and_then(fits)
    {
        return Ok(kept);
    }
    let sold = |(class, units): &(&Class, u32)| {
        let units = u64::from(*units);
        (
            units * u64::from(class.vcpu),
            units.saturating_mul(class.memory_mib),
            units.saturating_mul(class.disk_mib),
        )
    };
    let best = classes.iter().filter_map(fits).max_by_key(sold);
    best.ok_or_else(|| too_small(sell, machine, &classes.iter().collect::<Vec<_>>()))
}

/// What there is: processors, memory, disk.
fn has(machine: Machine) -> [u64; 3] {
    [machine.vcpu.into(), machine.memory_mib, machine.disk_mib]
}

/// What of it is kept.
fn kept(sell: &Sell, machine: Machine) -> [u64; 3] {
    let disk = DISK_MIB.max(machine.disk_mib / DISK_PART);
    [
        sell.reserve_vcpu.into(),
        sell.reserve_memory_mib,
        sell.reserve_disk_mib.unwrap_or(disk),
    ]
}

fn needs(class: &Class) -> [u64; 3] {
    [class.vcpu.into(), class.memory_mib, class.disk_mib]
}

fn units(sell: &Sell, machine: Machine, class: &Class) -> u32 {
    if class.gpu > 0 || class.vcpu == 0 {
        return 0;
    }
    let (has, kept, needs) = (has(machine), kept(sell, machine), needs(class));
    let fit = (0..3)
        .filter_map(|i| has[i].saturating_sub(kept[i]).checked_div(needs[i]))
        .min();
    let fit = u32::try_from(fit.unwrap_or(0)).unwrap_or(u32::MAX);
    fit.min(sell.units.unwrap_or(u32::MAX))
}

fn price(class: &Class, offers: &[Offer], standing: Option<&Offer>) -> Option<Credits> {
    let median = || {
        let mut sellers = BTreeMap::new();
        for offer in offers {
            let counts = !offer.own && !offer.withdrawn && offer.units > 0;
            if let Some(reserve) = offer
                .reserve
                .filter(|_| counts && offer.class == class.name)
            {
                let lowest = sellers.entry(&offer.account).or_insert(reserve);
                *lowest = reserve.min(*lowest);
            }
        }
        let mut reserves: Vec<Credits> = sellers.into_values().collect();
        reserves.sort_unstable();
        reserves.get(reserves.len() / 2).copied()
    };
    standing
        .and_then(|offer| offer.reserve)
        .or(class.last)
        .or_else(median)
}

fn no_class(name: &str, classes: &[Class]) -> Fault {
    let names: Vec<String> = classes
        .iter()
        .take(8)
        .map(|class| clean(&class.name, NAME_CHARS))
        .collect();
    Fault::new(
        format!("the market has no class {}", clean(name, NAME_CHARS)),
        format!(
            "set class in [sell] of invite.toml to one of: {}",
            names.join(", ")
        ),
    )
}

/// What the machine lacks for the class that needs least of it.
fn too_small(sell: &Sell, machine: Machine, classes: &[&Class]) -> Fault {
    let (has, kept) = (has(machine), kept(sell, machine));
    let lacks = |class: &Class| -> [u64; 3] {
        let needs = needs(class);
        std::array::from_fn(|i| needs[i].saturating_add(kept[i]).saturating_sub(has[i]))
    };
    let plain = classes.iter().filter(|class| class.gpu == 0);
    let least = plain.min_by_key(|class| {
        let [vcpu, memory, disk] = lacks(class);
        (vcpu, memory.saturating_add(disk))
    });
    let Some(class) = least else {
        return Fault::new("the market has no class without graphics processors", "");
    };
    let [vcpu, memory, disk] = lacks(class);
    let parts: Vec<String> = [
        (vcpu, "processors"),
        (memory, "MiB of memory"),
        (disk, "MiB of disk"),
    ]
    .into_iter()
    .filter(|(lack, _)| *lack > 0)
    .map(|(lack, of)| format!("{lack} {of}"))
    .collect();
    Fault::new(
        format!(
            "too small for {}, it needs {} more",
            match classes.len() {
                1 => clean(&class.name, NAME_CHARS),
                _ => "any class".to_owned(),
            },
            parts.join(" and ")
        ),
        "give the machine more, or lower the reserves in [sell] of invite.toml",
    )
}

#[cfg(test)]
mod tests;
