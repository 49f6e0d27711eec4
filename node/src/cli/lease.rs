//! `lease list|show|net|connect|disconnect`: leases that this node has bought or sold, and their
//! networks.

pub(super) mod connect;
pub(super) mod forward;
mod socks;

use super::context::Context;
use super::error::{CliError, During as _};
use super::listing::Listing;
use super::meant::Meant;
use super::text;
use crate::api::types::{LeaseNet, LeaseView, NetMember, NetPair, NetSetup};
use crate::ui::Table;
use clap::Subcommand;
use gridbay_core::cluster::{GUESTS, OWNER};

/// Leases that this node has bought or sold.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum LeaseCommand {
    /// List them
    List(Listing),
    /// Show one
    Show {
        /// The beginning of its id or of its job's, or the job's name
        id: Meant,
    },
    /// Show how the members of its private network reach one another
    ///
    /// The node that bought the lease knows what all members have told it within the last ten
    /// seconds; one that serves it knows its own pairs.
    Net {
        /// The beginning of its id or of its job's, or the job's name
        id: Meant,
    },
    Connect(connect::ConnectArgs),
    /// Leave the private network of a lease
    Disconnect {
        /// The beginning of its id or of its job's, or the job's name
        id: Meant,
    },
}

impl LeaseCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        if let LeaseCommand::Connect(args) = self {
            return args.run(at);
        }
        at.wait(async {
            let client = at.client()?;
            match self {
                LeaseCommand::List(listing) => {
                    let from = ("/leases", "no list of leases");
                    listing.of(at, &client, from, table).await
                }
                LeaseCommand::Show { id } => {
                    let path = format!("/leases/{id}");
                    let lease: LeaseView = client.get(&path).await.during("no lease")?;
                    at.tell(&lease, describe)
                }
                LeaseCommand::Connect(_) => Ok(()),
                LeaseCommand::Disconnect { id } => {
                    let path = format!("/leases/{id}/disconnect");
                    let left = client.post(&path, &(), None).await;
                    let left: LeaseView = left.during("nothing was left")?;
                    at.tell(&left, |l| format!("left lease {}\n", l.lease))
                }
                LeaseCommand::Net { id } => {
                    let path = format!("/leases/{id}/net");
                    let net: LeaseNet = client.get(&path).await.during("no network")?;
                    at.tell(&net, pairs)
                }
            }
        })
    }
}

fn table(leases: &[LeaseView]) -> String {
    Table::of(
        leases,
        &[
            ("LEASE", &|l| l.lease.to_string()),
            ("PART", &|l| l.part.name().to_owned()),
            ("JOB", &|l| l.name.clone().unwrap_or_else(|| "-".to_owned())),
            ("CLASS", &|l| l.class.clone()),
            (">UNITS", &|l| l.units.to_string()),
            ("->NODES", &|l| l.nodes.len().to_string()),
            (">PAID/SLOT", &|l| l.paid.to_string()),
            ("NETWORK", &|l| network(l)),
        ],
    )
}

fn network(lease: &LeaseView) -> String {
    match (&lease.setup, lease.network) {
        (Some(setup), _) => network_stands(setup),
        (None, true) => "yes".to_owned(),
        (None, false) => "-".to_owned(),
    }
}

/// How many nodes are in a network, and how long that took.
pub(crate) fn network_stands(setup: &NetSetup) -> String {
    let seconds = setup.ms as f64 / 1_000.0;
    format!("{} after {seconds:.2} s", text::nodes(setup.members))
}

fn describe(l: &LeaseView) -> String {
    let job = l.job.as_ref().map(ToString::to_string);
    let lines = [
        ("lease", l.lease.to_hex()),
        ("part", l.part.name().to_owned()),
        ("job", job.unwrap_or_else(|| "another node's".to_owned())),
        ("class", l.class.clone()),
        ("units", l.units.to_string()),
        ("paid", format!("{} for slot {}", l.paid, l.slot)),
        ("network", network(l)),
    ];
    let line = |(name, value): &(&str, String)| format!("{name:<10}{value}\n");
    let mut text: String = lines.iter().map(line).collect();
    for node in &l.nodes {
        let owner = node.name.as_deref().unwrap_or("-");
        let (units, id) = (node.units, node.node);
        text += &format!("{:<10}{id}  {owner}, units: {units}\n", "node");
    }
    text
}

/// One line for each pair and direction.
fn pairs(net: &LeaseNet) -> String {
    let all = net.members.iter();
    let rows: Vec<(&NetMember, &NetPair)> = all
        .flat_map(|m| m.pairs.iter().map(move |p| (m, p)))
        .collect();
    let ms = |ms: f64| format!("{ms:.2}");
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut text = Table::of(
        &rows,
        &[
            ("FROM", &|(m, _)| {
                m.ranks
                    .first()
                    .map_or_else(|| "?".to_owned(), |r| rank_word(*r))
            }),
            ("TO", &|(_, p)| rank_word(p.rank)),
            ("PATH", &|(_, p)| {
                let by = p
                    .relay
                    .map_or_else(String::new, |relay| format!(" {relay}"));
                p.path
                    .clone()
                    .map_or_else(|| "none yet".to_owned(), |path| path + &by)
            }),
            (">RTT MS", &|(_, p)| or_none(p.round_trip_ms.map(ms))),
            (">MBIT/S", &|(_, p)| {
                or_none(p.sent_mbit.map(|m| format!("{m:.1}")))
            }),
            (">SENT", &|(_, p)| p.sent.to_string()),
            (">RECEIVED", &|(_, p)| p.received.to_string()),
            (">LOSS %", &|(_, p)| {
                or_none(p.loss_percent.map(|l| format!("{l:.1}")))
            }),
            (">MTU", &|(_, p)| or_none(p.mtu.map(|m| m.to_string()))),
            (">HANDSHAKE S", &|(_, p)| {
                or_none(p.handshake_seconds.map(|s| s.to_string()))
            }),
        ],
    );
    if let Some(setup) = &net.setup {
        text += &format!("complete: {}\n", network_stands(setup));
    }
    for relay in &net.relays {
        let price = match (&relay.job, relay.paid) {
            (Some(job), Some(paid)) => format!("leased by order {job}, {paid} for this slot"),
            _ => "for nothing".to_owned(),
        };
        let does = if relay.carries {
            "carries"
        } else {
            "does not carry"
        };
        text += &format!(
            "relay {}: {does} for {} pairs, {} bytes so far, {price}\n",
            relay.node, relay.pairs, relay.bytes
        );
    }
    for (reason, count) in &net.refused {
        text += &format!("refused here: {count} × {reason}\n");
    }
    text
}

/// A member of a network by its rank.
pub(crate) fn rank_word(rank: u32) -> String {
    if rank == OWNER {
        "owner".to_owned()
    } else if GUESTS.contains(&rank) {
        format!("guest{}", GUESTS.end - rank)
    } else {
        format!("rank{rank}")
    }
}
