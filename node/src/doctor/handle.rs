//! The node's own part of `doctor`: gathers the facts.

use crate::api::Answer;
use crate::api::types::Path;
use crate::backend::{NodeBackend, wall_ms};
use crate::cluster::reach;
use crate::doctor::{self, Finding, JobsFact, PairFact, PeerFact, Running};
use crate::overlay::{self, Count, Multiaddr, PeerInfo, Reach};
use gridbay_core::Core;
use gridbay_protocol::class::Isolation;
use gridbay_vnet::path::Candidate;

/// The core's facts: whether it is behind, the time of its last block, the network's heartbeat, why
/// its invitation is refused.
type FromCore = (bool, u64, u64, Option<String>);

impl NodeBackend {
    /// The findings on this node's network, the gravest first; empty if all is well.
    pub async fn doctor(&self) -> Answer<Vec<Finding>> {
        let facts = self.doctor_facts().await;
        Ok(doctor::in_order(doctor::running(&facts)))
    }

    async fn doctor_facts(&self) -> Running {
        let now = wall_ms();
        let cut = self.cut().await;
        let stall = self.stall().await.map(|stall| stall.in_words());
        // A halted core is a trouble of its own.
        let core: Option<FromCore> = self.query(from_core).await.ok();
        let overlay = &self.parts.overlay;
        let (whereabouts, stats) = (overlay.whereabouts(), overlay.stats());
        let open = overlay.addresses();
        let listen = &self.parts.listen;
        let texts = |list: &[Multiaddr]| list.iter().map(ToString::to_string).collect();
        Running {
            uptime: now.saturating_sub(self.started_ms) / 1_000,
            troubles: self.parts.body.troubles().borrow().clone(),
            peers: overlay.peers().iter().map(peer_fact).collect(),
            missing: missing(listen, &open),
            unheard: unheard(&self.parts.promised, &open),
            listens: texts(&open),
            quic: open.iter().any(overlay::is_quic),
            reach: whereabouts.reach,
            nat: whereabouts.nat,
            relays: whereabouts.relays.len(),
            router: whereabouts.router,
            refuted: texts(&whereabouts.refuted),
            quic_connections: stats.get(Count::ConnectionsQuic),
            quic_failures: stats.get(Count::QuicDialsFailed),
            banned: whereabouts.banned,
            score_falls: stats.get(Count::ScoreFalls),
            places: (
                match whereabouts.reach {
                    Reach::Local => 0,
                    _ => self.parts.relay_places,
                },
                whereabouts.places_given,
                stats.get(Count::RelayPlacesDenied),
            ),
            behind: core.as_ref().is_some_and(|(behind, ..)| *behind),
            invitation: core.as_ref().and_then(|(.., why)| why.clone()),
            block_age: core.map(|(_, block_ms, heartbeat_ms, _)| {
                let age = now.saturating_sub(block_ms) / 1_000;
                (age, heartbeat_ms.div_ceil(1_000))
            }),
            stall,
            jobs: self.jobs_fact(),
            no_device: self.no_device(),
            no_tun: self.no_tun(),
            jobs_reach_web: self.parts.selling.lets_out(),
            cut,
        }
    }

    async fn cut(&self) -> Vec<PairFact> {
        let mut cut = Vec::new();
        for (lease, status) in self.networks().await {
            for pair in status.pairs.iter().filter(|pair| pair.path.is_none()) {
                let place = |c: &Candidate| format!("{} ({})", c.via.at, reach::way(c.kind).word());
                cut.push(PairFact {
                    lease,
                    rank: pair.ranks.first().copied().unwrap_or_default(),
                    tried: pair.tried.iter().map(place).collect(),
                });
            }
        }
        cut
    }

    fn no_device(&self) -> Option<String> {
        let selling = &self.parts.selling;
        let sells = selling.check(Isolation::Process).is_ok();
        let why = selling.no_device().filter(|_| sells);
        why.map(str::to_owned)
    }

    fn no_tun(&self) -> Option<String> {
        let selling = &self.parts.selling;
        let sells = selling.check(Isolation::Process).is_ok();
        let lesser = selling.lesser_link().filter(|_| sells);
        lesser.map(|(_, why)| why.to_owned())
    }

    fn jobs_fact(&self) -> JobsFact {
        let selling = &self.parts.selling;
        match selling.check(Isolation::Process) {
            Err(why) => JobsFact::None(why.to_string()),
            Ok(()) if selling.is_unisolated() => JobsFact::Unisolated,
            Ok(()) => {
                // The disk is only watched where root has left no quotas: few owners can mend it.
                let watched = selling.watched().into_iter();
                match watched.filter(|bound| *bound != "disk").collect::<Vec<_>>() {
                    which if which.is_empty() => JobsFact::Isolated,
                    which => JobsFact::Watched(which),
                }
            }
        }
    }
}

fn from_core(core: &Core) -> FromCore {
    let state = core.state();
    let heartbeat = state.policy().heartbeat_ms;
    let refusal = crate::node::handle::join_refusal(core);
    (core.host().is_behind(), state.time_ms(), heartbeat, refusal)
}

fn peer_fact(info: &PeerInfo) -> PeerFact {
    let direct = info.via.is_none();
    PeerFact {
        path: match direct {
            false => Path::Relayed,
            true if overlay::is_quic(&info.address) => Path::Quic,
            true => Path::Tcp,
        },
        network: overlay::ip(&info.address)
            .filter(|_| direct)
            .map(overlay::prefix),
        subscribed: info.subscribed,
        mesh: info.in_mesh,
        relays: info.relays,
    }
}

/// Addresses of the settings for which no listener is open: none on the same transport and, unless
/// the settings leave it open, the same port.
fn missing(wanted: &[Multiaddr], open: &[Multiaddr]) -> Vec<String> {
    let serves = |wanted: &Multiaddr, open: &Multiaddr| {
        let family = |a| overlay::ip(a).map(|ip| ip.is_ipv4());
        let port = overlay::port(wanted).unwrap_or_default();
        !overlay::is_circuit(open)
            && overlay::is_quic(wanted) == overlay::is_quic(open)
            && family(wanted) == family(open)
            && (port == 0 || overlay::port(open) == Some(port))
    };
    let lost = wanted.iter().filter(|w| !open.iter().any(|o| serves(w, o)));
    lost.map(ToString::to_string).collect()
}

/// Addresses of the genesis at which no listener hears: none on the same transport and port.
fn unheard(promised: &[Multiaddr], open: &[Multiaddr]) -> Vec<String> {
    let hears = |promised: &Multiaddr, open: &Multiaddr| {
        !overlay::is_circuit(open)
            && overlay::is_quic(promised) == overlay::is_quic(open)
            && overlay::port(promised) == overlay::port(open)
    };
    let lost = promised
        .iter()
        .filter(|p| !overlay::is_circuit(p) && !open.iter().any(|o| hears(p, o)));
    lost.map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_genesis_is_heard_at_its_transport_and_port() {
        let all = |texts: &[&str]| -> Vec<Multiaddr> {
            texts.iter().map(|t| t.parse().unwrap()).collect()
        };
        let open = all(&["/ip4/10.0.0.2/udp/7411/quic-v1", "/ip4/10.0.0.2/tcp/7412"]);
        let heard = all(&[
            "/dns4/a.example/udp/7411/quic-v1",
            "/ip6/2001:db8::1/tcp/7412",
        ]);
        assert_eq!(unheard(&heard, &open), Vec::<String>::new());
        let other = ["/ip4/192.0.2.7/udp/4001/quic-v1", "/ip4/192.0.2.7/tcp/7411"];
        assert_eq!(unheard(&all(&other), &open), other);
        let relay = overlay::PeerId::random();
        let circuit = format!("/ip4/10.0.0.9/tcp/4001/p2p/{relay}/p2p-circuit");
        assert_eq!(unheard(&all(&[&circuit]), &open), Vec::<String>::new());
        assert_eq!(unheard(&all(&other), &all(&[&circuit])), other);
    }

    #[test]
    fn a_listener_is_missing_when_nothing_open_serves_its_address() {
        let all = |texts: &[&str]| -> Vec<Multiaddr> {
            texts.iter().map(|t| t.parse().unwrap()).collect()
        };
        let wanted = all(&[
            "/ip4/0.0.0.0/udp/7411/quic-v1",
            "/ip4/0.0.0.0/tcp/7411",
            "/ip4/127.0.0.1/tcp/0",
            "/ip6/::/tcp/7411",
        ]);
        let relay = overlay::PeerId::random();
        let circuit = format!("/ip4/10.0.0.9/udp/7411/quic-v1/p2p/{relay}/p2p-circuit");
        let open = all(&["/ip4/10.0.0.2/tcp/7411", &circuit]);
        let lost = ["/ip4/0.0.0.0/udp/7411/quic-v1", "/ip6/::/tcp/7411"];
        assert_eq!(missing(&wanted, &open), lost);
        assert_eq!(missing(&wanted, &wanted), Vec::<String>::new());
    }
}
