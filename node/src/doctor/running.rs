//! The facts that a running node tells.

use super::{Finding, JobsFact, Kind, PairFact};
use crate::api::types::Path;
use crate::overlay::{Nat, Reach, Router};
use crate::trouble::{self, Trouble};

/// A node that has just started has had no time to find peers, seconds.
const YOUNG: u64 = 20;
/// Fewest peers from which their networks, and the mesh, say anything.
const SOME: usize = 4;
/// Peers banned at a time that are more than an accident.
const BANS: usize = 4;
/// Losses of score in an hour that are more than an accident.
const FALLS_PER_HOUR: u64 = 60;
/// Heartbeats of the network after which its last block is old.
const HEARTBEATS: u64 = 3;

/// The facts about a peer that matter.
#[derive(Clone, Copy, Debug)]
pub struct PeerFact {
    /// How it is reached.
    pub path: Path,
    /// Its network: 24 bits of IPv4, 48 of IPv6; `None` for those behind relays.
    pub network: Option<[u8; 6]>,
    /// Whether it takes part in our topics.
    pub subscribed: bool,
    /// Whether it is in our mesh.
    pub mesh: bool,
    /// Whether it relays.
    pub relays: bool,
}

/// Facts about a node.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// Seconds since it started.
    pub uptime: u64,
    /// Its core's complaints.
    pub troubles: Vec<Trouble>,
    /// Connected peers.
    pub peers: Vec<PeerFact>,
    /// Addresses of the settings without a listener.
    pub missing: Vec<String>,
    /// Own addresses of the genesis at which no listener hears.
    pub unheard: Vec<String>,
    /// Where it listens.
    pub listens: Vec<String>,
    /// Whether it listens on QUIC.
    pub quic: bool,
    /// Whether others can dial it.
    pub reach: Reach,
    /// The NAT or firewall between.
    pub nat: Nat,
    /// Relays at which it has a place.
    pub relays: usize,
    /// The router's service.
    pub router: Router,
    /// Declared addresses that did not work.
    pub refuted: Vec<String>,
    /// Connections over QUIC so far.
    pub quic_connections: u64,
    /// Dials over QUIC that failed so far.
    pub quic_failures: u64,
    /// Peers banned now.
    pub banned: usize,
    /// Losses of score so far.
    pub score_falls: u64,
    /// Places for others: most, given, refused so far.
    pub places: (usize, usize, u64),
    /// Whether the core knows of blocks that it does not have.
    pub behind: bool,
    /// Why the ledger does not open its account with its invitation.
    pub invitation: Option<String>,
    /// Seconds since its last block, and between the network's heartbeats.
    pub block_age: Option<(u64, u64)>,
    /// That no blocks come, in words, and whose validators do not answer.
    pub stall: Option<String>,
    /// How strangers' jobs run.
    pub jobs: JobsFact,
    /// Why strangers' jobs have no private network of their lease, if they have none.
    pub no_device: Option<String>,
    /// Why their devices there are no TUN devices, if that was tried.
    pub no_tun: Option<String>,
    /// Whether strangers' jobs reach the web.
    pub jobs_reach_web: bool,
    /// Members of leases' networks that it does not reach.
    pub cut: Vec<PairFact>,
}

/// The findings from these facts.
pub fn running(facts: &Running) -> Vec<Finding> {
    let checks = [
        no_peers, invitation, no_relay, no_blocks, behind, unheard, udp, one_prefix, bans, mesh,
        relay_full, symmetric,
    ];
    let mut found: Vec<Finding> = facts.troubles.iter().map(of_trouble).collect();
    found.extend(facts.missing.iter().map(|address| missing(address)));
    found.extend(facts.refuted.iter().map(|address| refuted(address)));
    found.extend(checks.iter().filter_map(|check| check(facts)));
    found.extend(super::jobs::jobs(&facts.jobs));
    let no_device = facts.no_device.as_deref();
    found.extend(no_device.map(super::jobs::network));
    let no_tun = facts.no_tun.as_deref();
    found.extend(no_tun.map(super::jobs::no_tun));
    found.extend(facts.jobs_reach_web.then(super::jobs::web));
    found.extend(facts.cut.iter().map(super::pairs::pair));
    found
}

fn of_trouble(trouble: &Trouble) -> Finding {
    let (kind, what) = match trouble.kind {
        trouble::Kind::Disk => (Kind::Disk, "the disk fails, and the node is halted"),
        trouble::Kind::Room => return short(trouble),
        trouble::Kind::Clock => (Kind::Clock, "the clock of this machine is wrong"),
        trouble::Kind::Solver => (Kind::Solver, "the solver of reservations does not help"),
    };
    Finding::new(kind, what, &trouble.what, &trouble.hint)
}

/// The trouble begins with what is wrong; its figures say why.
fn short(trouble: &Trouble) -> Finding {
    let what = "the disk is nearly full";
    let why = trouble.what.strip_prefix(what);
    let why = why.map_or(trouble.what.as_str(), |why| why.trim_start_matches(": "));
    Finding::new(Kind::DiskShort, what, why, &trouble.hint)
}

fn missing(address: &str) -> Finding {
    Finding::new(
        Kind::ListenerMissing,
        format!("the node does not listen on {address} any more"),
        "the setting `listen` names it, and no listener has it",
        "see the log for the reason (often the interface went away), then restart the node",
    )
}

fn refuted(address: &str) -> Finding {
    Finding::new(
        Kind::ExternalRefuted,
        format!("nobody reaches this node at {address}"),
        "the setting `external` or the genesis says that others do, and a peer that tried could not",
        "forward that port, TCP and UDP, to this machine and open it in the firewall, or correct the address",
    )
}

fn no_peers(facts: &Running) -> Option<Finding> {
    let lonely = facts.peers.is_empty() && facts.uptime >= YOUNG;
    lonely.then(|| {
        Finding::new(
            Kind::NoPeers,
            "no peer is connected",
            format!("the node has run for {} s and reached nobody", facts.uptime),
            "if it is the first node of its network, invite another one: gridbay invite; else see to \
             the network of this machine, then name a node that runs: gridbay peer connect ADDRESS, \
             or the setting `bootstrap`",
        )
    })
}

fn invitation(facts: &Running) -> Option<Finding> {
    let why = facts.invitation.as_ref().filter(|_| !is_behind(facts))?;
    Some(Finding::new(
        Kind::Invitation,
        "the network does not open an account for this node",
        why,
        "ask a member for a fresh invitation (gridbay invite), and join with it in a new folder",
    ))
}

fn is_behind(facts: &Running) -> bool {
    let old = |(age, heartbeat): (u64, u64)| age > heartbeat.saturating_mul(HEARTBEATS);
    facts.behind || facts.block_age.is_some_and(old)
}

fn no_relay(facts: &Running) -> Option<Finding> {
    let alone = facts.reach == Reach::Private && facts.relays == 0 && !facts.peers.is_empty();
    if !alone || facts.uptime < YOUNG {
        return None;
    }
    let offering = facts.peers.iter().filter(|p| p.relays).count();
    let why = match offering {
        0 => "it cannot be dialled, and no peer of it relays".to_owned(),
        n => format!("it cannot be dialled, and none of {n} peers that relay gave it a place"),
    };
    Some(Finding::new(
        Kind::NoRelay,
        "others cannot reach this node",
        why,
        format!(
            "{}; or have a member with a public address relay (setting relay.places)",
            forward(facts)
        ),
    ))
}

/// How to become public.
fn forward(facts: &Running) -> &'static str {
    match facts.router {
        Router::Off => {
            "set upnp=on if the router may forward ports by itself; else forward the port of `listen`, TCP and UDP, \
             to this machine and set `external`"
        }
        Router::None | Router::Asked | Router::Stopped => {
            "the router forwards nothing by itself (UPnP): forward the port of `listen`, TCP and UDP, to this machine \
             and set `external`, or switch UPnP on in the router"
        }
        Router::Inner => {
            "the router sits behind another NAT, often the provider's: ask the provider for a public address, or use IPv6"
        }
        Router::Forwards => {
            "the router forwards a port, but nobody comes through: see to the firewall of this machine"
        }
    }
}

fn no_blocks(facts: &Running) -> Option<Finding> {
    let why = facts.stall.as_ref()?;
    Some(Finding::new(
        Kind::NoBlocks,
        "the network makes no blocks: orders and payments wait",
        why,
        "have the members whose validators do not answer start them; if all the others see blocks, \
         see to this node's peers: gridbay peer list. Nothing is lost meanwhile",
    ))
}

fn behind(facts: &Running) -> Option<Finding> {
    let (age, heartbeat) = facts.block_age?;
    let told = facts.stall.is_some() && !facts.behind;
    if facts.uptime < YOUNG || !is_behind(facts) || told {
        return None;
    }
    let why = if facts.behind {
        format!("its peers have blocks that it lacks; its last one is {age} s old")
    } else {
        format!(
            "its last block is {age} s old, and the network makes one every {heartbeat} s at least"
        )
    };
    Some(Finding::new(
        Kind::Behind,
        "the node does not have the newest blocks",
        why,
        "wait while its height grows (gridbay node status); if it does not, see to its peers, \
         or whether a third of the validators is down",
    ))
}

fn unheard(facts: &Running) -> Option<Finding> {
    let promised = facts.unheard.first().map(|_| facts.unheard.join(", "))?;
    Some(Finding::new(
        Kind::PromiseUnheard,
        "the node does not listen where its network looks for it",
        format!(
            "the genesis says {promised}; it listens on {}",
            facts.listens.join(", ")
        ),
        "set `listen` to those ports and restart the node; if a router leads from them to this \
         machine, repeat them in `external`",
    ))
}

fn udp(facts: &Running) -> Option<Finding> {
    let tcp = facts.peers.iter().filter(|p| p.path == Path::Tcp).count();
    let blocked =
        facts.quic && facts.reach != Reach::Local && facts.quic_connections == 0 && tcp >= 2;
    blocked.then(|| {
        Finding::new(
            Kind::UdpBlocked,
            "UDP seems to be blocked",
            format!(
                "{tcp} peers are connected over TCP, none ever over QUIC, and {} dials over QUIC failed",
                facts.quic_failures
            ),
            "let UDP out, and in at the port of `listen`, in the firewall; without it punching works badly",
        )
    })
}

fn one_prefix(facts: &Running) -> Option<Finding> {
    let networks: Vec<[u8; 6]> = facts.peers.iter().filter_map(|p| p.network).collect();
    let first = networks.first()?;
    let one = networks.len() >= SOME && networks.iter().all(|n| n == first);
    (one && facts.reach != Reach::Local).then(|| {
        Finding::new(
            Kind::OnePrefix,
            "all peers are in one network",
            format!(
                "{} peers share the first bits of their addresses: one owner could keep the rest of the network \
                 from this node",
                networks.len()
            ),
            "connect to members elsewhere and trust them: gridbay peer connect ADDRESS, gridbay peer trust ID; \
             if all of you are in one building this is as it should be",
        )
    })
}

fn bans(facts: &Running) -> Option<Finding> {
    let hours = facts.uptime / 3_600 + 1;
    let many = facts.banned >= BANS || facts.score_falls > FALLS_PER_HOUR * hours;
    many.then(|| {
        Finding::new(
            Kind::ManyBans,
            "many peers misbehave, or this node takes them wrong",
            format!(
                "{} peers are banned now, and peers lost score {} times",
                facts.banned, facts.score_falls
            ),
            "see whether they and this node run the same version (gridbay node status); block those who go on: \
             gridbay peer block ID",
        )
    })
}

fn mesh(facts: &Running) -> Option<Finding> {
    let subscribed = facts.peers.iter().filter(|p| p.subscribed).count();
    let mesh = facts.peers.iter().filter(|p| p.mesh).count();
    let small = subscribed >= SOME && mesh < 2 && facts.uptime >= YOUNG;
    small.then(|| {
        Finding::new(
            Kind::MeshSmall,
            "news may reach this node late",
            format!("{subscribed} peers take part in gossip, and {mesh} of them pass messages on to it"),
            "see their scores in gridbay peer list; if they are negative, restart the node after setting its clock \
             and version right",
        )
    })
}

fn relay_full(facts: &Running) -> Option<Finding> {
    let (most, given, denied) = facts.places;
    let full = most > 0 && given >= most && denied > 0;
    full.then(|| {
        Finding::new(
            Kind::RelayFull,
            "all places of this relay are taken",
            format!("{given} of {most} are, and {denied} were refused"),
            "raise relay.places if the machine and the line allow it; the others find other relays",
        )
    })
}

fn symmetric(facts: &Running) -> Option<Finding> {
    let hidden = facts.nat == Nat::Symmetric && facts.reach != Reach::Public;
    hidden.then(|| {
        Finding::new(
            Kind::SymmetricNat,
            "direct paths can be made to some peers only",
            "the NAT before this node shows each peer another port (symmetric), so that nobody can be told which \
             to punch at",
            forward(facts),
        )
    })
}

#[cfg(test)]
mod tests;
