//! The plan of a local federation: classes, members with their offers, buyers.

use super::cli;
use super::history::History;
use super::seat::Seat;
use anyhow::{bail, ensure};
use gridbay_node::api::types::OfferRequest;
use gridbay_node::cli::Pace;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::limits;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT, Price};
use std::collections::BTreeMap;

/// A federation to be founded.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the network.
    pub name: String,
    /// How fast it goes.
    pub pace: Pace,
    /// Milliseconds between blocks, where that is not the pace's own.
    pub block_ms: Option<u64>,
    /// Entries that a member may put into the ledger, a height, where that is not the default.
    pub member_entries: Option<u32>,
    /// Founding members: each runs a validator and sells what is listed.
    pub validators: Vec<Vec<OfferRequest>>,
    /// Nodes that join by invitation and sell nothing.
    pub buyers: usize,
    /// Minted to each founding member.
    pub endowment: Credits,
    /// Moved from a founding member to each buyer it invites.
    pub purse: Credits,
    /// Log filter of the nodes.
    pub log: String,
    /// More settings of some nodes, by name: lines of TOML with dotted keys.
    pub more: BTreeMap<String, String>,
    /// Disk of a unit of either class, in MiB.
    pub disk_mib: u64,
    /// Where some nodes run, by name; all others run on the loopback interface.
    pub seats: BTreeMap<String, Seat>,
    /// A further address of the loopback interface: as machines have it to which this one is the
    /// gateway.
    pub gateway: Option<&'static str>,
    /// What the ledger holds when the node of the only validator starts.
    pub history: History,
}

/// Buyers of a local network at the most: more processes than one machine is good for.
const BUYERS: usize = 256;

impl Plan {
    /// `n` validators that sell some units of both classes at prices of their own.
    pub fn local(name: &str, n: usize, buyers: usize) -> Plan {
        let seller = |i: usize| {
            let i = i as u64;
            vec![
                offer("small", 2, credits(4 + i), Some(credits(30 + 2 * i))),
                offer("large", 1, credits(10 + 2 * i), Some(credits(50 + 2 * i))),
            ]
        };
        Plan {
            name: name.to_owned(),
            pace: Pace::Local,
            block_ms: None,
            member_entries: None,
            validators: (0..n).map(seller).collect(),
            buyers,
            endowment: credits(10_000),
            purse: credits(100),
            log: "info".to_owned(),
            more: BTreeMap::new(),
            disk_mib: 1_024,
            seats: BTreeMap::new(),
            gateway: None,
            history: History::default(),
        }
    }
    /// Further settings of a node.
    pub(super) fn more(&self, name: &str) -> &str {
        self.more.get(name).map_or("", String::as_str)
    }
    /// Where a node runs; `port` is for one that was given no place.
    pub(super) fn seat(&self, name: &str, port: u16) -> Seat {
        if let Some(given) = self.seats.get(name) {
            return given.clone();
        }
        let mut seat = Seat::loopback(port);
        let also = self.gateway.map(|host| cli::both_transports(host, port));
        seat.reached.extend(also.into_iter().flatten());
        seat
    }
    /// Refuses what could not be founded.
    pub fn check(&self) -> anyhow::Result<()> {
        if !(1..=limits::VALIDATORS).contains(&self.validators.len()) {
            bail!("want 1 to {} validators", limits::VALIDATORS);
        }
        if self.buyers > BUYERS {
            bail!("want at most {BUYERS} buyers");
        }
        self.history.check()?;
        ensure!(
            self.history.is_empty() || self.validators.len() == 1,
            "a past is written by one validator alone: want --nodes 1"
        );
        let invited = self.purse.checked_mul(self.buyers as u64);
        if invited.is_none_or(|sum| sum > self.endowment) {
            bail!("the members' endowment does not suffice for the buyers' purses");
        }
        Ok(())
    }
    /// Name of a founding member and its node.
    pub fn validator_name(i: usize) -> String {
        format!("v{}", i + 1)
    }
    /// Names of all nodes, validators first.
    pub fn names(&self) -> Vec<String> {
        let validators = (0..self.validators.len()).map(Plan::validator_name);
        validators
            .chain((0..self.buyers).map(Plan::buyer_name))
            .collect()
    }
    /// Name of a buyer's node.
    pub fn buyer_name(i: usize) -> String {
        format!("b{}", i + 1)
    }
    /// Both classes, ascending by id.
    pub fn classes(&self) -> Vec<Class> {
        let slot_ms = self.pace.policy().slot_ms();
        let class = |name: &str, vcpu, memory_mib, hourly| Class {
            name: name.to_owned(),
            key: ClassKey {
                vcpu,
                memory_mib,
                disk_mib: self.disk_mib,
                gpu: 0,
                isolation: Isolation::Process,
                circle: "members".to_owned(),
            },
            reference_price: Price::from_hourly(credits(hourly), slot_ms).unwrap_or(Price(1)),
        };
        let mut classes = vec![class("small", 1, 1_024, 5), class("large", 2, 2_048, 12)];
        classes.sort_by_key(|class| class.key.id());
        classes
    }
}

/// An offer; prices are credits per node-hour.
pub fn offer(class: &str, units: u32, reserve: Credits, buy: Option<Credits>) -> OfferRequest {
    OfferRequest {
        label: None,
        class: class.to_owned(),
        units,
        reserve,
        buy,
        notice_seconds: None,
        mechanism: Primary::Ausubel,
    }
}

/// Whole credits.
pub fn credits(whole: u64) -> Credits {
    let micros = whole.checked_mul(MICROS_PER_CREDIT);
    micros
        .and_then(Credits::from_micros)
        .unwrap_or(Credits::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_bounded() {
        assert!(Plan::local("a", 4, 6).check().is_ok());
        assert!(Plan::local("a", 0, 6).check().is_err());
        assert!(Plan::local("a", 65, 0).check().is_err());
        assert!(Plan::local("a", 4, 101).check().is_err(), "too poor");
        assert!(Plan::local("a", 4, 257).check().is_err());
    }

    #[test]
    fn sellers_differ_and_ask_more_for_buying_at_once() {
        let plan = Plan::local("a", 4, 0);
        let mut reserves: Vec<_> = plan.validators.iter().map(|v| v[0].reserve).collect();
        reserves.dedup();
        assert_eq!(reserves.len(), 4);
        for offer in plan.validators.iter().flatten() {
            assert!(offer.buy.unwrap() >= offer.reserve);
        }
    }

    #[test]
    fn whole_credits() {
        assert_eq!(credits(12).to_string(), "12");
        assert_eq!(credits(u64::MAX), Credits::MAX);
    }
}
