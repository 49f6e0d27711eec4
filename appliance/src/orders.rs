//! `owner.json`: what an owner told the node from afar, as the node wrote it into its data folder.
//!
//! 1. The node has checked whose word it is. It may be hostile itself, so the file is JSON of at
//!    most [`FILE_BYTES`], and each value is read as one of `invite.toml` is. Keys of a later
//!    version are passed over.
//! 2. What it says counts before `[sell]` of `invite.toml`; what it leaves out is as that says.
//! 3. `hours` are two times of the day in UTC, the second of which is outside: `22:00-06:00` goes
//!    over midnight. Outside of them nothing is offered, nor while the clock is known to be wrong.
//! 4. `drain` is the node's own affair, and `count` is told in the status, so that the owner sees
//!    which change is in force.
//! 5. It counts only if `owner` is the owner that `invite.toml` names.
//! 6. `reset` is the key of this node if the owner wants it erased. No other order moves a key, an
//!    invitation or the network, and none starts a program.

use crate::config::{Credits, Sell};
use crate::seen::Clock;
use serde::Deserialize;
use std::fmt;

/// Largest file taken.
pub const FILE_BYTES: usize = 16 * 1024;
/// Most units, and processors.
const MANY: u32 = 100_000;
/// Most MiB of a reserve: an exbibyte.
const MIB: u64 = 1 << 40;

/// Why an order is not followed; then none is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrdersError {
    /// It is too large.
    #[error("owner.json has more than {FILE_BYTES} bytes")]
    TooLarge,
    /// It is no JSON of these keys.
    #[error("owner.json cannot be read, line {line}")]
    Syntax {
        /// Line, from 1 on.
        line: usize,
    },
    /// A value cannot be used.
    #[error("owner.json, `{key}`: {problem}")]
    Value {
        /// The key.
        key: &'static str,
        /// The fault of its value.
        problem: String,
    },
}

/// What an owner told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Key of the owner who told it: what another one told does not count.
    pub owner: String,
    /// Counts the owner's changes.
    pub count: u64,
    /// Least price per node-hour.
    pub price: Option<Credits>,
    /// Buy-it-now price per node-hour.
    pub buy: Option<Credits>,
    /// Units at the most.
    pub units: Option<u32>,
    /// Processors that are not sold.
    pub reserve_vcpu: Option<u32>,
    /// Memory that is not sold.
    pub reserve_memory_mib: Option<u64>,
    /// Disk that is not sold.
    pub reserve_disk_mib: Option<u64>,
    /// Hours in which it sells.
    pub hours: Option<Hours>,
    /// Whether it sells.
    pub sell: Option<bool>,
    /// Key of the node that is to be erased.
    pub reset: Option<String>,
}

/// Hours of the day, in minutes since midnight UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: u32,
    to: u32,
}

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    owner: String,
    count: u64,
    #[serde(rename = "drain")]
    _drain: bool,
    price: Option<String>,
    buy: Option<String>,
    units: Option<u32>,
    reserve_vcpu: Option<u32>,
    reserve_memory_mib: Option<u64>,
    reserve_disk_mib: Option<u64>,
    hours: Option<String>,
    sell: Option<bool>,
    reset: Option<String>,
}

impl Orders {
    /// The orders in a file.
    pub fn parse(bytes: &[u8]) -> Result<Orders, OrdersError> {
        if bytes.len() > FILE_BYTES {
            return Err(OrdersError::TooLarge);
        }
        // A list would be taken for the values in their order.
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(OrdersError::Syntax { line: 1 });
        }
        let file: File = serde_json::from_slice(bytes)
            .map_err(|error| OrdersError::Syntax { line: error.line() })?;
        let orders = Orders {
            owner: file.owner,
            count: file.count,
            price: read("price", file.price, Credits::new)?,
            buy: read("buy", file.buy, Credits::new)?,
            units: within("units", file.units, 1, MANY)?,
            reserve_vcpu: within("reserve_vcpu", file.reserve_vcpu, 0, MANY)?,
            reserve_memory_mib: within("reserve_memory_mib", file.reserve_memory_mib, 0, MIB)?,
            reserve_disk_mib: within("reserve_disk_mib", file.reserve_disk_mib, 0, MIB)?,
            hours: read("hours", file.hours, Hours::new)?,
            sell: file.sell,
            reset: file.reset,
        };
        match (orders.price, orders.buy) {
            (Some(price), Some(buy)) if buy < price => Err(OrdersError::Value {
                key: "buy",
                problem: "want no less than the price".to_owned(),
            }),
            _ => Ok(orders),
        }
    }
    /// What to sell now, given what the configuration says.
    pub fn over(&self, sell: &Sell, clock: Clock) -> Sell {
        Sell {
            class: sell.class.clone(),
            units: self.units.or(sell.units),
            reserve_vcpu: self.reserve_vcpu.unwrap_or(sell.reserve_vcpu),
            reserve_memory_mib: self.reserve_memory_mib.unwrap_or(sell.reserve_memory_mib),
            reserve_disk_mib: self.reserve_disk_mib.or(sell.reserve_disk_mib),
            price: self.price.or(sell.price),
            buy: self.buy.or(sell.buy),
            off: self.sell.map_or(sell.off, |sell| !sell) || self.closed(clock).is_some(),
        }
    }
    /// The hours, if the time is outside of them or not known.
    pub fn closed(&self, clock: Clock) -> Option<Hours> {
        let outside = |hours: &Hours| clock.before_image || !hours.hold(clock.minute);
        self.hours.filter(outside)
    }
}

impl Hours {
    /// Hours as written: `22:00-06:00`.
    fn new(text: &str) -> Result<Hours, String> {
        let wrong = || "want two different times in UTC, as in 22:00-06:00".to_owned();
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        match (minute(from), minute(to)) {
            (Some(from), Some(to)) if from != to => Ok(Hours { from, to }),
            _ => Err(wrong()),
        }
    }
    /// Whether a minute of the day is inside.
    fn hold(self, minute: u32) -> bool {
        match self.from < self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hours { from, to } = self;
        write!(
            f,
            "{:02}:{:02}-{:02}:{:02}",
            from / 60,
            from % 60,
            to / 60,
            to % 60
        )
    }
}

fn minute(text: &str) -> Option<u32> {
    let (hour, minute) = text.split_once(':')?;
    let two = |part: &str, below: u32| {
        let digits = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        part.parse().ok().filter(|n: &u32| digits && *n < below)
    };
    Some(two(hour, 24)? * 60 + two(minute, 60)?)
}

fn read<T>(
    key: &'static str,
    text: Option<String>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, OrdersError> {
    let value = text.as_deref().map(parse).transpose();
    value.map_err(|problem| OrdersError::Value { key, problem })
}

fn within<T: Copy + PartialOrd + fmt::Display>(
    key: &'static str,
    value: Option<T>,
    least: T,
    most: T,
) -> Result<Option<T>, OrdersError> {
    match value {
        Some(value) if value < least || value > most => Err(OrdersError::Value {
            key,
            problem: format!("want a whole number from {least} to {most}"),
        }),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests;
