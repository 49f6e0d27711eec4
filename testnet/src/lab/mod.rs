//! A small internet on one machine: hosts, routers and NATs out of network namespaces.
//!
//! 1. A [`Topology`] says which networks there are, of which [`Kind`], with which hosts. `plan`
//!    turns it into operations, purely; `perform` runs them.
//! 2. [`Lab`] is a lab that stands. One that made it ends it when it goes out of scope (the work is
//!    done, failed, panicked or was interrupted), unless it lets go of it.
//! 3. `state` records everything made on disk, so that other processes can change it, and
//!    [`down()`] removes the leftovers of a killed laboratory. Two labs of different names live
//!    side by side.
//! 4. [`probe`] measures whether every network behaves as its kind says; [`matrix`] lets two
//!    programs meet across every pair of kinds, `leases` two nodes of a lease's network;
//!    `cluster` runs whole nodes, `regions` a federation over the earth.
//!
//! Nothing is made outside the lab's own namespaces, whose names begin with the lab's name.

mod address;
mod change;
pub(crate) mod cluster;
pub(crate) mod delay;
mod down;
pub mod exec;
pub mod impair;
pub(crate) mod leases;
pub mod matrix;
pub mod nat;
pub(crate) mod netns;
mod op;
pub mod peer;
mod perform;
mod plan;
pub mod probe;
pub mod program;
pub(crate) mod regions;
pub mod roam;
mod ruleset;
mod seat;
mod state;
mod status;
mod tools;
pub mod topology;

pub use down::{Removed, down};
pub use impair::Impairment;
pub use nat::Kind;
pub use status::Machine;
pub use tools::{check, is_root};
pub use topology::{Topology, WAN};

use crate::network::Process;
use crate::say::Progress;
use anyhow::{Context as _, bail};
use delay::Table;
use netns::{Identity, namespace};
use state::{Lock, State, others};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use topology::Link;

/// A lab that stands.
#[derive(Debug)]
pub struct Lab {
    name: String,
    token: String,
    topology: Topology,
    program: PathBuf,
    /// Whether it ends with this value.
    owned: bool,
}

impl Lab {
    /// Builds a lab. `program` is the laboratory, from which the delay process is started.
    pub fn up(
        name: &str,
        topology: Topology,
        program: PathBuf,
        progress: &Progress,
    ) -> anyhow::Result<Lab> {
        tools::check()?;
        let token = token()?;
        let own = Process::look(i32::try_from(std::process::id())?);
        let state = State::new(&topology, token.clone(), own);
        {
            let _lock = Lock::take()?;
            claim(name, &state)?;
        }
        // From here on whatever was made is removed, however this ends.
        let lab = Lab {
            name: name.to_owned(),
            token,
            topology,
            program,
            owned: true,
        };
        perform::perform(name, &plan::up(&lab.topology))?;
        progress.tell(&format!("{} machines", state.machines.len()));
        lab.change(|state| {
            for (machine, identity) in &mut state.machines {
                *identity = Identity::of(&netns::path(&namespace(name, machine)));
            }
            state.netem = tools::netem(&netns::path(&namespace(name, WAN)));
            state.ready = true;
            Ok(())
        })?;
        let links = lab.topology.links();
        let wanted: Vec<_> = links
            .map(|link| (link.name.to_owned(), link.network.link))
            .filter(|(_, link)| *link != Impairment::default())
            .collect();
        lab.impair(&wanted)?;
        Ok(lab)
    }
    /// A lab that somebody else built; it outlives this value.
    pub fn open(name: &str, program: PathBuf) -> anyhow::Result<Lab> {
        tools::check()?;
        let Some(state) = State::read(name)? else {
            bail!("there is no lab `{name}`{}", others());
        };
        if !state.ready {
            bail!(
                "lab `{name}` was not built to the end; remove it with: gridbay-testnet lab down --name {name}"
            );
        }
        Ok(Lab {
            name: name.to_owned(),
            topology: state.topology()?,
            token: state.token,
            program,
            owned: false,
        })
    }
    /// Lets go of it: it stays until somebody calls [`down()`].
    pub fn detach(mut self) -> anyhow::Result<()> {
        self.change(|state| {
            state.lab = None;
            Ok(())
        })?;
        self.owned = false;
        Ok(())
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The topology that it was built from.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
    /// Does `work` inside a machine, on a thread of its own. Sockets that it opens and processes
    /// that it starts stay there.
    pub fn inside<T: Send>(
        &self,
        machine: &str,
        work: impl FnOnce() -> T + Send,
    ) -> anyhow::Result<T> {
        netns::inside(&self.path(machine)?, work)
    }
    /// A host's own addresses: IPv4, and IPv6 where it has it.
    pub fn addresses(&self, host: &str) -> anyhow::Result<Vec<IpAddr>> {
        let (link, place) = self.host(host)?;
        let state = self.state()?;
        Ok(plan::host_addresses(
            &link,
            place,
            generation(&state, &link, host),
        ))
    }
    /// The addresses under which the public network knows a host.
    pub fn public_addresses(&self, host: &str) -> anyhow::Result<Vec<IpAddr>> {
        let (link, _) = self.host(host)?;
        if link.network.kind.translates() {
            let turn = self.state()?.turn(link.name);
            return Ok(vec![plan::public_v4(&link, turn.generation).into()]);
        }
        self.addresses(host)
    }
    /// A path that leads into a machine, for programs that enter namespaces by themselves.
    pub fn path(&self, machine: &str) -> anyhow::Result<PathBuf> {
        if !self.topology.machines().iter().any(|m| m == machine) {
            bail!(
                "there is no machine `{machine}`{}",
                named("machine", self.topology.machines())
            );
        }
        Ok(netns::path(&namespace(&self.name, machine)))
    }
    /// Reads, changes and writes the record under the lock.
    fn change<T>(&self, work: impl FnOnce(&mut State) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let _lock = Lock::take()?;
        let mut state = self.state()?;
        let done = work(&mut state)?;
        state.write(&self.name)?;
        Ok(done)
    }
    fn state(&self) -> anyhow::Result<State> {
        let state = State::read(&self.name)?.filter(|state| state.token == self.token);
        state.with_context(|| format!("lab `{}` has been removed", self.name))
    }
    fn host(&self, host: &str) -> anyhow::Result<(Link<'_>, usize)> {
        let found = self.topology.host(host).zip(self.topology.link_of(host));
        let found = found.map(|((_, place), link)| (link, place));
        let hosts = || self.topology.hosts().map(|(host, ..)| host.to_owned());
        found.with_context(|| {
            format!(
                "there is no host `{host}`{}",
                named("host", hosts().collect())
            )
        })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        if let Err(error) = down::remove(&self.name, &self.token) {
            crate::say::note(&format!("lab `{}` is not all gone: {error:#}", self.name));
        }
    }
}

/// Writes the record of a new lab, if its name and the names of its namespaces are free.
fn claim(name: &str, state: &State) -> anyhow::Result<()> {
    if !state::create_folder(name)? {
        bail!("lab `{name}` is up; end it with: gridbay-testnet lab down --name {name}");
    }
    let namespaces = state
        .machines
        .keys()
        .map(|machine| namespace(name, machine));
    let taken = namespaces
        .map(|name| netns::path(&name))
        .find(|path| path.exists());
    if let Some(path) = taken {
        state::remove_folder(name)?;
        bail!(
            "{} exists and is no lab's; take another --name",
            path.display()
        );
    }
    state.write(name).inspect_err(|_| {
        let _ = state::remove_folder(name);
    })
}

/// Names of the labs there are.
pub fn names() -> Vec<String> {
    state::names()
}

fn named(what: &str, names: Vec<String>) -> String {
    format!("; {what}s: {}", names.join(", "))
}

/// How often the address that a host has itself was changed.
fn generation(state: &State, link: &Link<'_>, host: &str) -> u8 {
    let whose = if link.network.kind == Kind::Open {
        link.name
    } else {
        host
    };
    state.turn(whose).generation
}

/// Delays of public links that the delay process is to keep; none where the kernel does it.
fn table(state: &State, topology: &Topology) -> Table {
    let micros = |d: std::time::Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
    let links = topology.links().filter(|_| !state.netem);
    let delays = links.map(|link| (link.number, state.cable(link.name)));
    let delays = delays.filter(|(_, cable)| !cable.delay.is_zero());
    Table(
        delays
            .map(|(n, cable)| (n, (micros(cable.delay), micros(cable.jitter))))
            .collect(),
    )
}

/// Differs from that of every other lab that this machine makes before it restarts.
fn token() -> anyhow::Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(format!("{}-{}", std::process::id(), now.as_nanos()))
}

/// Reads a topology from a file.
pub fn read_topology(path: &Path) -> anyhow::Result<Topology> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Topology::parse(&text).with_context(|| format!("{} is no topology", path.display()))
}
