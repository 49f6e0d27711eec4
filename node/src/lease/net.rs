//! The network of a lease: what its members have told, and what this node sees itself.

use super::types::{LeaseNet, LeaseView, NetMember, NetPair, NetRelay};
use crate::cluster::reach;
use crate::order::handle::job_id;
use gridbay_core::Core;
use gridbay_core::buyer::Source;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::presence::{Reach, Way};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::engine::LeaseStatus;
use std::collections::BTreeMap;

/// What the members have told the buyer's node.
pub(super) fn told(agent: Option<&OrderAgent>, view: &LeaseView) -> LeaseNet {
    let reached = agent.map(|agent| agent.introductions().reached(&view.lease));
    let member = |member: gridbay_core::buyer::Reached<'_>| NetMember {
        node: member.node,
        ranks: member.ranks,
        pairs: member
            .reach
            .iter()
            .zip(member.rates)
            .map(|(reach, rate)| pair(reach, *rate))
            .collect(),
    };
    let mut members: Vec<NetMember> = reached.into_iter().flatten().map(member).collect();
    members.sort_by(|a, b| a.ranks.cmp(&b.ranks));
    for member in &mut members {
        member.pairs.sort_by_key(|pair| pair.rank);
    }
    name_relays(agent, &view.lease, &mut members);
    LeaseNet {
        lease: view.lease,
        members,
        setup: view.setup,
        relays: Vec::new(),
        refused: Default::default(),
    }
}

/// Says by which relay the ways lead that lead by one.
fn name_relays(agent: Option<&OrderAgent>, lease: &LeaseId, members: &mut [NetMember]) {
    let lowest = |m: &NetMember| Some((*m.ranks.first()?, m.node));
    let nodes: BTreeMap<u32, PublicKey> = members.iter().filter_map(lowest).collect();
    for member in members {
        for pair in &mut member.pairs {
            let by = agent.zip(nodes.get(&pair.rank));
            pair.relay = by.and_then(|(a, to)| a.relays().used(lease, &member.node, to));
        }
    }
}

/// The relays of a lease's network, with what its buyer's node knows of them.
pub(super) fn relays(core: &Core, lease: &LeaseId) -> Vec<NetRelay> {
    let agent = super::handle::order_of(core, lease).map(|(_, agent)| agent);
    let sources = agent.into_iter().flat_map(|agent| agent.relays().sources());
    let relay = |source: &Source| {
        let paid_by = source.paid_by.map(|(lease, _)| lease);
        let order = paid_by.and_then(|lease| super::handle::order_of(core, &lease));
        let said = source.answer.as_ref().map(|(_, signed)| &signed.said.bytes);
        let bytes = said.into_iter().flatten().flatten();
        NetRelay {
            node: source.node,
            carries: source.carries(),
            job: order.map(|(key, _)| job_id(&key)),
            paid: paid_by
                .and_then(|lease| core.state().lease(&lease))
                .map(|l| l.paid),
            pairs: source
                .answer
                .as_ref()
                .map_or(0, |(pairs, _)| pairs.len() as u32),
            bytes: bytes.fold(0, |all, more| all.saturating_add(*more)),
        }
    };
    sources.filter(|s| s.carries == *lease).map(relay).collect()
}

/// Adds what this node sees, in place of what it has told.
pub(super) fn add_own(net: &mut LeaseNet, node: PublicKey, status: &LeaseStatus) {
    let pairs = status.pairs.iter().map(|pair| &pair.drops);
    for (drop, count) in pairs.chain([&status.drops]).flat_map(|drops| drops.seen()) {
        *net.refused.entry(drop.text().to_owned()).or_default() += count;
    }
    let mut fresh: Vec<Reach> = reach::of(status);
    fresh.sort_by_key(|reach| reach.rank);
    match net.members.iter_mut().find(|member| member.node == node) {
        Some(own) => {
            for pair in &mut own.pairs {
                if let Some(now) = fresh.iter().find(|now| now.rank == pair.rank) {
                    let rate = pair.sent_mbit.map(|mbit| (mbit * 125_000.0) as u64);
                    let relay = pair.relay;
                    *pair = self::pair(now, rate);
                    pair.relay = relay;
                }
            }
        }
        None => net.members.push(NetMember {
            node,
            ranks: status.attached.clone(),
            pairs: fresh.iter().map(|reach| pair(reach, None)).collect(),
        }),
    }
}

/// `rate` in bytes per second.
fn pair(reach: &Reach, rate: Option<u64>) -> NetPair {
    let (sent, answered) = reach.probes;
    // The last one may be on its way.
    let lost = sent.saturating_sub(answered).saturating_sub(1);
    let percent = |lost: u32| 100.0 * f64::from(lost) / f64::from(sent.max(1));
    NetPair {
        rank: reach.rank,
        relay: None,
        path: reach.way.map(|way: Way| way.word().to_owned()),
        round_trip_ms: reach.round_trip_us.map(|us| f64::from(us) / 1_000.0),
        sent_mbit: rate.map(|rate| rate as f64 / 125_000.0),
        sent: reach.sent,
        received: reach.received,
        loss_percent: (sent > 1).then(|| percent(lost)),
        mtu: reach.mtu,
        handshake_seconds: reach.handshake_ms.map(|ms| ms / 1_000),
    }
}
