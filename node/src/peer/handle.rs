//! Peers: the list, the owner's questions about a peer, and its marks.

use super::failure;
use super::meant::{Meant, Names, meant};
use crate::api::Answer;
use crate::api::types::count;
use crate::api::types::{
    FoundRecord, MarkRequest, Marked, Ourselves, Path, PeerLine, PeerList, PeerRequest, Pinged,
};
use crate::api::{ApiError, ErrorCode};
use crate::backend::failure::{disk, internal};
use crate::backend::{NodeBackend, wall_ms};
use crate::body::ask::key_of;
use crate::overlay::{self, Mark, PeerId, PeerInfo};
use crate::store::marks::MarkError;
use gridbay_core::Core;
use gridbay_protocol::ids::AccountId;

use std::time::Duration;

/// Longest wait for a round trip.
const ROUND_TRIP: Duration = Duration::from_secs(10);
/// Digits of an account that stand for its name.
const SHORT: usize = 8;

impl NodeBackend {
    /// How this node is reached, and the peers that are connected.
    pub async fn peers(&self) -> Answer<PeerList> {
        let overlay = &self.parts.overlay;
        let names = self.peer_names().await;
        let lines: Vec<PeerLine> = overlay.peers().iter().map(|p| line(p, &names)).collect();
        let relayed = lines.iter().filter(|l| l.path == Path::Relayed).count();
        let now = overlay.whereabouts();
        let marked = |mark| texts(self.parts.marks.with(mark));
        let me = Ourselves {
            peer: overlay.local_peer().to_string(),
            node: self.parts.node,
            reach: now.reach,
            nat: now.nat,
            external: texts(now.external),
            refuted: texts(now.refuted),
            relays: texts(now.relays),
            router: now.router,
            places_given: count(now.places_given),
            circuits: count(now.circuits),
            direct: count(lines.len() - relayed),
            relayed: count(relayed),
            blocked: marked(Mark::Blocked),
            trusted: marked(Mark::Trusted),
        };
        Ok(PeerList { me, peers: lines })
    }

    /// One round trip to a peer, which is connected to if need be.
    pub async fn ping(&self, request: PeerRequest) -> Answer<Pinged> {
        let who = self.meant(&request.who).await?;
        self.reach_peer(&who).await?;
        let overlay = &self.parts.overlay;
        let time = overlay.ping(who.peer, ROUND_TRIP).await;
        let time = time.map_err(|error| failure::unanswered(&who.peer, error))?;
        let line = self.connected_peer(&who.peer).await?;
        Ok(Pinged {
            peer: line.peer,
            micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
            path: line.path,
            via: line.via,
            address: line.address,
        })
    }

    /// Connects to a peer.
    pub async fn connect(&self, request: PeerRequest) -> Answer<PeerLine> {
        let who = self.meant(&request.who).await?;
        self.reach_peer(&who).await?;
        self.connected_peer(&who.peer).await
    }

    /// A peer's record in the DHT.
    pub async fn find_peer(&self, request: PeerRequest) -> Answer<FoundRecord> {
        let who = self.meant(&request.who).await?;
        let overlay = &self.parts.overlay;
        let found = overlay.record(who.peer).await;
        let record = found.map_err(|error| failure::not_found(&who.peer, error))?;
        let names = self.peer_names().await;
        Ok(FoundRecord {
            peer: who.peer.to_string(),
            node: record.node,
            name: names.get(&record.node).cloned(),
            addresses: record.addresses,
            signed_ms: record.sequence,
            expires_ms: record.expires.saturating_mul(1_000),
            age_ms: wall_ms().saturating_sub(record.sequence),
            connected: overlay.peers().iter().any(|p| p.peer == who.peer),
        })
    }

    /// Blocks or trusts a peer, durably, or takes that back. Repeating it changes nothing.
    pub async fn mark(&self, request: MarkRequest) -> Answer<Marked> {
        let who = self.meant(&request.who).await?;
        if who.peer == self.parts.overlay.local_peer() {
            return Err(failure::myself());
        }
        let marks = &self.parts.marks;
        let written = marks.change(who.peer, request.mark, request.set);
        let changed = written.map_err(|error| match error {
            MarkError::Full => ApiError::new(
                ErrorCode::Refused,
                MarkError::Full.to_string(),
                "take some back first: gridbay peer unblock, gridbay peer untrust",
            ),
            MarkError::Disk(error) => disk("cannot write down whom you block and trust", &error),
        })?;
        // Repeated too, in case that the overlay was busy the first time.
        let mark = marks.of(&who.peer);
        let told = self.parts.overlay.mark(who.peer, mark);
        told.map_err(|error| internal("the mark counts only from the next start on", error))?;
        Ok(Marked {
            peer: who.peer.to_string(),
            mark,
            changed,
        })
    }

    /// Connects to a peer, if it is not connected.
    async fn reach_peer(&self, who: &Meant) -> Answer<()> {
        let sought = self
            .parts
            .overlay
            .connect(who.peer, who.addresses.clone())
            .await;
        sought.map_err(|error| failure::unreached(&who.peer, error))
    }

    /// A peer that has just been reached. The list of the overlay may be half a second late.
    async fn connected_peer(&self, peer: &PeerId) -> Answer<PeerLine> {
        let names = self.peer_names().await;
        let find = |peers: &[PeerInfo]| {
            let found = peers.iter().find(|p| p.peer == *peer);
            found.map(|p| line(p, &names))
        };
        for _ in 0..10 {
            if let Some(line) = find(&self.parts.overlay.peers()) {
                return Ok(line);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(failure::lost(peer))
    }

    /// Whom a user means.
    async fn meant(&self, who: &str) -> Answer<Meant> {
        let names = self.peer_names().await;
        let peers = self.parts.overlay.peers();
        let connected = peers.iter().map(|p| p.peer);
        let marked = [Mark::Blocked, Mark::Trusted].map(|mark| self.parts.marks.with(mark));
        let mut known: Vec<PeerId> = connected.chain(marked.into_iter().flatten()).collect();
        known.sort_unstable();
        known.dedup();
        meant(who, &known, &names)
    }

    /// Names that the ledger knows. None while there is no core: addresses are wanted most when
    /// something is wrong.
    async fn peer_names(&self) -> Names {
        self.query(names).await.unwrap_or_default()
    }
}

fn names(core: &Core) -> Names {
    let state = core.state();
    let name = |account: &AccountId| match state.member_name(account) {
        Some(name) => name.to_owned(),
        None => account.to_hex()[..SHORT].to_owned(),
    };
    let sellers = state.offers().map(|(_, o)| (o.terms.node, name(&o.seller)));
    let validators = state.validators().members().iter();
    let validators = validators.map(|v| (v.node, name(&v.account)));
    sellers.chain(validators).collect()
}

fn line(info: &PeerInfo, names: &Names) -> PeerLine {
    let node = key_of(&info.peer);
    PeerLine {
        peer: info.peer.to_string(),
        node,
        name: node.and_then(|node| names.get(&node).cloned()),
        path: match info.via {
            Some(_) => Path::Relayed,
            None if overlay::is_quic(&info.address) => Path::Quic,
            None => Path::Tcp,
        },
        via: info.via.map(|relay| relay.to_string()),
        address: info.address.to_string(),
        rtt_us: info.rtt.and_then(|rtt| u64::try_from(rtt.as_micros()).ok()),
        // A cast from a float saturates.
        score: info.score.round() as i64,
        connections: count(info.connections),
        kept: info.kept,
        mesh: info.in_mesh,
        relays: info.relays,
        trusted: info.trusted,
    }
}

fn texts<T: ToString>(list: Vec<T>) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_path() {
        let relay = PeerId::random();
        let table = [
            ("/ip4/198.51.100.7/udp/7411/quic-v1".to_owned(), Path::Quic),
            ("/ip4/198.51.100.7/tcp/7411".to_owned(), Path::Tcp),
            (
                format!("/ip4/198.51.100.7/udp/7411/quic-v1/p2p/{relay}/p2p-circuit"),
                Path::Relayed,
            ),
        ];
        for (address, path) in table {
            let info = PeerInfo {
                peer: PeerId::random(),
                address: address.parse().unwrap(),
                via: (path == Path::Relayed).then_some(relay),
                relays: false,
                connections: 2,
                rtt: Some(Duration::from_micros(1_500)),
                score: -20.4,
                kept: true,
                trusted: false,
                subscribed: true,
                in_mesh: true,
            };
            let line = line(&info, &Names::new());
            assert_eq!(
                (line.path, line.rtt_us, line.score),
                (path, Some(1_500), -20)
            );
            assert_eq!((line.node, line.name), (None, None), "no key of ours");
        }
    }
}
