//! The present state of a lab: every machine, its addresses, and the impairment of its cable.

use super::netns::{self, Identity};
use super::state::{self, State};
use super::{Lab, WAN, delay, down, generation, namespace, plan, table};
use anyhow::Context as _;
use std::net::IpAddr;

/// One line of `lab status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Name.
    pub name: String,
    /// Kind of its network, or what it is for the others.
    pub part: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// The impairment of its cable towards the public network; empty if there is none.
    pub suffers: String,
    /// Processes inside it; `None` if its namespace is gone.
    pub processes: Option<usize>,
}

impl Lab {
    /// Every machine and how it does.
    pub fn machines(&self) -> anyhow::Result<Vec<Machine>> {
        let state = self.state()?;
        let mut machines = Vec::new();
        for name in self.topology.machines() {
            let identity = state.machines.get(&name).copied().flatten();
            let now = Identity::of(&netns::path(&namespace(&self.name, &name)));
            let alive = identity.filter(|identity| now == Some(*identity));
            let processes = alive.map(|identity| down::running_in(&[identity].into()));
            machines.push(Machine {
                part: self.part(&name),
                addresses: self.shown_addresses(&state, &name),
                suffers: state.cable(&name).to_string(),
                processes: processes.transpose()?.map(|found| found.len()),
                name,
            });
        }
        Ok(machines)
    }
    /// Packets that the delay process has passed and dropped; `None` where none is needed, an error
    /// where it should run and does not.
    pub fn delayed(&self) -> anyhow::Result<Option<(u64, u64)>> {
        let state = self.state()?;
        if state.delay.is_none() {
            return Ok(None);
        }
        let tally = delay::tell(&state::folder(&self.name)?, &table(&state, &self.topology))
            .context("the delay process is gone: links have no delay")?;
        Ok(Some((tally.passed, tally.dropped)))
    }
    fn part(&self, machine: &str) -> String {
        let Some(link) = self.topology.link_of(machine) else {
            return match machine {
                WAN => "the public router".to_owned(),
                _ => "a provider's router".to_owned(),
            };
        };
        let what = if self.topology.host(machine).is_some() {
            "host"
        } else {
            "router"
        };
        format!("{} {what}", link.network.kind)
    }
    fn shown_addresses(&self, state: &State, machine: &str) -> Vec<IpAddr> {
        let Some(link) = self.topology.link_of(machine) else {
            return Vec::new();
        };
        match self.topology.host(machine) {
            Some((_, place)) => {
                plan::host_addresses(&link, place, generation(state, &link, machine))
            }
            None => vec![plan::public_v4(&link, state.turn(machine).generation).into()],
        }
    }
}
