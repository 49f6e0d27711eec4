//! What is counted of the records, against a recount: of everything, and of what a block touched.

use super::{Breach, hold};
use crate::holdings::{Held, Holding};
use crate::lease::Lease;
use crate::offer::Offer;
use crate::supply::{self, Party, Supply};
use crate::table::Table;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
use std::collections::BTreeMap;

type Counts = BTreeMap<(AccountId, Holding), i64>;
type Units = BTreeMap<(ClassId, Party), (i64, i64)>;

/// Everything is counted as it is.
pub(crate) fn whole(work: &Work<'_>) -> Result<(), Breach> {
    let tables = &work.tables;
    let mut counts = Counts::new();
    all_of(&mut counts, &tables.orders);
    all_of(&mut counts, &tables.unopened);
    all_of(&mut counts, &tables.offers);
    all_of(&mut counts, &tables.pots);
    all_of(&mut counts, &tables.retained);
    for (place, counted) in tables.holdings.iter() {
        *counts.entry(*place).or_default() -= i64::from(*counted);
    }
    apart(&counts, |n| *n != 0, "holdings")?;
    let mut parties: BTreeMap<(ClassId, Party), Supply> = BTreeMap::new();
    for (_, offer) in tables.offers.iter() {
        let (class, party, units) = supply::counted(work, offer);
        let sum = parties.entry((class, party)).or_default();
        *sum = sum.plus(units);
    }
    let mut all: BTreeMap<(ClassId, Option<Party>), Supply> = BTreeMap::new();
    let kept = supply::kept(work);
    for ((class, party), units) in parties {
        all.insert((class, Some(party)), units);
        let sum = all.entry((class, None)).or_default();
        *sum = sum.plus(units.beyond(kept));
    }
    all.retain(|_, units| *units != Supply::default());
    let counted: BTreeMap<_, _> = tables.supply.iter().map(|(k, v)| (*k, *v)).collect();
    hold(counted == all, || {
        format!("{all:?} is in offers, counted are {counted:?}")
    })?;
    let mut serving: BTreeMap<OfferId, u32> = BTreeMap::new();
    for offer in tables.leases.iter().flat_map(|(_, l)| l.served_by()) {
        *serving.entry(offer).or_default() += 1;
    }
    let counted: BTreeMap<_, _> = tables.serving.iter().map(|(k, n)| (*k, *n)).collect();
    hold(counted == serving, || {
        format!("{serving:?} leases are served by offers, counted are {counted:?}")
    })?;
    let sealed = tables.orders.iter().filter(|(_, order)| order.is_sealed());
    let sealed: BTreeMap<_, _> = sealed.map(|(id, o)| ((o.account, *id), ())).collect();
    let listed: BTreeMap<_, _> = tables.sealed.iter().map(|(k, ())| (*k, ())).collect();
    hold(listed == sealed, || {
        format!("{sealed:?} are sealed, listed are {listed:?}")
    })
}

/// The counts moved with the records.
pub(super) fn touched(work: &Work<'_>) -> Result<(), Breach> {
    let tables = &work.tables;
    let mut counts = Counts::new();
    moved(&mut counts, &tables.orders);
    moved(&mut counts, &tables.unopened);
    moved(&mut counts, &tables.offers);
    moved(&mut counts, &tables.pots);
    moved(&mut counts, &tables.retained);
    for (place, was, is) in tables.holdings.changed() {
        let more = i64::from(is.copied().unwrap_or(0)) - i64::from(was.copied().unwrap_or(0));
        *counts.entry(*place).or_default() -= more;
    }
    apart(&counts, |n| *n != 0, "holdings")?;
    units(work)?;
    serving(work)?;
    for (id, was, is) in tables.orders.changed() {
        let Some(account) = is.or(was).map(|order| order.account) else {
            continue;
        };
        let listed = tables.sealed.contains(&(account, *id));
        hold(listed == is.is_some_and(|o| o.is_sealed()), || {
            format!("order {id} is listed wrongly as sealed: {listed}")
        })?;
    }
    for ((_, id), _, is) in tables.sealed.changed() {
        let order = tables.orders.get(id);
        let sealed = order.is_some_and(|order| order.is_sealed());
        hold(is.is_some() == sealed, || {
            format!("order {id} is sealed: {sealed}, which the list contradicts")
        })?;
    }
    Ok(())
}

fn count(sum: &mut Counts, record: &impl Held, sign: i64) {
    for place in record.holders() {
        *sum.entry(place).or_default() += sign;
    }
}

fn all_of<K: Ord + Clone, V: Held + Clone + PartialEq>(sum: &mut Counts, table: &Table<'_, K, V>) {
    let records = table.iter();
    records.for_each(|(_, record)| count(sum, record, 1));
}

fn moved<K: Ord + Clone, V: Held + Clone + PartialEq>(sum: &mut Counts, table: &Table<'_, K, V>) {
    for (_, was, is) in table.changed() {
        was.into_iter().for_each(|record| count(sum, record, -1));
        is.into_iter().for_each(|record| count(sum, record, 1));
    }
}

/// Units in offers moved with what is counted of each party, and that with what is counted of all.
fn units(work: &Work<'_>) -> Result<(), Breach> {
    let tables = &work.tables;
    let mut parties = Units::new();
    let mut add = |offer: Option<&Offer>, sign: i64| {
        if let Some((class, party, units)) = offer.map(|offer| supply::counted(work, offer)) {
            change(parties.entry((class, party)).or_default(), units, sign);
        }
    };
    for (_, was, is) in tables.offers.changed() {
        add(was, -1);
        add(is, 1);
    }
    let kept = supply::kept(work);
    let mut classes: BTreeMap<ClassId, (i64, i64)> = BTreeMap::new();
    for ((class, party), was, is) in tables.supply.changed() {
        for (supply, sign) in [(was, -1), (is, 1)] {
            let supply = supply.copied().unwrap_or_default();
            match party {
                Some(party) => {
                    change(parties.entry((*class, *party)).or_default(), supply, -sign);
                    change(
                        classes.entry(*class).or_default(),
                        supply.beyond(kept),
                        sign,
                    );
                }
                None => change(classes.entry(*class).or_default(), supply, -sign),
            }
        }
    }
    apart(&parties, |n| *n != (0, 0), "units of parties")?;
    apart(&classes, |n| *n != (0, 0), "units of classes")
}

/// How many leases an offer serves moved with the leases.
fn serving(work: &Work<'_>) -> Result<(), Breach> {
    let mut leases: BTreeMap<OfferId, i64> = BTreeMap::new();
    for (_, was, is) in work.tables.leases.changed() {
        for (lease, sign) in [(was, -1), (is, 1)] {
            for offer in lease.into_iter().flat_map(Lease::served_by) {
                *leases.entry(offer).or_default() += sign;
            }
        }
    }
    for (offer, was, is) in work.tables.serving.changed() {
        let more = i64::from(is.copied().unwrap_or(0)) - i64::from(was.copied().unwrap_or(0));
        *leases.entry(*offer).or_default() -= more;
    }
    apart(&leases, |n| *n != 0, "leases that offers serve")
}

fn change(sum: &mut (i64, i64), supply: Supply, sign: i64) {
    let signed = |units: u64| sign * i64::try_from(units).unwrap_or(i64::MAX);
    sum.0 += signed(supply.units);
    sum.1 += signed(supply.reservable);
}

fn apart<K: std::fmt::Debug, V: std::fmt::Debug>(
    counted: &BTreeMap<K, V>,
    differs: impl Fn(&V) -> bool,
    what: &str,
) -> Result<(), Breach> {
    let apart = counted.iter().find(|(_, difference)| differs(difference));
    hold(apart.is_none(), || {
        format!("{what} and the records that they count differ: {apart:?}")
    })
}
