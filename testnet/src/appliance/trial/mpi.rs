//! A program of MPI, and then one of Dask, on units of two appliances, which reach one another in
//! their lease's network.

use super::super::bench::Bench;
use super::super::left_out::LeftOut;
use super::super::machine::SELLER;
use super::boot::{BOOT, READY};
use super::pair::{self, on_sale};
use crate::parallel::{RING, SQUARES, tools};
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{JobRecord, JobState};
use gridbay_protocol::ids::AccountId;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// What the ring prints: the squares of 0 and 1, and who was in it.
const RIGHT: &str = "1 of 2 on rank0 rank1\n";
/// What Dask's workers make: the squares below 100, and where they are.
const SQUARED: &str = "328350 ['rank0', 'rank1']\n";
/// For the adverts that tell of MPI to be known, and the least between two looks.
const ADVERTS: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_secs(2);

pub(super) async fn ring_and_squares(bench: &Bench) -> anyhow::Result<String> {
    if bench.image.flavour()? != "cluster" {
        return Err(LeftOut("the image is not of the flavour `cluster`").into());
    }
    if tools::output("mpicc", &["--version"]).is_none() {
        return Err(LeftOut("there is no mpicc here: install OpenMPI").into());
    }
    let program = bench.folder.join("ring");
    tools::built("mpicc", &[], RING, &program)?;
    let mut one = pair::machine(bench, ("one", 1), "price = \"1\"", SELLER).await?;
    let mut two = pair::machine(bench, ("two", 2), "price = \"1\"", SELLER).await?;
    let took = one.says(READY, BOOT).await?.as_secs_f64();
    two.says(READY, BOOT).await?;
    let (mut first, mut second) = (one.shell().await?, two.shell().await?);
    let sellers = BTreeSet::from([on_sale(&mut first).await?, on_sale(&mut second).await?]);
    let ring = [
        "--mpi",
        "--input",
        &program.display().to_string(),
        "--",
        "./ring",
    ];
    let ring = ran(bench, ("ring", &ring), RIGHT, &sellers).await?;
    let script = bench.folder.join("squares.py");
    std::fs::write(&script, SQUARES)?;
    let script = script.display().to_string();
    let squares = ["--dask", "--input", &script, "--", "python3", "squares.py"];
    let squares = ran(bench, ("squares", &squares), SQUARED, &sellers).await?;
    Ok(format!(
        "ready after {took:.1} s; the ring bought, run and right in {ring} s, then Dask's squares \
         in {squares} s"
    ))
}

/// Buys both units and runs a program on them, which prints what is right; the seconds it took.
async fn ran(
    bench: &Bench,
    (name, words): (&str, &[&str]),
    right: &str,
    sellers: &BTreeSet<AccountId>,
) -> anyhow::Result<u64> {
    let began = Instant::now();
    let said = run(bench, name, words).await?;
    ensure!(
        said == right,
        "{name} printed {said:?} instead of {right:?}"
    );
    let took = began.elapsed().as_secs();
    let words = ["job", "list", "--all", "-o", "json"];
    let jobs: Vec<JobRecord> = serde_json::from_str(&bench.cli("v1", &words).await?)?;
    let job = jobs
        .iter()
        .find(|job| job.name == name && job.state == JobState::Done);
    let job = job.context("no such job is done")?;
    let on: BTreeSet<_> = job.sellers.iter().map(|seller| seller.account).collect();
    ensure!(on == *sellers, "{name} ran elsewhere: {:?}", job.sellers);
    Ok(took)
}

async fn run(bench: &Bench, name: &str, words: &[&str]) -> anyhow::Result<String> {
    let order = "run -n 2 -t 6m --class small --max-price 3 --name";
    let order = order.split(' ').chain([name]);
    let words: Vec<&str> = order.chain(words.iter().copied()).collect();
    let began = Instant::now();
    loop {
        let said = bench.cli("v1", &words).await;
        // The adverts that say what the nodes have may be on their way; the order cost nothing.
        let early = matches!(&said, Err(error) if format!("{error:#}").contains("was not sent"));
        if !early || began.elapsed() > ADVERTS {
            return said;
        }
        tokio::time::sleep(LOOK).await;
    }
}
