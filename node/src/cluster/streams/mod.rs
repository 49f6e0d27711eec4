//! Streams of the overlay that carry datagrams of leases' networks where no datagram passes: the
//! last resort of a pair's ways.
//!
//! 1. With each peer to which there is a stream this node has a *proxy*: a socket on the loopback
//!    that speaks to the own data plane alone (`pump`). So to the data plane a stream is a way to
//!    an address, ranked last, and nothing of its checks changes: a stranger's datagram is as
//!    strange on a stream.
//! 2. A stream is opened to a member to which there was no way for [`pass::WAIT`] although its
//!    places are probed, and to a relay of such a pair (`book`). It is closed when no way leads
//!    over it for [`pass::UNUSED`].
//! 3. Whoever opens one says in its first bytes why it may ([`Pass`]): as a member of a lease's
//!    network that is open here, or with a ticket that this node carries for. All others are
//!    refused, and so is more than a few in all, of one lease or of one buyer (`admit`). Each
//!    refusal counts ([`pass::Refusal`]). A stream from whose opener nothing comes at all ends
//!    after [`pass::MUTE`].
//! 4. Of two streams that both ends opened at once that of the lower key stays.
//! 5. A relay carries between streams as it does between datagrams: to it an end is an address.

mod admit;
mod book;
mod open;
mod pass;
mod pump;

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use gridbay_protocol::keys::PublicKey;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Clusters;
use crate::body::ask::{key_of, peer_of};
use crate::overlay::{OverlayHandle, Packets, PeerId};
pub(super) use open::Streams;
pub(super) use pass::RELAYS;
use pass::{Pass, Refusal};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// How long a peer may take for its first bytes, or for its answer to ours.
const GREETING: Duration = Duration::from_secs(5);
/// How long a stream may take, with making a connection.
const OPENING: Duration = Duration::from_secs(25);
/// Streams that are being opened at the most.
const OPENING_MOST: usize = 16;
/// Streams of others than members that have not said why they may be, at the most; one of each
/// peer.
const ENTERING: usize = 64;
/// The answer to the first bytes of a stream that is let in.
const WELCOME: [u8; 1] = [1];

/// Opens, takes and ends streams as long as the node runs.
pub(crate) async fn keep(clusters: Clusters, overlay: OverlayHandle) {
    let me = key_of(&overlay.local_peer());
    let (Some(me), Some(mut incoming)) = (me, overlay.incoming_packets()) else {
        return;
    };
    let (mut opening, mut entering) = (JoinSet::new(), JoinSet::new());
    let mut knocking: BTreeSet<PeerId> = BTreeSet::new();
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let begun = clusters.begun();
    loop {
        tokio::select! {
            // A node without networks has nothing to look at.
            () = begun.notified(), if clusters.are_none() => {}
            _ = look.tick(), if !clusters.are_none() => {
                let room = OPENING_MOST.saturating_sub(opening.len());
                for (to, pass) in clusters.streams_due(Instant::now(), room) {
                    let mine = (me, clusters.clone());
                    opening.spawn(open(mine, overlay.clone(), to, pass));
                }
            }
            stream = incoming.recv() => match stream {
                Some((peer, packets)) => {
                    let room = entering.len() < ENTERING
                        || key_of(&peer).is_some_and(|key| clusters.is_member(&key));
                    if room && knocking.insert(peer) {
                        entering.spawn(enter((me, clusters.clone()), peer, packets));
                    } else {
                        clusters.stream_refused(Refusal::Crowded);
                    }
                }
                None => return,
            },
            Some(_) = opening.join_next() => {}
            Some(entered) = entering.join_next() => {
                if let Ok(peer) = entered {
                    knocking.remove(&peer);
                }
            }
        }
    }
}

/// Opens a stream, and carries from then on.
async fn open(
    (me, clusters): (PublicKey, Clusters),
    overlay: OverlayHandle,
    to: PublicKey,
    pass: Pass,
) {
    let opened = match timeout(OPENING, ask(&overlay, &to, pass)).await {
        Ok(Ok(packets)) => carry((&me, &clusters), to, pass, true, packets).await,
        Ok(Err(error)) => Err(error),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    if let Err(error) = &opened {
        tracing::debug!(%to, %error, "no stream");
    }
    clusters.stream_asked(&to, opened.is_ok(), Instant::now());
}

async fn ask(overlay: &OverlayHandle, to: &PublicKey, pass: Pass) -> io::Result<Packets> {
    let peer = peer_of(to).ok_or(io::ErrorKind::InvalidInput)?;
    let is_direct = || {
        let peers = overlay.peers();
        peers.iter().any(|p| p.peer == peer && p.via.is_none())
    };
    if !is_direct() {
        let sought = overlay.connect(peer, Vec::new()).await;
        sought.map_err(io::Error::other)?;
    }
    if !is_direct() {
        // It is there through a relay, since it could not dial this node or had lost it.
        overlay.dial_direct(peer).map_err(io::Error::other)?;
        let begin = Instant::now();
        while !is_direct() && begin.elapsed() < GREETING {
            tokio::time::sleep(LOOK / 5).await;
        }
    }
    let mut packets = overlay.packets(peer).await?;
    packets.write_head(&pass.bytes()).await?;
    match timeout(GREETING, packets.read_head()).await {
        Ok(Ok(WELCOME)) => Ok(packets),
        Ok(Ok(_)) => Err(io::ErrorKind::InvalidData.into()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Lets a peer's stream in, if it may.
async fn enter((me, clusters): (PublicKey, Clusters), peer: PeerId, packets: Packets) -> PeerId {
    if let Err(error) = let_in((&me, &clusters), &peer, packets).await {
        tracing::debug!(%peer, %error, "a stream that is not let in");
    }
    peer
}

async fn let_in(
    (me, clusters): (&PublicKey, &Clusters),
    peer: &PeerId,
    mut packets: Packets,
) -> io::Result<()> {
    let from = key_of(peer).ok_or(io::ErrorKind::InvalidInput)?;
    let head = timeout(GREETING, packets.read_head()).await;
    let head = head.map_err(|_| io::ErrorKind::TimedOut)??;
    let pass = Pass::read(&head).ok_or(io::ErrorKind::InvalidData)?;
    if let Err(refusal) = clusters.admits_stream(&from, &pass) {
        let why = format!("refused: {}", refusal.name());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    carry((me, clusters), from, pass, false, packets).await
}

/// Enters a stream as a way, welcomes its opener, and carries until it ends.
async fn carry(
    (me, clusters): (&PublicKey, &Clusters),
    peer: PublicKey,
    pass: Pass,
    own: bool,
    mut packets: Packets,
) -> io::Result<()> {
    let plane = SocketAddr::from((Ipv4Addr::LOCALHOST, clusters.port()?));
    let proxy = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    proxy.connect(plane).await?;
    let place = open::Place {
        at: proxy.local_addr()?,
        pass,
        own,
    };
    let Some((number, activity, end)) = clusters.enter_stream(me, peer, place) else {
        return Err(io::ErrorKind::AlreadyExists.into());
    };
    let welcomed = match own {
        true => Ok(()),
        false => packets.write_head(&WELCOME).await,
    };
    if let Err(error) = welcomed {
        clusters.end_stream(&peer, number);
        return Err(error);
    }
    tracing::info!(%peer, own, "a stream carries packets");
    let clusters = clusters.clone();
    tokio::spawn(async move {
        let ended = pump::run(packets, proxy, &activity, end).await;
        tracing::info!(%peer, own, ended, "a stream of packets ended");
        clusters.end_stream(&peer, number);
    });
    Ok(())
}

#[cfg(test)]
mod tests;
