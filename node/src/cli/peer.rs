//! `peer list|ping|find|connect|block|unblock|trust|untrust`.

mod ping;
mod tables;

pub(crate) use tables::{nat as nat_word, reach as reach_word, router as router_word};

use super::context::Context;
use super::error::{CliError, During as _};
use super::listing::Again;
use crate::api::client::Client;
use crate::api::types::{FoundRecord, MarkRequest, Marked, PeerLine, PeerList, PeerRequest};
use crate::overlay::Mark;
use clap::{Args, Subcommand};
pub(super) use tables::reach;

/// The nodes that this one is connected to, and any other of the network.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum PeerCommand {
    /// Show how this node is reached, and whom it is connected to
    List(Again),
    /// Measure round trips to a peer, connecting to it if need be
    Ping(ping::PingArgs),
    /// Look up where a peer says that it is reached
    Find(Who),
    /// Connect to a peer, or say which step failed
    Connect(Who),
    /// Disconnect a peer and refuse it until it is unblocked
    Block(Who),
    /// Take back a block
    Unblock(Who),
    /// Stay connected to a peer, and never ban it for its score
    Trust(Who),
    /// Take back a trust
    Untrust(Who),
}

/// A peer.
#[derive(Clone, Debug, Args)]
pub(super) struct Who {
    /// Its peer id or node key, the beginning of either or the name of a connected peer, or an
    /// address that ends in /p2p/ID
    #[arg(value_name = "PEER")]
    pub(super) who: String,
}

impl PeerCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                PeerCommand::List(again) => {
                    let look = async || {
                        let list = client.get("/peers").await;
                        let list: PeerList = list.during("no list of peers")?;
                        at.show(&list, tables::list)
                    };
                    at.shown(again.watch, look).await
                }
                PeerCommand::Ping(args) => args.run(at, &client).await,
                PeerCommand::Find(who) => {
                    let what = "the peer was not found";
                    let found: FoundRecord = ask(&client, "find", who, what).await?;
                    at.tell(&found, tables::record)
                }
                PeerCommand::Connect(who) => {
                    let what = "there is no connection";
                    let line: PeerLine = ask(&client, "connect", who, what).await?;
                    at.tell(&line, |line| format!("connected: {}\n", tables::way(line)))
                }
                PeerCommand::Block(who) => mark(at, &client, who, Mark::Blocked, true).await,
                PeerCommand::Trust(who) => mark(at, &client, who, Mark::Trusted, true).await,
                PeerCommand::Unblock(who) => mark(at, &client, who, Mark::Blocked, false).await,
                PeerCommand::Untrust(who) => mark(at, &client, who, Mark::Trusted, false).await,
            }
        })
    }
}

async fn ask<T: serde::de::DeserializeOwned>(
    client: &Client,
    verb: &str,
    Who { who }: Who,
    what: &str,
) -> Result<T, CliError> {
    let path = format!("/peers/{verb}");
    let request = PeerRequest { who };
    client.post(&path, &request, None).await.during(what)
}

async fn mark(
    at: &Context,
    client: &Client,
    Who { who }: Who,
    mark: Mark,
    set: bool,
) -> Result<(), CliError> {
    let request = MarkRequest { who, mark, set };
    let answer = client.post("/peers/mark", &request, None).await;
    let marked: Marked = answer.during("nothing was changed")?;
    at.tell(&marked, |marked| {
        let neither = "neither blocked nor trusted";
        let word = marked.mark.map_or(neither, Mark::name);
        let already = if marked.changed { "" } else { ", as before" };
        format!("{} is {word}{already}\n", marked.peer)
    })
}
