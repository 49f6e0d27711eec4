//! From postings to sums.

use super::types::{Bought, Day, Money, Other, Sold};
use crate::api::types::Signed;
use gridbay_protocol::ids::{AccountId, ClassId, OrderId};
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, BTreeSet};
use time::OffsetDateTime;

/// A posting that concerns an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Height and position of its block.
    pub(super) place: (u64, u32),
    /// Ledger time of that block.
    pub(super) time_ms: u64,
    /// The posting.
    pub(super) posting: Posting,
}

/// The purses of an account: its free balance, its earnings on hold, and the escrows of its orders.
pub(super) struct Purses<'a> {
    pub(super) account: AccountId,
    /// Its orders, as far as the postings name them.
    pub(super) orders: &'a BTreeSet<OrderId>,
}

/// Micro-credits in each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) free: i128,
    pub(super) held: i128,
    pub(super) retained: i128,
}

impl Amounts {
    fn of(&mut self, kind: Kind) -> &mut i128 {
        match kind {
            Kind::Free => &mut self.free,
            Kind::Held => &mut self.held,
            Kind::Retained => &mut self.retained,
        }
    }

    /// As it is told; `None` above what an amount can be.
    pub(super) fn money(&self) -> Option<Money> {
        Some(Money {
            balance: signed(self.free)?,
            held: signed(self.held)?,
            retained: signed(self.retained)?,
            total: signed(self.free + self.held + self.retained)?,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Free,
    Held,
    Retained,
}

impl Purses<'_> {
    fn kind(&self, purse: &Purse) -> Option<Kind> {
        match purse {
            Purse::Account(id) if *id == self.account => Some(Kind::Free),
            Purse::Retained(id) if *id == self.account => Some(Kind::Retained),
            Purse::Escrow(order) if self.orders.contains(order) => Some(Kind::Held),
            _ => None,
        }
    }

    /// Takes a posting back.
    pub(super) fn undo(&self, amounts: &mut Amounts, posting: &Posting) {
        self.shift(amounts, posting, -1);
    }

    /// Makes a posting.
    pub(super) fn apply(&self, amounts: &mut Amounts, posting: &Posting) {
        self.shift(amounts, posting, 1);
    }

    fn shift(&self, amounts: &mut Amounts, posting: &Posting, sign: i128) {
        let size = sign * i128::from(posting.amount.micros());
        if let Some(kind) = self.kind(&posting.from) {
            *amounts.of(kind) -= size;
        }
        if let Some(kind) = self.kind(&posting.to) {
            *amounts.of(kind) += size;
        }
    }

    /// What it changes of all of them together, in micro-credits; 0 if it stays among them.
    fn change(&self, posting: &Posting) -> i128 {
        let size = i128::from(posting.amount.micros());
        match (self.kind(&posting.from), self.kind(&posting.to)) {
            (Some(_), None) => -size,
            (None, Some(_)) => size,
            _ => 0,
        }
    }

    /// What a posting that leaves or enters them is for.
    fn heading(&self, posting: &Posting) -> Heading {
        let own = |order: &OrderId| self.orders.contains(order);
        if let Some(order) = posting.order.filter(own) {
            return Heading::Order(order);
        }
        match (posting.from, posting.to, posting.order) {
            (Purse::Class(class), ..) | (_, Purse::Class(class), _) => Heading::Class(class),
            (_, _, Some(order)) => Heading::Sale(order),
            (_, _, None) => Heading::Reason(posting.reason),
        }
    }
}

/// What money is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heading {
    /// An own order.
    Order(OrderId),
    /// Units of a class.
    Class(ClassId),
    /// Another's order.
    Sale(OrderId),
    /// Neither.
    Reason(Reason),
}

/// Micro-credits in and out.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    received: i128,
    spent: i128,
}

impl Flow {
    fn add(&mut self, change: i128) {
        match change {
            change if change < 0 => self.spent -= change,
            change => self.received += change,
        }
    }
}

/// The sums of a time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) bought: Vec<Bought>,
    pub(super) sold: Vec<Sold>,
    pub(super) other: Vec<Other>,
    pub(super) days: Vec<Day>,
}

/// The sums of postings in their order; `None` above what an amount can be.
pub(super) fn sums(
    purses: &Purses<'_>,
    entries: &[Entry],
    class: impl Fn(&ClassId) -> String,
) -> Option<Sums> {
    let mut flows: BTreeMap<Heading, Flow> = BTreeMap::new();
    let mut first = Vec::new();
    for entry in entries {
        let change = purses.change(&entry.posting);
        if change == 0 {
            continue;
        }
        let heading = purses.heading(&entry.posting);
        flows.entry(heading).or_insert_with(|| {
            first.push(heading);
            Flow::default()
        });
        flows.entry(heading).or_default().add(change);
    }
    let mut sums = Sums::default();
    for heading in first {
        let flow = flows.get(&heading).copied().unwrap_or_default();
        let (received, spent) = (credits(flow.received)?, credits(flow.spent)?);
        let gain = signed(flow.received - flow.spent)?;
        let sold = |of: String| Sold {
            of,
            earned: received,
            returned: spent,
            income: gain,
        };
        match heading {
            Heading::Order(order) => sums.bought.push(Bought {
                order,
                job: None,
                name: None,
                paid: spent,
                returned: received,
                cost: signed(flow.spent - flow.received)?,
            }),
            Heading::Class(id) => sums.sold.push(sold(format!("class {}", class(&id)))),
            Heading::Sale(id) => sums.sold.push(sold(format!("order {}", id.to_hex()))),
            Heading::Reason(reason) => sums.other.push(Other {
                reason,
                received,
                spent,
            }),
        }
    }
    for (day, changes) in changes(purses, entries, day) {
        let Changes {
            orders,
            units,
            other,
        } = changes;
        sums.days.push(Day {
            day,
            cost: signed(-orders)?,
            income: signed(units)?,
            other: signed(other)?,
            change: signed(orders + units + other)?,
        });
    }
    Some(sums)
}

/// By how much orders, units and all else changed the money of a time, in micro-credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) orders: i128,
    pub(super) units: i128,
    pub(super) other: i128,
}

/// The changes by parts of the time in which there were any; `part` tells to which one a time
/// belongs.
pub(super) fn changes<P: Ord>(
    purses: &Purses<'_>,
    entries: &[Entry],
    part: impl Fn(u64) -> P,
) -> BTreeMap<P, Changes> {
    let mut parts: BTreeMap<P, Changes> = BTreeMap::new();
    for entry in entries {
        let change = purses.change(&entry.posting);
        if change == 0 {
            continue;
        }
        let of = parts.entry(part(entry.time_ms)).or_default();
        match purses.heading(&entry.posting) {
            Heading::Order(_) => of.orders += change,
            Heading::Class(_) | Heading::Sale(_) => of.units += change,
            Heading::Reason(_) => of.other += change,
        }
    }
    parts
}

/// The day of a time, UTC.
fn day(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1_000).unwrap_or(i64::MAX);
    let at = OffsetDateTime::from_unix_timestamp(seconds);
    let at = at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = at.to_calendar_date();
    format!("{year:04}-{:02}-{day:02}", u8::from(month))
}

fn signed(micros: i128) -> Option<Signed> {
    i64::try_from(micros).ok().map(Signed)
}

fn credits(micros: i128) -> Option<Credits> {
    Credits::from_micros(u64::try_from(micros).ok()?)
}

#[cfg(test)]
mod tests;
