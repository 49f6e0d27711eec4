//! Impairments of cables, and the operations that cause them.
//!
//! 1. *Loss* and *cut*: a rule where packets arrive, at both ends, so that each direction loses its
//!    share. Packets that keep neighbours known to each other (ARP, neighbour discovery) pass: a
//!    cut is silent.
//! 2. *Rate*: a token bucket where packets leave, at both ends, with 20 ms of queue.
//! 3. *Delay*: each packet waits once for each public link that it crosses, in both directions. By
//!    netem where the kernel has it, else by the process of `delay`. Only public links have a
//!    delay.
//! 4. While a cable loses or is slow, its ends pass no super-packets, or 64 kB would be lost at a
//!    time.
//!
//! All operations replace earlier ones, so the same call changes, repeats and removes an
//! impairment.

use super::op::{Op, Shape};
use gridbay_node::config::parse;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use thiserror::Error;

const DELAY_MAX: Duration = Duration::from_secs(10);
const MILLION: u32 = 1_000_000;
/// Fastest rate that a token bucket is asked for, 100 Gbit/s.
const RATE_KBIT_MAX: u32 = 100_000_000;

/// The impairment of one cable; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impairment {
    /// Each direction waits so long.
    pub delay: Duration,
    /// And up to so much more or less, never overtaking. At most the delay.
    pub jitter: Duration,
    /// Kilobits per second of each direction.
    pub rate_kbit: Option<u32>,
    /// Packets lost in a million, in each direction.
    pub loss_ppm: u32,
    /// Nothing gets through.
    pub cut: bool,
}

/// A link as people write it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLink {
    pub(super) delay: Option<String>,
    pub(super) jitter: Option<String>,
    pub(super) rate: Option<String>,
    pub(super) loss: Option<String>,
}

/// Why an impairment cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImpairmentError {
    /// Not a duration from 0 to 10 s.
    #[error("delay {0}: want a duration up to 10s, as 15ms")]
    Delay(String),
    /// Not a duration up to the delay.
    #[error("jitter {0}: want a duration up to the delay, as 2ms")]
    Jitter(String),
    /// Not a rate.
    #[error("rate {0}: want a whole number of kbit, mbit or gbit, as 20mbit")]
    Rate(String),
    /// Not a share.
    #[error("loss {0}: want 0% to 100% with at most four decimals, as 1% or 0.25%")]
    Loss(String),
}

impl Impairment {
    /// From what people write.
    pub(super) fn from_raw(raw: &RawLink) -> Result<Impairment, ImpairmentError> {
        let mut made = Impairment::default();
        if let Some(text) = &raw.delay {
            made.delay = delay(text)?;
        }
        if let Some(text) = &raw.jitter {
            made.jitter = jitter(text)?;
        }
        made.rate_kbit = raw.rate.as_deref().map(rate).transpose()?;
        if let Some(text) = &raw.loss {
            made.loss_ppm = loss(text)?;
        }
        made.checked()
    }
    /// The same if its parts fit one another.
    pub fn checked(self) -> Result<Impairment, ImpairmentError> {
        if self.jitter > self.delay {
            return Err(ImpairmentError::Jitter(format!("{:?}", self.jitter)));
        }
        Ok(self)
    }
    /// Whether single packets matter on this cable.
    fn splits(&self) -> bool {
        self.loss_ppm > 0 || self.rate_kbit.is_some()
    }
}

/// A delay.
pub fn delay(text: &str) -> Result<Duration, ImpairmentError> {
    let parsed = parse::duration(text).ok().filter(|d| *d <= DELAY_MAX);
    parsed.ok_or_else(|| ImpairmentError::Delay(text.to_owned()))
}

/// A jitter.
pub fn jitter(text: &str) -> Result<Duration, ImpairmentError> {
    delay(text).map_err(|_| ImpairmentError::Jitter(text.to_owned()))
}

/// A rate in kbit/s.
pub fn rate(text: &str) -> Result<u32, ImpairmentError> {
    let wrong = || ImpairmentError::Rate(text.to_owned());
    let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (count, unit) = text.split_at(end);
    let factor = match unit {
        "kbit" => 1,
        "mbit" => 1_000,
        "gbit" => MILLION,
        _ => return Err(wrong()),
    };
    let count: u32 = count.parse().map_err(|_| wrong())?;
    let kbit = count.checked_mul(factor).ok_or_else(wrong)?;
    Some(kbit)
        .filter(|kbit| (1..=RATE_KBIT_MAX).contains(kbit))
        .ok_or_else(wrong)
}

/// A loss in millionths, from percent.
pub fn loss(text: &str) -> Result<u32, ImpairmentError> {
    let wrong = || ImpairmentError::Loss(text.to_owned());
    let number = text.strip_suffix('%').ok_or_else(wrong)?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 4 {
        return Err(wrong());
    }
    let whole: u32 = whole.parse().map_err(|_| wrong())?;
    let parts: u32 = format!("{decimals:0<4}").parse().map_err(|_| wrong())?;
    let ppm = whole.checked_mul(10_000).and_then(|w| w.checked_add(parts));
    ppm.filter(|ppm| *ppm <= MILLION).ok_or_else(wrong)
}

impl fmt::Display for Impairment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.cut {
            parts.push("cut".to_owned());
        }
        if !self.delay.is_zero() {
            parts.push(format!("delay {:?}", self.delay));
        }
        if !self.jitter.is_zero() {
            parts.push(format!("jitter {:?}", self.jitter));
        }
        if let Some(kbit) = self.rate_kbit {
            parts.push(match kbit {
                k if k % 1_000 == 0 => format!("rate {}mbit", k / 1_000),
                k => format!("rate {k}kbit"),
            });
        }
        if self.loss_ppm > 0 {
            parts.push(format!("loss {}%", f64::from(self.loss_ppm) / 10_000.0));
        }
        f.pad(&parts.join(", "))
    }
}

/// Both ends of a cable: machine and device of each.
pub(super) type Ends<'a> = [(&'a str, &'a str); 2];

/// Makes a cable suffer as `now` says, whatever it suffered before. The delay is here only with
/// `netem`.
pub(super) fn ops(ends: Ends<'_>, now: &Impairment, netem: bool) -> Vec<Op> {
    let mut ops = Vec::new();
    for (at, device) in ends {
        let (at, device) = (at.to_owned(), device.to_owned());
        ops.push(Op::Segments {
            at: at.clone(),
            device: device.clone(),
            most: if now.splits() { 1 } else { u16::MAX },
        });
        let delay = (netem && !now.delay.is_zero()).then_some((now.delay, now.jitter));
        ops.push(Op::Shape {
            at: at.clone(),
            shape: Shape {
                device: device.clone(),
                rate_kbit: now.rate_kbit,
                delay,
            },
        });
        ops.push(Op::Ruleset {
            at,
            text: dropping(&device, now),
        });
    }
    ops
}

/// The rules for what arrives at a device.
fn dropping(device: &str, now: &Impairment) -> String {
    let table = format!("table netdev link-{device}\ndelete table netdev link-{device}\n");
    let verdict = match (now.cut, now.loss_ppm) {
        (true, _) => "drop".to_owned(),
        (false, 0) => return table,
        (false, ppm) => format!("numgen random mod {MILLION} < {ppm} drop"),
    };
    format!(
        "{table}table netdev link-{device} {{\n  chain arriving {{\n    \
         type filter hook ingress device \"{device}\" priority -500\n    \
         meta protocol ip {verdict}\n    \
         meta protocol ip6 meta l4proto != icmpv6 {verdict}\n    \
         meta protocol ip6 icmpv6 type {{ echo-request, echo-reply }} {verdict}\n  }}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_rates_and_losses() {
        for (text, kbit) in [("1kbit", 1), ("20mbit", 20_000), ("1gbit", 1_000_000)] {
            assert_eq!(rate(text), Ok(kbit));
        }
        for bad in [
            "",
            "20",
            "mbit",
            "0mbit",
            "2.5mbit",
            "20 mbit",
            "999999gbit",
        ] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        for (text, ppm) in [
            ("0%", 0),
            ("1%", 10_000),
            ("0.25%", 2_500),
            ("100%", MILLION),
        ] {
            assert_eq!(loss(text), Ok(ppm));
        }
        for bad in ["", "%", "1", "-1%", "101%", "0.12345%", "1.%", ".5%"] {
            assert!(loss(bad).is_err(), "{bad}");
        }
        assert!(delay("11s").is_err() && delay("x").is_err());
    }

    #[test]
    fn jitter_stays_below_the_delay() {
        let raw = |delay: &str, jitter: &str| {
            Impairment::from_raw(&RawLink {
                delay: Some(delay.to_owned()),
                jitter: Some(jitter.to_owned()),
                ..RawLink::default()
            })
        };
        assert!(raw("5ms", "5ms").is_ok());
        assert!(matches!(raw("5ms", "6ms"), Err(ImpairmentError::Jitter(_))));
    }

    #[test]
    fn an_impairment_is_shown_as_it_was_written() {
        let all = Impairment {
            delay: Duration::from_millis(15),
            jitter: Duration::from_millis(2),
            rate_kbit: Some(20_000),
            loss_ppm: 2_500,
            cut: true,
        };
        let shown = "cut, delay 15ms, jitter 2ms, rate 20mbit, loss 0.25%";
        assert_eq!(all.to_string(), shown);
        assert_eq!(Impairment::default().to_string(), "");
    }

    #[test]
    fn both_ends_of_a_cable_are_changed() {
        let ends = [("wan", "home"), ("home", "wan0")];
        let lossy = Impairment {
            loss_ppm: 10_000,
            ..Impairment::default()
        };
        let made = ops(ends, &lossy, false);
        let rulesets: Vec<_> = made
            .iter()
            .filter_map(|op| match op {
                Op::Ruleset { at, text } => Some((at.as_str(), text.as_str())),
                _ => None,
            })
            .collect();
        assert_eq!(rulesets.len(), 2);
        assert!(rulesets[0].1.contains("device \"home\"") && rulesets[0].0 == "wan");
        assert!(rulesets[1].1.contains("mod 1000000 < 10000 drop"));
        let whole = |ops: &[Op]| {
            let most = ops.iter().find_map(|op| match op {
                Op::Segments { most, .. } => Some(*most),
                _ => None,
            });
            most == Some(u16::MAX)
        };
        assert!(!whole(&made));
        let cleared = ops(ends, &Impairment::default(), false);
        assert!(whole(&cleared));
        let Some(Op::Ruleset { text, .. }) = cleared.last() else {
            panic!("{cleared:?}");
        };
        assert!(!text.contains("chain"), "nothing is dropped any more");
    }

    #[test]
    fn delay_is_left_to_the_process_without_netem() {
        let slow = Impairment {
            delay: Duration::from_millis(15),
            ..Impairment::default()
        };
        let delays = |netem| {
            let made = ops([("wan", "a"), ("a", "wan0")], &slow, netem);
            let of = made
                .iter()
                .filter(|op| matches!(op, Op::Shape { shape, .. } if shape.delay.is_some()));
            of.count()
        };
        assert_eq!((delays(true), delays(false)), (2, 0));
    }
}
