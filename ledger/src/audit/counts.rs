//! The counts of records, checked against a recount: of everything, and of the records that a block
//! touched.

use crate::record::{Held, Holding, Lease, Party, Scarce, Takes};
use crate::refusal::{Breach, hold};
use crate::scarce;
use crate::table::Table;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, OfferId};
use std::collections::BTreeMap;

type Counts = BTreeMap<(AccountId, Holding), i64>;
type Room = BTreeMap<(Scarce, Option<Party>), i64>;

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
    let mut room = Room::new();
    taken(work, &mut room, &tables.offers);
    taken(work, &mut room, &tables.orders);
    taken(work, &mut room, &tables.contracts);
    let beyond = room.clone().into_iter();
    for ((what, _), count) in beyond {
        *room.entry((what, None)).or_default() += beyond_part(work, what, count);
    }
    for (place, counted) in tables.scarce.iter() {
        *room.entry(*place).or_default() -= signed(*counted);
    }
    apart(&room, |n| *n != 0, "what is scarce")?;
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
    scarcity(work)?;
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

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// How far a party's count is beyond its part.
fn beyond_part(work: &Work<'_>, what: Scarce, count: i64) -> i64 {
    (count - signed(scarce::kept(work, what))).max(0)
}

fn take(work: &Work<'_>, room: &mut Room, record: &impl Takes, sign: i64) {
    for (what, account, count) in record.takes() {
        let place = (what, Some(scarce::party(work, &account)));
        *room.entry(place).or_default() += sign * signed(count);
    }
}

fn taken<K: Ord + Clone, V: Takes + Clone + PartialEq>(
    work: &Work<'_>,
    room: &mut Room,
    table: &Table<'_, K, V>,
) {
    let records = table.iter();
    records.for_each(|(_, record)| take(work, room, record, 1));
}

fn shifted<K: Ord + Clone, V: Takes + Clone + PartialEq>(
    work: &Work<'_>,
    room: &mut Room,
    table: &Table<'_, K, V>,
) {
    for (_, was, is) in table.changed() {
        was.into_iter()
            .for_each(|record| take(work, room, record, -1));
        is.into_iter()
            .for_each(|record| take(work, room, record, 1));
    }
}

/// The counts of each party moved with the records, and with them the count of all.
fn scarcity(work: &Work<'_>) -> Result<(), Breach> {
    let (tables, mut room) = (&work.tables, Room::new());
    shifted(work, &mut room, &tables.offers);
    shifted(work, &mut room, &tables.orders);
    shifted(work, &mut room, &tables.contracts);
    for ((what, party), was, is) in tables.scarce.changed() {
        let [was, is] = [was, is].map(|count| signed(count.copied().unwrap_or(0)));
        *room.entry((*what, *party)).or_default() -= is - was;
        if party.is_some() {
            let more = beyond_part(work, *what, is) - beyond_part(work, *what, was);
            *room.entry((*what, None)).or_default() += more;
        }
    }
    apart(&room, |n| *n != 0, "what is scarce")
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
