//! Changes to a running lab: impairments of cables, addresses, and routers' mappings.
//!
//! Each change is made under the lock of all labs and recorded, so that several processes may make
//! them. The delay process and the public router's detours follow the record.

use super::op::Op;
use super::plan::Turn;
use super::state::{self, State};
use super::{
    Impairment, Kind, Lab, WAN, address, delay, impair, named, namespace, netns, perform, plan,
    table,
};
use address::GENERATIONS;
use anyhow::{Context as _, bail};
use delay::Table;
use std::net::IpAddr;

impl Lab {
    /// Makes cables suffer, each named by the host or router at its far end.
    pub fn impair(&self, wanted: &[(String, Impairment)]) -> anyhow::Result<()> {
        self.change(|state| {
            let before = table(state, &self.topology);
            let mut ops = Vec::new();
            for (name, now) in wanted {
                ops.extend(impair::ops(self.ends(name, now)?.each(), now, state.netem));
                match *now == Impairment::default() {
                    true => state.cables.remove(name),
                    false => state.cables.insert(name.clone(), *now),
                };
            }
            perform::perform(&self.name, &ops)?;
            self.delay(state, &before)
        })
    }
    /// The present impairment of a cable.
    pub fn cable(&self, name: &str) -> anyhow::Result<Impairment> {
        self.ends(name, &Impairment::default())?;
        Ok(self.state()?.cable(name))
    }
    /// Gives a host or the public side of a router another address, and forgets the router's
    /// mappings. Returns the new address.
    pub fn readdress(&self, name: &str) -> anyhow::Result<IpAddr> {
        self.change(|state| {
            let now = state.turn(name);
            let next = Turn {
                generation: (now.generation + 1) % GENERATIONS,
                zone: next_zone(now),
            };
            let ops = match self.topology.links().find(|link| link.name == name) {
                Some(link) => plan::new_link_address(&link, now, next),
                None => {
                    let (link, place) = self.host(name)?;
                    let (now, next) = (now.generation, next.generation);
                    plan::new_host_address(&link, name, place, now, next)
                }
            };
            perform::perform(&self.name, &ops)?;
            state.turns.insert(name.to_owned(), next);
            Ok(())
        })?;
        let state = self.state()?;
        if let Some(link) = self.topology.links().find(|link| link.name == name) {
            return Ok(plan::public_v4(&link, state.turn(name).generation).into());
        }
        let addresses = self.addresses(name)?;
        addresses.first().copied().context("a host has an address")
    }
    /// Makes a router forget its connections and mappings, as a restart would.
    pub fn forget(&self, router: &str) -> anyhow::Result<()> {
        self.change(|state| {
            let mut links = self.topology.links();
            let link = links.find(|link| link.name == router && link.network.kind != Kind::Open);
            let link = link.with_context(|| {
                format!("`{router}` is no router{}", named("router", self.routers()))
            })?;
            let now = state.turn(router);
            let next = Turn {
                zone: next_zone(now),
                ..now
            };
            perform::perform(&self.name, &plan::forget(&link, next))?;
            state.turns.insert(router.to_owned(), next);
            Ok(())
        })
    }
    fn routers(&self) -> Vec<String> {
        let links = self.topology.links();
        let routers = links.filter(|link| link.network.kind != Kind::Open);
        routers.map(|link| link.name.to_owned()).collect()
    }
    fn ends(&self, name: &str, now: &Impairment) -> anyhow::Result<Ends> {
        if let Some(link) = self.topology.links().find(|link| link.name == name) {
            let far = (link.machine(), "wan0".to_owned());
            return Ok(Ends([(WAN.to_owned(), name.to_owned()), far]));
        }
        let (link, _) = self.host(name)?;
        if !now.delay.is_zero() {
            let router = link.name;
            bail!(
                "only public links have a delay; `{name}` is behind `{router}`: delay `{router}`"
            );
        }
        let near = (link.network.name.clone(), name.to_owned());
        Ok(Ends([near, (name.to_owned(), "eth0".to_owned())]))
    }
    /// Brings the delay process and the router's detours in line with the record.
    fn delay(&self, state: &mut State, before: &Table) -> anyhow::Result<()> {
        let now = table(state, &self.topology);
        if now == *before {
            return Ok(());
        }
        let folder = state::folder(&self.name)?;
        let mut ops = Vec::new();
        if state.delay.is_none() {
            let wan = netns::path(&namespace(&self.name, WAN));
            state.delay = Some(delay::start(&self.program, &wan, &folder)?);
            ops.push(Op::DetourDevice {
                at: WAN.to_owned(),
                device: delay::DEVICE.to_owned(),
                mtu: self.topology.mtu,
            });
        }
        delay::tell(&folder, &now)?;
        let detour = |number: &u8, taken| Op::Detour {
            at: WAN.to_owned(),
            of: address::prefixes(*number),
            taken,
        };
        let fresh = now.0.keys().filter(|number| !before.0.contains_key(number));
        ops.extend(fresh.map(|number| detour(number, true)));
        let over = before.0.keys().filter(|number| !now.0.contains_key(number));
        ops.extend(over.map(|number| detour(number, false)));
        perform::perform(&self.name, &ops)
    }
}

/// Both ends of a cable: machine and device.
struct Ends([(String, String); 2]);

impl Ends {
    fn each(&self) -> impair::Ends<'_> {
        self.0
            .each_ref()
            .map(|(machine, device)| (machine.as_str(), device.as_str()))
    }
}

fn next_zone(now: Turn) -> u16 {
    now.zone.checked_add(1).unwrap_or(1)
}
