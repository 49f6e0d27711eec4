//! Two appliances on one wire join one federation; the second one scans the first one's ports; one
//! sells, the other buys.

use super::super::bench::Bench;
use super::pair::{CHEAP, GRIDBAY, Pair, jobs, on_sale};
use super::scan::scanned;
use super::statement::earned;
use anyhow::{Context as _, ensure};
use gridbay_protocol::units::Credits;

/// What the job prints.
const WORDS: &str = "hello from a leased unit";

pub(super) async fn two(bench: &Bench) -> anyhow::Result<String> {
    let pair = Pair::boot(bench, None).await?;
    let (mut sells, mut buys) = (pair.seller.shell().await?, pair.buyer.shell().await?);
    scanned(&mut sells, &mut buys).await?;
    let account = on_sale(&mut sells).await?;
    let job = format!("{GRIDBAY} run {CHEAP} -t 2m -- /usr/bin/busybox echo {WORDS}");
    let ran = buys.good(&job).await?;
    ensure!(ran.contains(WORDS), "the job printed {ran}");
    let all = jobs(&mut buys).await?;
    let record = all.first().context("no job")?;
    let on = record.sellers.first().context("the job had no seller")?;
    ensure!(on.account == account, "it ran elsewhere: {on:?}");
    let earned = earned(bench, &mut sells, &mut buys).await?;
    ensure!(earned > 0, "it ran for nothing");
    let earned = u64::try_from(earned).ok().and_then(Credits::from_micros);
    Ok(format!(
        "ready after {:.1} s; {} credits paid by the buyer's account and earned by the seller's",
        pair.took,
        earned.unwrap_or(Credits::ZERO)
    ))
}
