//! From a topology to the operations that build it. Pure: the operations of `lab up` can be read
//! without doing them.
//!
//! ```text
//!   host ── router ──┐
//!   host ─┘ (lan0)   │ wan0                 every cable to `wan` is a routed link of its own,
//!                    wan ── open host       so all that is public crosses one router
//!   host ── router ── provider's router ──┘
//! ```
//!
//! 1. All machines, then settings that must hold before they have devices (no IPv6 where there is
//!    none, no check of return paths), then all cables.
//! 2. The public router: addresses of its ends, routes to networks of public addresses, and a void
//!    for all else.
//! 3. Routers: a switch `lan0` for their hosts, their way out `wan0`, their ruleset.
//! 4. Hosts: `wan0` if open, else `eth0`.
//! 5. [`super::impair`] adds the impairments that links have from the start.
//!
//! [`new_link_address`], [`new_host_address`] and [`forget`] change a lab that stands. A changed
//! link and a forgetful router get their ruleset anew in another zone.

use super::address::{self, Net, Pair};
use super::nat::Kind;
use super::op::Op;
use super::ruleset::ruleset;
use super::topology::{Link, Network, Topology, WAN, isp};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};

/// Where a machine's addresses come from: its link, and how often addresses and zone were changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// Changes of the address.
    pub(super) generation: u8,
    /// Number of the zone in which connections are tracked, from 1.
    pub(super) zone: u16,
}

/// As everything begins.
pub(super) const FIRST: Turn = Turn {
    generation: 0,
    zone: 1,
};

/// Builds a lab.
pub(super) fn up(topology: &Topology) -> Vec<Op> {
    let mut ops: Vec<Op> = topology
        .machines()
        .into_iter()
        .map(|at| Op::Machine { at })
        .collect();
    for machine in topology.machines() {
        ops.extend(settings(topology, &machine));
    }
    ops.extend(cables(topology));
    ops.extend(on(WAN, "lo"));
    ops.push(Op::Void { at: WAN.to_owned() });
    for link in topology.links() {
        ops.extend(link_up(&link));
    }
    for network in topology.networks.iter().filter(|n| n.kind != Kind::Open) {
        ops.extend(router(topology, network));
    }
    for (host, network, place) in topology.hosts() {
        ops.extend(on(host, "lo"));
        if network.kind != Kind::Open {
            ops.extend(lan_host(topology, host, network, place));
        }
    }
    ops
}

/// A link's machine moves to the next address, as after a provider's night.
pub(super) fn new_link_address(link: &Link<'_>, now: Turn, next: Turn) -> Vec<Op> {
    let machine = link.machine();
    let (old, new) = (
        address::public_link(link.number, now.generation),
        address::public_link(link.number, next.generation),
    );
    let mut ops = Vec::new();
    let kept = families(link.network);
    for (old, new) in old.into_iter().zip(new).take(kept) {
        ops.push(add(WAN, link.name, new.up));
        ops.push(add(&machine, "wan0", new.down));
        ops.push(route(&machine, None, new.up.address));
        ops.push(remove(WAN, link.name, old.up));
        ops.push(remove(&machine, "wan0", old.down));
    }
    if link.network.kind != Kind::Open {
        ops.extend(lan_routes(link, new));
    }
    ops.extend(rules(link, next));
    ops
}

/// A host behind a router moves to another address of its network.
pub(super) fn new_host_address(
    link: &Link<'_>,
    host: &str,
    place: usize,
    now: u8,
    next: u8,
) -> Vec<Op> {
    let mut ops = Vec::new();
    let (old, new) = (lan(link, place, now), lan(link, place, next));
    for (old, new) in old.into_iter().zip(new) {
        // With the first address of a network the kernel removes the others of it, and the route
        // with the last.
        ops.push(remove(host, "eth0", old.down));
        ops.push(add(host, "eth0", new.down));
        ops.push(route(host, None, new.up.address));
    }
    ops
}

/// The router of a link forgets its connections and mappings.
pub(super) fn forget(link: &Link<'_>, next: Turn) -> Vec<Op> {
    rules(link, next)
}

/// The address that the public network sees of a link's machine, IPv4.
pub(super) fn public_v4(link: &Link<'_>, generation: u8) -> Ipv4Addr {
    let [v4, _] = address::public_link(link.number, generation);
    ipv4(v4.down)
}

/// Addresses of a host itself: IPv4, and IPv6 where its network has it.
pub(super) fn host_addresses(link: &Link<'_>, place: usize, generation: u8) -> Vec<IpAddr> {
    let pairs = match link.network.kind {
        Kind::Open => address::public_link(link.number, generation).to_vec(),
        _ => lan(link, place, generation),
    };
    pairs.into_iter().map(|pair| pair.down.address).collect()
}

/// 1 where only IPv4 is spoken, else 2.
fn families(network: &Network) -> usize {
    if network.kind.translates() { 1 } else { 2 }
}

fn lan(link: &Link<'_>, place: usize, generation: u8) -> Vec<Pair> {
    if link.network.kind.translates() {
        vec![address::private_lan(link.number, place, generation)]
    } else {
        address::public_lan(link.number, place, generation).to_vec()
    }
}

fn settings(topology: &Topology, machine: &str) -> Vec<Op> {
    let mut wanted = vec![
        ("ipv4/conf/all/rp_filter", "0"),
        ("ipv4/conf/default/rp_filter", "0"),
        ("ipv4/ping_group_range", "0 2147483647"),
        ("ipv6/conf/all/accept_dad", "0"),
        ("ipv6/conf/default/accept_dad", "0"),
    ];
    if topology
        .link_of(machine)
        .is_some_and(|l| l.network.kind.translates())
    {
        wanted.push(("ipv6/conf/all/disable_ipv6", "1"));
        wanted.push(("ipv6/conf/default/disable_ipv6", "1"));
    }
    if topology.host(machine).is_none() {
        wanted.push(("ipv4/ip_forward", "1"));
        wanted.push(("ipv6/conf/all/forwarding", "1"));
    }
    let op = |(key, value): (&str, &str)| Op::Setting {
        at: machine.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    wanted.into_iter().map(op).collect()
}

fn cables(topology: &Topology) -> Vec<Op> {
    let mut ends = Vec::new();
    for link in topology.links() {
        ends.push([(WAN.to_owned(), link.name), (link.machine(), "wan0")]);
    }
    for network in &topology.networks {
        if network.kind == Kind::Double {
            ends.push([(isp(&network.name), "lan0"), (network.name.clone(), "wan0")]);
        }
        if network.kind != Kind::Open {
            for host in &network.hosts {
                ends.push([(network.name.clone(), host), (host.clone(), "eth0")]);
            }
        }
    }
    let cable = |ends: [(String, &str); 2]| Op::Cable {
        ends: ends.map(|(machine, device)| (machine, device.to_owned())),
        mtu: topology.mtu,
    };
    ends.into_iter().map(cable).collect()
}

fn link_up(link: &Link<'_>) -> Vec<Op> {
    let machine = link.machine();
    let mut ops = on(WAN, link.name);
    ops.extend(on(&machine, "wan0"));
    let pairs = address::public_link(link.number, FIRST.generation);
    for pair in pairs.into_iter().take(families(link.network)) {
        ops.push(add(WAN, link.name, pair.up));
        ops.push(add(&machine, "wan0", pair.down));
        ops.push(route(&machine, None, pair.up.address));
    }
    if link.network.kind != Kind::Open {
        ops.extend(lan_routes(link, pairs));
    }
    ops
}

/// The public router's routes to hosts with public addresses behind a router.
fn lan_routes(link: &Link<'_>, pairs: [Pair; 2]) -> Vec<Op> {
    if link.network.kind.translates() {
        return Vec::new();
    }
    let lans = address::public_lan(link.number, 0, 0)
        .into_iter()
        .zip(pairs);
    lans.map(|(lan, pair)| route(WAN, Some(whole(lan.up)), pair.down.address))
        .collect()
}

/// A router's inner side and its ruleset; the provider's router first, where there is one.
fn router(topology: &Topology, network: &Network) -> Vec<Op> {
    let name = network.name.as_str();
    let link = own_link(topology, network);
    let mut ops = on(name, "lo");
    ops.push(Op::Switch {
        at: name.to_owned(),
        device: "lan0".to_owned(),
    });
    ops.extend(on(name, "lan0"));
    for pair in lan(&link, 0, 0) {
        ops.push(add(name, "lan0", pair.up));
    }
    for host in &network.hosts {
        ops.push(Op::Port {
            at: name.to_owned(),
            device: host.clone(),
            switch: "lan0".to_owned(),
        });
        ops.extend(on(name, host));
    }
    if network.kind == Kind::Double {
        let between = address::provider_lan(link.number);
        let provider = isp(name);
        ops.extend(on(&provider, "lo"));
        ops.extend(on(&provider, "lan0"));
        ops.push(add(&provider, "lan0", between.up));
        ops.extend(on(name, "wan0"));
        ops.push(add(name, "wan0", between.down));
        ops.push(route(name, None, between.up.address));
    }
    ops.extend(rules(&link, FIRST));
    for at in [
        Some(name.to_owned()),
        (network.kind == Kind::Double).then(|| isp(name)),
    ] {
        ops.extend(at.into_iter().flat_map(|at| timeouts(&at, network)));
    }
    ops
}

/// How long the kernel keeps a UDP connection. These settings exist once a ruleset tracks
/// connections.
fn timeouts(router: &str, network: &Network) -> Vec<Op> {
    let keys = [
        "nf_conntrack_udp_timeout",
        "nf_conntrack_udp_timeout_stream",
    ];
    let op = |key: &str| Op::Setting {
        at: router.to_owned(),
        key: format!("netfilter/{key}"),
        value: network.udp_timeout.as_secs().to_string(),
    };
    keys.into_iter().map(op).collect()
}

/// Rulesets of a network's router, or of both.
fn rules(link: &Link<'_>, turn: Turn) -> Vec<Op> {
    let network = link.network;
    let public = public_v4(link, turn.generation);
    let mut routers = vec![(link.machine(), public)];
    if network.kind == Kind::Double {
        let inner = ipv4(address::provider_lan(link.number).down);
        routers.push((network.name.clone(), inner));
    }
    let op = |(at, public): (String, Ipv4Addr)| {
        let text = ruleset(network.kind, public, network.udp_timeout, turn.zone)?;
        Some(Op::Ruleset { at, text })
    };
    routers.into_iter().filter_map(op).collect()
}

fn lan_host(topology: &Topology, host: &str, network: &Network, place: usize) -> Vec<Op> {
    let link = own_link(topology, network);
    let mut ops = on(host, "eth0");
    for pair in lan(&link, place, 0) {
        ops.push(add(host, "eth0", pair.down));
        ops.push(route(host, None, pair.up.address));
    }
    ops
}

fn own_link<'a>(topology: &'a Topology, network: &'a Network) -> Link<'a> {
    let link = topology.link_of(&network.name);
    link.expect("a network that is not open has a link of its name")
}

fn on(at: &str, device: &str) -> Vec<Op> {
    vec![Op::On {
        at: at.to_owned(),
        device: device.to_owned(),
    }]
}

fn add(at: &str, device: &str, net: Net) -> Op {
    Op::Address {
        at: at.to_owned(),
        device: device.to_owned(),
        net,
    }
}

fn remove(at: &str, device: &str, net: Net) -> Op {
    Op::NoAddress {
        at: at.to_owned(),
        device: device.to_owned(),
        net,
    }
}

fn route(at: &str, to: Option<Net>, via: IpAddr) -> Op {
    Op::Route {
        at: at.to_owned(),
        to,
        via,
    }
}

/// The network of an address that ends in 1, as `ip` wants it in a route.
fn whole(net: Net) -> Net {
    let address = match net.address {
        IpAddr::V4(a) => IpAddr::from((u32::from(a) & !0xff).to_be_bytes()),
        IpAddr::V6(a) => IpAddr::from((u128::from(a) & !0xffff).to_be_bytes()),
    };
    Net { address, ..net }
}

fn ipv4(net: Net) -> Ipv4Addr {
    match net.address {
        IpAddr::V4(address) => address,
        IpAddr::V6(address) => unreachable!("{address} is the IPv6 of a pair"),
    }
}

#[cfg(test)]
mod tests;
