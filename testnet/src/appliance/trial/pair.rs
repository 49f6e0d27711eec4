//! Two appliances on one wire: one sells, the other buys.

use super::super::bench::Bench;
use super::super::machine::{Lan, Machine, SELLER, Spec};
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use anyhow::Context as _;
use gridbay_node::api::types::{JobRecord, Offer};
use gridbay_protocol::ids::AccountId;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// For an offer to be on sale, seconds.
const ON_SALE: u64 = 120;
/// A node's command in a machine.
pub(super) const GRIDBAY: &str =
    "setpriv --reuid=gridbay --regid=gridbay --init-groups -- gridbay --data /data/gridbay";
/// How a unit of an appliance that asks for 1 is bought: founders ask for more.
pub(super) const CHEAP: &str = "-n 1 --class small --max-price 3";

/// The machines, both ready.
pub(super) struct Pair {
    pub(super) seller: Machine,
    pub(super) buyer: Machine,
    /// Seconds from power to ready of the seller.
    pub(super) took: f64,
}

impl Pair {
    /// Both, fresh, and with the seed of what power cuts lose, if there is one.
    ///
    /// # Errors
    /// One does not become ready.
    pub(super) async fn boot(bench: &Bench, cache: Option<u64>) -> anyhow::Result<Pair> {
        let seller = spec(bench, ("seller", 1), "price = \"1\"", SELLER).await?;
        let buyer = spec(bench, ("buyer", 2), "off = true", 256).await?;
        let mut seller = bench.boot(Spec { cache, ..seller })?;
        let mut buyer = bench.boot(Spec { cache, ..buyer })?;
        let took = seller.says(READY, BOOT).await?.as_secs_f64();
        buyer.says(READY, BOOT).await?;
        Ok(Pair {
            seller,
            buyer,
            took,
        })
    }
}

/// A machine's address on the wire.
pub(super) fn address(number: u8) -> String {
    format!("10.9.0.{number}")
}

/// A machine on the wire that two share; `number` is 1 or 2.
///
/// # Errors
/// No invitation is to be had, or it does not start.
pub(super) async fn machine(
    bench: &Bench,
    named: (&'static str, u8),
    sells: &str,
    memory: u32,
) -> anyhow::Result<Machine> {
    bench.boot(spec(bench, named, sells, memory).await?)
}

async fn spec(
    bench: &Bench,
    (name, number): (&'static str, u8),
    sells: &str,
    memory: u32,
) -> anyhow::Result<Spec> {
    let settings = bench.settings(name, sells).await?;
    let wire = format!(
        "[Match]\nMACAddress=52:54:00:77:00:{number:02x}\n[Network]\nAddress={}/24\n",
        address(number)
    );
    let files = [
        ("invite.toml", settings.as_str()),
        ("network.network", wire.as_str()),
    ];
    let (own, other) = (21_470 + u16::from(number), 21_470 + u16::from(3 - number));
    Ok(Spec {
        memory,
        disks: vec![bench.disk(name, &files)?],
        lan: Some(Lan { own, other }),
        ..Spec::new(name, number)
    })
}

/// Waits until the seller's own offer is on sale; its account.
///
/// # Errors
/// It is not in time.
pub(super) async fn on_sale(shell: &mut Shell) -> anyhow::Result<AccountId> {
    for _ in 0..ON_SALE / 2 {
        let offers: Vec<Offer> = json(shell, "offer list").await?;
        let own = offers.iter().find(|offer| offer.own && offer.on_sale);
        if let Some(offer) = own {
            return Ok(offer.account);
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    let state = shell.good("gridbay-appliance status").await?;
    anyhow::bail!("no own offer is on sale: {state}")
}

/// All jobs of a machine's node.
///
/// # Errors
/// It does not tell, or one is in a state that no job has.
pub(super) async fn jobs(shell: &mut Shell) -> anyhow::Result<Vec<JobRecord>> {
    json(shell, "job list --all").await
}

/// What a node's command prints as JSON.
///
/// # Errors
/// It fails, or prints something else.
pub(super) async fn json<T: DeserializeOwned>(shell: &mut Shell, words: &str) -> anyhow::Result<T> {
    let said = shell
        .good(&format!("{GRIDBAY} {words} -o json 2>/dev/null"))
        .await?;
    serde_json::from_str(&said).with_context(|| format!("`{words}` says {said}"))
}
