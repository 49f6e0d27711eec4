//! Nodes met in earlier runs, in the data folder: with these a node joins again even if all nodes
//! of its genesis or invitation are gone.
//!
//! The file has an address a line, each ending in `/p2p/<id>`. It is only a hint: a line that
//! cannot be read is passed over, and a file that cannot be written costs nothing but the hint.

use crate::config::Home;
use crate::overlay::{self, Multiaddr, OverlayHandle, PeerId};
use crate::store;
use libp2p::multiaddr::Protocol;
use std::fs::File;
use std::io::{self, Read as _};
use std::time::Duration;

/// Addresses written, and read, at the most.
const MOST: usize = gridbay_core::overlay::ACQUAINTANCES;
/// Bytes read at the most.
const BYTES: u64 = 256 << 10;
/// How often the node looks whether they have changed, and then writes them. A node that ends a
/// moment after it has met others must find them again.
const PERIOD: Duration = gridbay_core::overlay::ACQUAINTANCES_EVERY;

/// Those of earlier runs.
pub(super) fn read(home: &Home) -> Vec<(PeerId, Multiaddr)> {
    let mut text = String::new();
    let read = File::open(home.peers()).and_then(|f| f.take(BYTES).read_to_string(&mut text));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, "cannot read the peers of earlier runs"),
    }
    let lines = text.lines().filter_map(|line| line.parse().ok());
    lines
        .filter_map(|a| overlay::split_peer(&a))
        .take(MOST)
        .collect()
}

/// Writes them down when they have changed, until the overlay ends.
pub(super) async fn keep(net: OverlayHandle, home: Home) {
    let mut written = Vec::new();
    loop {
        tokio::time::sleep(PERIOD).await;
        let Ok(known) = net.known().await else { return };
        if known == written {
            continue;
        }
        written.clone_from(&known);
        let at = home.clone();
        let done = tokio::task::spawn_blocking(move || write(&at, &known)).await;
        if let Ok(Err(error)) = done {
            tracing::warn!(%error, "cannot write down the peers that we know");
        }
    }
}

fn write(home: &Home, known: &[(PeerId, Vec<Multiaddr>)]) -> io::Result<()> {
    if known.is_empty() {
        return Ok(());
    }
    let lines = known.iter().flat_map(|(peer, addresses)| {
        let whole = |a: &Multiaddr| format!("{}\n", a.clone().with(Protocol::P2p(*peer)));
        addresses.iter().map(whole)
    });
    let text: String = lines.take(MOST).collect();
    store::replace_file(&home.peers(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_broken_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        assert_eq!(read(&home), []);
        let (one, other) = (PeerId::random(), PeerId::random());
        let address: Multiaddr = "/ip4/198.51.100.7/tcp/7411".parse().unwrap();
        write(
            &home,
            &[(one, vec![address.clone()]), (other, vec![address.clone()])],
        )
        .unwrap();
        let mut text = std::fs::read_to_string(home.peers()).unwrap();
        text.push_str("/ip4/198.51.100.7/tcp/7411\n/ip4/bad\n\u{0}\n");
        std::fs::write(home.peers(), text).unwrap();
        assert_eq!(read(&home), [(one, address.clone()), (other, address)]);
    }
}
