//! The two ways in: a genesis on disk, or an invitation with which one is fetched.

use crate::body::ask::{Asker, key_of};
use crate::config::Home;
use crate::keys::NodeKeys;
use crate::overlay::{Multiaddr, OverlayHandle, PeerId};
use crate::store::replace_file;
use anyhow::{Context as _, bail};
use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_core::input::Command;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::invitation::Invitation;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a newcomer looks for the genesis.
const GENESIS_WAIT: Duration = Duration::from_secs(60);
/// Pause between two rounds of asking.
const GENESIS_PAUSE: Duration = Duration::from_millis(200);

/// The invitation in the folder, if there is one.
pub(super) fn read_invitation(home: &Home) -> anyhow::Result<Option<Invitation>> {
    let Some(bytes) = read(&home.invitation())? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).context("the invitation is not text")?;
    let invitation = Invitation::from_text(&text);
    Ok(Some(invitation.with_context(|| {
        format!("cannot use {}", home.invitation().display())
    })?))
}

/// The genesis in the folder, if there is one.
pub(super) fn read_genesis(home: &Home) -> anyhow::Result<Option<Genesis>> {
    let Some(bytes) = read(&home.genesis())? else {
        return Ok(None);
    };
    let genesis = Genesis::decode(&bytes);
    Ok(Some(genesis.with_context(|| {
        format!("cannot use {}", home.genesis().display())
    })?))
}

fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// The network a folder belongs to.
pub(super) fn network_of(
    home: &Home,
    genesis: Option<&Genesis>,
    invitation: Option<&Invitation>,
) -> anyhow::Result<NetworkId> {
    match (genesis, invitation) {
        (Some(genesis), _) => Ok(genesis.network()),
        (None, Some(invitation)) => Ok(invitation.network),
        (None, None) => bail!(
            "{} holds no genesis and no invitation; `gridbay join --file FILE` makes a node of it",
            home.path().display()
        ),
    }
}

/// The genesis that this node has. Without one it asks the nodes named in the invitation until one
/// gives the right one.
pub(super) async fn genesis(
    known: Option<Genesis>,
    net: &OverlayHandle,
    network: NetworkId,
    bootstrap: &[(PeerId, Multiaddr)],
    home: &Home,
) -> anyhow::Result<Genesis> {
    if let Some(genesis) = known {
        return Ok(genesis);
    }
    let asker = Asker::new(net.clone());
    let end = Instant::now() + GENESIS_WAIT;
    while Instant::now() < end {
        for node in bootstrap.iter().filter_map(|(peer, _)| key_of(peer)) {
            if let Some(AgentReply::Chunk { bytes, .. }) =
                asker.ask(&node, &AgentRequest::Genesis).await
                && let Ok(genesis) = Genesis::decode(&bytes)
                && genesis.network() == network
            {
                replace_file(&home.genesis(), &bytes).context("cannot keep the genesis")?;
                return Ok(genesis);
            }
        }
        tokio::time::sleep(GENESIS_PAUSE).await;
    }
    bail!(
        "no node that the invitation or the settings name ({}) gives the genesis",
        bootstrap.len()
    )
}

/// Opens an account with an invitation, for the key of this node.
pub(super) fn join_command(invitation: Invitation, keys: &NodeKeys) -> Command {
    Command::Join {
        invitation: Box::new(invitation),
        keys: vec![AccountKey {
            key: keys.account.public(),
            roles: Roles::ALL,
        }],
    }
}
