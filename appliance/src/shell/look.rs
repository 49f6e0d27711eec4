//! One look around: everything that a step wants to know.
//!
//! Disks are mounted and read every ten seconds, prices and offers asked every five; the rest is
//! looked at each time. The boot settings are read at first, and again when they were written.

use super::files::{read_bounded, read_if_there};
use super::places::Places;
use super::update::{self, offers};
use super::{disks, gridbay, system};
use crate::action::{Kind, Outcome};
use crate::config::{Config, FILE_BYTES, Files, NETWORK_BYTES};
use crate::data::report;
use crate::image::Image;
use crate::node::{Class, Offer};
use crate::orders;
use crate::seen::{Data, Folder, Seen, Source};
use crate::update::offered::Offered;
use crate::update::record::Record;
use crate::update::trial::Boot;

/// Seconds between two looks at the disks.
const DISKS: u64 = 10;
/// Seconds between two looks at the market.
const MARKET: u64 = 5;
/// Largest settings file of the node read.
const SETTINGS_BYTES: u64 = 256 * 1024;

/// Things looked at less often than the rest.
#[derive(Default)]
pub struct Looker {
    disks: disks::Disks,
    sources: Option<(u64, Vec<Source>)>,
    offers: Option<Vec<Offer>>,
    classes: Option<Vec<Class>>,
    market: Option<u64>,
    image: Image,
    /// Updates on disks, as of the last look at them.
    lying: Vec<Offered>,
    boot: Option<Boot>,
    /// When the boot settings were read, and the record of that time.
    booted: Option<(u64, Option<Record>)>,
}

impl Looker {
    /// The first look is still to come.
    pub fn new(places: &Places) -> Looker {
        Looker {
            image: system::image(places),
            ..Looker::default()
        }
    }
    /// The image's version.
    pub fn version(&self) -> &str {
        &self.image.version
    }
    /// Looks around, at a time in seconds.
    pub fn look(&mut self, places: &Places, now: u64, outcomes: Vec<Outcome>) -> Seen {
        let there = !places.must_be_mounted || places.is_mounted(&places.data);
        let room = system::room(&places.data).filter(|_| there);
        let data = report::seen(&places.run.join(report::NAME), room);
        let usable = matches!(data, Data::Mounted { .. });
        let changed = !outcomes.is_empty();
        let written = outcomes.iter().any(|outcome| outcome.kind == Kind::Boot);
        let record = update::record(places).filter(|_| usable);
        self.boot(places, now, (&record, written));
        let mut seen = Seen {
            data,
            sources: self.sources(places, now),
            network_in_use: read_bounded(&places.network_file(), NETWORK_BYTES as u64).ok(),
            network: system::network(),
            clock: system::clock(&self.image),
            unit: gridbay::unit(places),
            machine: system::machine(room.map_or(0, |(_, all)| all)),
            drain_asked: places.drain_marker().exists(),
            boot: self.boot.clone(),
            update: record,
            image: self.image.clone(),
            outcomes,
            ..Seen::default()
        };
        if usable {
            seen.kept = kept(places);
            seen.folder = folder(places);
            seen.offered.clone_from(&self.lying);
            seen.offered.extend(offers::handed(places));
        }
        if usable && seen.folder.joined && seen.unit.active == "active" {
            seen.node = gridbay::ask(places, &["node", "status"]);
        }
        let ready = seen.node.as_ref().is_some_and(|node| node.state == "ready");
        self.market(places, now, ready, changed);
        seen.offers.clone_from(&self.offers);
        seen.classes.clone_from(&self.classes);
        seen
    }
    fn sources(&mut self, places: &Places, now: u64) -> Vec<Source> {
        match &self.sources {
            Some((at, sources)) if now < at + DISKS => sources.clone(),
            _ => {
                let sources = self.disks.sources(places);
                self.lying = offers::lying(places, self.disks.updates());
                self.sources = Some((now, sources.clone()));
                sources
            }
        }
    }
    /// Settings that could not be read are tried again with the disks; others only when they may
    /// have been written, which the record tells.
    fn boot(&mut self, places: &Places, now: u64, (record, written): (&Option<Record>, bool)) {
        let fresh = self.booted.as_ref().is_some_and(|(at, known)| {
            known == record && (self.boot.is_some() || now < at + DISKS)
        });
        if !fresh || written {
            self.boot = update::boot(places);
            self.booted = Some((now, record.clone()));
        }
    }
    /// After an action the market is asked again at once.
    fn market(&mut self, places: &Places, now: u64, ready: bool, changed: bool) {
        if !ready {
            (self.offers, self.classes, self.market) = (None, None, None);
            return;
        }
        if !changed && self.market.is_some_and(|at| now < at + MARKET) {
            return;
        }
        self.offers = gridbay::ask(places, &["offer", "list"]);
        self.classes = gridbay::ask(places, &["market", "prices"]);
        self.market = Some(now);
    }
}

fn kept(places: &Places) -> Files {
    let read = |name: &str, most: usize| {
        let path = places.kept().join(name);
        read_if_there(&path, most as u64).unwrap_or_default()
    };
    Files {
        invite: read("invite.toml", FILE_BYTES),
        network: read("network.network", NETWORK_BYTES),
    }
}

fn folder(places: &Places) -> Folder {
    let node = places.node();
    let there = |name: &str| node.join(name).symlink_metadata().is_ok();
    let invitation = read_bounded(&node.join("invitation"), FILE_BYTES as u64).ok();
    let settings = read_if_there(&node.join("gridbay.toml"), SETTINGS_BYTES);
    let orders = read_if_there(&node.join("owner.json"), orders::FILE_BYTES as u64);
    Folder {
        keys: there("keys"),
        joined: there("invitation") || there("genesis.cbor"),
        genesis: there("genesis.cbor"),
        invitation: invitation
            .and_then(|bytes| Config::parse(&bytes).ok())
            .and_then(|config| config.invitation),
        // One that cannot be read is replaced, as one that is no text.
        settings: settings.unwrap_or_else(|_| Some(vec![0xff])),
        // One that cannot be read is refused, as one that is no JSON.
        orders: orders.unwrap_or_else(|_| Some(vec![0xff])),
    }
}
