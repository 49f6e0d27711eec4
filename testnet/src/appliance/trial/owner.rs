//! An owner's control from afar: a founder is the owner of a machine, and gives it each order that
//! a node takes, the last of which erases it. Another founder is a stranger, and gives them in
//! vain.

use super::super::bench::Bench;
use super::super::machine::{Machine, SELLER, Spec};
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use super::owned::{OWNER, add, asked, settings};
use super::pair::json;
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{Balance, Collected, Earnings, Offer};
use gridbay_protocol::ids::AccountId;
use serde_json::Value;
use std::time::{Duration, Instant};

/// A founder that owns none.
const STRANGER: &str = "v2";
/// For an order to show in what the machine sells and says, seconds.
const SHOWS: u64 = 120;
/// Between two looks.
const LOOK: Duration = Duration::from_secs(2);
const NAME: &str = "owned";

pub(super) async fn controls(bench: &Bench) -> anyhow::Result<String> {
    let settings = settings(bench, NAME, "price = \"2\"").await?;
    let mut machine = bench.boot(Spec {
        memory: SELLER,
        disks: vec![bench.disk(NAME, &[("invite.toml", &settings)])?],
        ..Spec::new(NAME, 1)
    })?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    for founder in [OWNER, STRANGER] {
        add(bench, founder, NAME, &mut shell).await?;
    }
    let account = sells(&mut shell, "2").await?.context("no offer")?;
    let began = Instant::now();
    settings_take_effect(bench, &mut machine, &mut shell).await?;
    drains(bench, &mut shell).await?;
    tells(bench, account).await?;
    strangers(bench, &mut shell).await?;
    let took = began.elapsed().as_secs();
    collects(bench, account).await?;
    let erased = erases(bench, &mut machine, shell, account).await?;
    Ok(format!(
        "price, reserve, sell, drain and resume took effect, earnings and log came, in {took} s; a \
         stranger's orders are refused; what it had was collected; erased and up again after \
         {erased} s, without a key of before"
    ))
}

async fn settings_take_effect(
    bench: &Bench,
    machine: &mut Machine,
    shell: &mut Shell,
) -> anyhow::Result<()> {
    let orders = [
        (["price", "3.5"], "3.5"),
        (["reserve-memory", "900MiB"], ""),
        (["reserve-memory", "default"], "3.5"),
        (["sell", "off"], ""),
        (["sell", "on"], "3.5"),
    ];
    let mut count = Value::Null;
    for ([key, value], price) in orders {
        let told = asked(bench, &["appliance", "set", NAME, key, value]).await?;
        sells(shell, price)
            .await
            .with_context(|| format!("after `set {key} {value}`"))?;
        count = told["count"].clone();
    }
    machine.says("sells 1 small at 3.5 an hour", SHOWS).await?;
    let taken = |status: &Value| status["agent"]["orders"] == count;
    shows(bench, "all orders taken", taken).await
}

/// Draining is the node's state, the agent's, and the end of what is on sale.
async fn drains(bench: &Bench, shell: &mut Shell) -> anyhow::Result<()> {
    asked(bench, &["appliance", "drain", NAME]).await?;
    let draining = |status: &Value| status["agent"]["state"] == "draining";
    shows(bench, "draining", draining).await?;
    sells(shell, "").await.context("after `drain`")?;
    let state = shell.status().await?["state"].clone();
    ensure!(state == "draining", "the machine is {state}");
    asked(bench, &["appliance", "resume", NAME]).await?;
    let ready = |status: &Value| status["agent"]["state"] == "ready";
    shows(bench, "ready", ready).await?;
    sells(shell, "3.5").await.context("after `resume`")?;
    Ok(())
}

/// The machine's money goes to the owner's account.
async fn collects(bench: &Bench, account: AccountId) -> anyhow::Result<()> {
    let balance = bench
        .cli(OWNER, &["ledger", "balance", "-o", "json"])
        .await?;
    let own: Balance = serde_json::from_str(&balance)?;
    let earned = asked(bench, &["appliance", "earnings", NAME]).await?;
    let had: Earnings = serde_json::from_value(earned)?;
    ensure!(had.balance.balance.0 > 0, "{:?}", had.balance);
    let got = asked(bench, &["appliance", "collect", NAME]).await?;
    let got: Collected = serde_json::from_value(got)?;
    ensure!(got.to == own.account && got.to != account, "{got:?}");
    let left = asked(bench, &["appliance", "earnings", NAME]).await?;
    let left: Earnings = serde_json::from_value(left)?;
    ensure!(left.balance.balance.0 == 0, "{:?}", left.balance);
    Ok(())
}

/// The machine comes back without a key, and its used invitation opens no second account.
async fn erases(
    bench: &Bench,
    machine: &mut Machine,
    mut shell: Shell,
    account: AccountId,
) -> anyhow::Result<u64> {
    let keys = shell.keys().await?;
    let began = Instant::now();
    let account = account.to_hex();
    asked(bench, &["appliance", "reset", NAME, "--account", &account]).await?;
    machine.says("reboots, and erases its keys", SHOWS).await?;
    machine.says("was used", BOOT).await?;
    shell.greet().await?;
    ensure!(shell.keys().await? != keys, "the keys are those of before");
    let (told, _) = shell.run("cat /data/gridbay/owner.json").await?;
    ensure!(
        !told.contains("reset"),
        "what the owner told is there: {told}"
    );
    Ok(began.elapsed().as_secs())
}

/// Earnings are those of the machine's account, and the log has the orders.
async fn tells(bench: &Bench, account: AccountId) -> anyhow::Result<()> {
    let told = asked(bench, &["appliance", "earnings", NAME]).await?;
    let Earnings { balance, movements } = serde_json::from_value(told)?;
    ensure!(balance.account == account, "earnings of {balance:?}");
    let sum: i64 = movements.iter().map(|line| line.amount.0).sum();
    ensure!(sum == balance.balance.0, "{movements:?} make {balance:?}");
    let log = bench.cli(OWNER, &["appliance", "log", NAME]).await?;
    for order in ["the owner orders", "Resume"] {
        ensure!(log.contains(order), "no `{order}` in the log: {log}");
    }
    Ok(())
}

/// Orders of another member change nothing, and are answered with nothing.
async fn strangers(bench: &Bench, shell: &mut Shell) -> anyhow::Result<()> {
    let file = "sha256sum /data/gridbay/owner.json";
    let before = shell.good(file).await?;
    let orders: [&[&str]; 7] = [
        &["status", NAME],
        &["earnings", NAME],
        &["set", NAME, "price", "0.1"],
        &["set", NAME, "sell", "off"],
        &["drain", NAME],
        &["resume", NAME],
        &["log", NAME],
    ];
    for words in orders {
        let said = bench.cli(STRANGER, &[&["appliance"], words].concat()).await;
        let refused = matches!(&said, Err(error)
            if format!("{error:#}").contains("does not obey this node"));
        ensure!(refused, "a stranger's {words:?}: {said:?}");
    }
    let after = shell.good(file).await?;
    ensure!(before == after, "a stranger changed what the owner told");
    sells(shell, "3.5").await?;
    Ok(())
}

/// Waits until the machine has one offer on sale at a price, or none if the price is empty; its
/// account.
async fn sells(shell: &mut Shell, price: &str) -> anyhow::Result<Option<AccountId>> {
    let began = Instant::now();
    loop {
        let mut offers: Vec<Offer> = json(shell, "offer list").await?;
        offers.retain(|offer| offer.own && offer.on_sale && !offer.withdrawn);
        match (&offers[..], price) {
            ([], "") => return Ok(None),
            ([one], price) if one.reserve.to_string() == price => return Ok(Some(one.account)),
            _ => {}
        }
        if began.elapsed() > Duration::from_secs(SHOWS) {
            anyhow::bail!("want an offer at `{price}`: {offers:?}");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until the owner's node shows a status as wanted.
async fn shows(bench: &Bench, what: &str, wanted: impl Fn(&Value) -> bool) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let status = asked(bench, &["appliance", "status", NAME]).await?;
        if wanted(&status) {
            return Ok(());
        }
        if began.elapsed() > Duration::from_secs(SHOWS) {
            anyhow::bail!("it is not {what}: {status}");
        }
        tokio::time::sleep(LOOK).await;
    }
}
