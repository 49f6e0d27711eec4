//! Two appliances, each behind a router of its own that lets in answers alone and maps anew for
//! each destination. One sells, the other buys: their nodes reach one another by a founder's relay.
//!
//! Routers and founders' hosts are namespaces of a lab; a machine's own user network, which
//! translates as well, is behind its router.

use super::super::bench::{Bench, PATIENCE, plan};
use super::super::left_out::LeftOut;
use super::super::machine::{Machine, SELLER, Spec};
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use super::pair::{CHEAP, GRIDBAY, jobs, json, on_sale};
use super::statement::earned;
use crate::lab::{self, Lab, Topology};
use crate::network::{Network, RunFolder};
use crate::say::Progress;
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{Path, PeerList};
use gridbay_protocol::keys::PublicKey;

/// Name of the lab, and of the federation in it.
const NAME: &str = "boxes";
/// Founders' hosts, and a router for each machine.
const TOPOLOGY: &str = r#"
[networks.street]
kind = "open"
hosts = ["p1", "p2", "p3", "p4"]
[networks.home]
kind = "symmetric"
hosts = ["s1"]
[networks.office]
kind = "symmetric"
hosts = ["s2"]
"#;
/// What the job prints.
const WORDS: &str = "hello from behind a router";

pub(super) async fn relayed(bench: &Bench) -> anyhow::Result<String> {
    if lab::check().is_err() {
        return Err(LeftOut("a lab takes root, iproute2 and nftables").into());
    }
    let program = bench.network.program().clone();
    let silent = Progress::silent();
    let lab = Lab::up(NAME, Topology::parse(TOPOLOGY)?, program.clone(), &silent)?;
    let mut plan = plan(NAME);
    for (node, host) in [("v1", "p1"), ("v2", "p2"), ("v3", "p3"), ("v4", "p4")] {
        plan.seats.insert(node.to_owned(), lab.seat(host)?);
    }
    let folder = RunFolder::create(NAME)?;
    let network = Network::start(program, folder, plan, PATIENCE, &silent).await?;
    let there = bench.beside(network);
    let mut seller = machine(&there, &lab, ("s1", 1), "price = \"1\"", SELLER).await?;
    let mut buyer = machine(&there, &lab, ("s2", 2), "off = true", 256).await?;
    let took = seller.says(READY, BOOT).await?.as_secs_f64();
    buyer.says(READY, BOOT).await?;
    let (mut sells, mut buys) = (seller.shell().await?, buyer.shell().await?);
    let account = on_sale(&mut sells).await?;
    let job = format!("{GRIDBAY} run {CHEAP} -t 2m -- /usr/bin/busybox echo {WORDS}");
    let said = buys.good(&job).await?;
    ensure!(said.contains(WORDS), "the job printed {said}");
    let all = jobs(&mut buys).await?;
    let on = all.first().and_then(|job| job.sellers.first());
    let on = on.context("the job had no seller")?;
    ensure!(on.account == account, "it ran elsewhere: {on:?}");
    let relay = relay(&mut buys, &on.node).await?;
    let earned = earned(&there, &mut sells, &mut buys).await?;
    ensure!(earned > 0, "nothing was earned");
    Ok(format!(
        "ready after {took:.1} s behind its router; the job done over the relay {relay}, and paid"
    ))
}

async fn machine(
    there: &Bench,
    lab: &Lab,
    (host, number): (&'static str, u8),
    sells: &str,
    memory: u32,
) -> anyhow::Result<Machine> {
    let settings = there.settings(host, sells).await?;
    there.boot(Spec {
        memory,
        disks: vec![there.disk(host, &[("invite.toml", &settings)])?],
        namespace: Some(lab.path(host)?),
        ..Spec::new(host, number)
    })
}

/// By whose relay a machine's node reaches another one, which it has no other way to.
async fn relay(shell: &mut Shell, node: &PublicKey) -> anyhow::Result<String> {
    let list: PeerList = json(shell, "peer list").await?;
    let line = list
        .peers
        .iter()
        .find(|line| line.node.as_ref() == Some(node));
    let line = line.with_context(|| format!("no connection to the seller: {:?}", list.peers))?;
    ensure!(
        line.path == Path::Relayed,
        "the seller is reached by {line:?}"
    );
    let via = line.via.as_deref().context("no relay is told")?;
    let relay = list.peers.iter().find(|line| line.peer == via);
    let name = relay.and_then(|relay| relay.name.clone());
    Ok(name.unwrap_or_else(|| via.to_owned()))
}
