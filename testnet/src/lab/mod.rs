//! A small internet on one machine: hosts, routers and NATs out of network namespaces.
//!
//! 1. A [`Topology`] says which networks there are, of which [`Kind`], with which hosts. [`plan`] turns it
//!    into operations, purely; [`perform`] runs them.
//! 2. [`Lab`] is a lab that stands. One that made it ends it when it goes out of scope (the work is done,
//!    failed, panicked or was interrupted), unless it lets go of it.
//! 3. [`state`] keeps on disk what was made, so that other processes change it, and [`down()`] removes what a
//!    killed laboratory left. Two labs of different names live side by side.
//! 4. [`probe`] measures whether every network does what its kind says; [`matrix`] lets two programs meet
//!    across every pair of kinds.
//!
//! Nothing is made outside the lab's own namespaces, whose names begin with the lab's name.

mod address;
pub(crate) mod delay;
mod down;
pub mod exec;
pub mod impair;
pub mod matrix;
pub mod nat;
mod netns;
mod op;
pub mod peer;
mod perform;
mod plan;
pub mod probe;
pub mod program;
mod ruleset;
mod state;
mod tools;
pub mod topology;

pub use down::{Removed, down};
pub use impair::Impairment;
pub use nat::Kind;
pub use tools::{check, is_root};
pub use topology::Topology;

use crate::network::Process;
use crate::say::Progress;
use address::GENERATIONS;
use anyhow::{Context as _, bail};
use delay::Table;
use netns::Identity;
use op::Op;
use plan::Turn;
use state::{Lock, State};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use topology::Link;

/// The router that all public links lead to.
pub const WAN: &str = "wan";

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

/// One line of `lab status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Name.
    pub name: String,
    /// Kind of its network, or what it is for the others.
    pub part: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// What its cable towards the public network suffers; empty if nothing.
    pub suffers: String,
    /// Processes inside it; `None` if its namespace is gone.
    pub processes: Option<usize>,
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
    /// What it was built from.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
    /// Does `work` inside a machine, on a thread of its own. Sockets that it opens and processes that it
    /// starts stay there.
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
    /// What a cable suffers now.
    pub fn cable(&self, name: &str) -> anyhow::Result<Impairment> {
        self.ends(name, &Impairment::default())?;
        Ok(self.state()?.cable(name))
    }
    /// Gives a host or the public side of a router another address, and forgets the router's mappings.
    /// Returns the new address.
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
    /// Packets that the delay process has passed and dropped; `None` where none is needed, an error where it
    /// should run and does not.
    pub fn delayed(&self) -> anyhow::Result<Option<(u64, u64)>> {
        let state = self.state()?;
        if state.delay.is_none() {
            return Ok(None);
        }
        let tally = delay::tell(&state::folder(&self.name)?, &table(&state, &self.topology))
            .context("the delay process is gone: links have no delay")?;
        Ok(Some((tally.passed, tally.dropped)))
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

/// Both ends of a cable: machine and device.
struct Ends([(String, String); 2]);

impl Ends {
    fn each(&self) -> impair::Ends<'_> {
        self.0
            .each_ref()
            .map(|(machine, device)| (machine.as_str(), device.as_str()))
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

/// `; there are: a, b`.
fn others() -> String {
    match names().as_slice() {
        [] => "; no lab is up".to_owned(),
        names => format!("; there are: {}", names.join(", ")),
    }
}

fn named(what: &str, names: Vec<String>) -> String {
    format!("; {what}s: {}", names.join(", "))
}

/// The namespace of a machine. No lab's name has a `-`, so it is never another lab's.
fn namespace(lab: &str, machine: &str) -> String {
    format!("{lab}-{machine}")
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

fn next_zone(now: Turn) -> u16 {
    now.zone.checked_add(1).unwrap_or(1)
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
