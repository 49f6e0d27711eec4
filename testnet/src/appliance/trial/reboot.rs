//! A machine is told to reboot while a lease runs: the lease ends first.

use super::super::bench::Bench;
use super::super::machine::SELLER;
use super::boot::{BOOT, READY};
use super::pair::{self, on_sale};
use super::update::{Running, Status};
use crate::parallel::tools::built;
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{JobRecord, JobState};
use gridbay_protocol::ids::AccountId;
use std::time::{Duration, Instant};

/// Seconds that the job takes.
const TAKES: u32 = 30;
/// Tells each second.
const JOB: &str = "#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n    \
    for (int second = 1; second <= SECONDS; second++) {\n        sleep(1);\n        \
    printf(\"second %d\\n\", second);\n        fflush(stdout);\n    }\n}\n";
/// For the job to start, and to end.
const PATIENCE: Duration = Duration::from_secs(180);
/// Between two looks.
const LOOK: Duration = Duration::from_secs(2);
/// The founder that buys.
const BUYER: &str = "v1";
const NAME: &str = "reboot";

pub(super) async fn drains_first(bench: &Bench) -> anyhow::Result<String> {
    let mut machine = pair::machine(bench, (NAME, 1), "price = \"1\"", SELLER).await?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    let account = on_sale(&mut shell).await?;
    let job = order(bench).await?;
    let begun = said(bench, &job, "second 1\n").await?;
    ensure!(!begun.contains("second 15"), "the job is far: {begun}");

    let mut running = Running::new(machine, shell, "");
    let (before, began) = (running.shell.boot_id().await?, Instant::now());
    running.shell.begin("systemctl reboot").await?;
    // A job whose machine goes down begins anew, and tells so.
    let whole: String = (1..=TAKES)
        .map(|second| format!("second {second}\n"))
        .collect();
    let printed = said(bench, &job, &format!("second {TAKES}\n")).await?;
    ensure!(printed == whole, "the job printed {printed}");
    ended(bench, &job, &account).await?;
    let took = began.elapsed().as_secs();
    let again = running.again(&before, began).await?.as_secs();
    let ready = |status: &Status| status.state == "ready";
    running.until("ready", BOOT, ready).await?;
    ensure!(
        on_sale(&mut running.shell).await? == account,
        "another account"
    );
    Ok(format!(
        "the job ends {took} s after `systemctl reboot`; up again after {again} s, and sells"
    ))
}

/// Buys a unit of the machine, for founders ask for more; the job's id.
async fn order(bench: &Bench) -> anyhow::Result<String> {
    let program = bench.folder.join("seconds");
    let seconds = format!("-DSECONDS={TAKES}");
    built("cc", &["-static", &seconds], JOB, &program)?;
    let program = program.display().to_string();
    let words = "run -n 1 -t 3m --class small --max-price 1.5 --detach --input";
    let words = words
        .split(' ')
        .chain([program.as_str(), "--", "./seconds"]);
    let words: Vec<&str> = words.collect();
    Ok(bench.cli(BUYER, &words).await?.trim().to_owned())
}

/// Waits until the job has printed something; all that it has printed.
async fn said(bench: &Bench, job: &str, text: &str) -> anyhow::Result<String> {
    let began = Instant::now();
    loop {
        let said = bench.cli(BUYER, &["job", "logs", job]).await?;
        if said.contains(text) {
            return Ok(said);
        }
        ensure!(began.elapsed() < PATIENCE, "no `{text}` of the job: {said}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until the job is done, and well, at the machine.
async fn ended(bench: &Bench, job: &str, account: &AccountId) -> anyhow::Result<()> {
    let (began, words) = (Instant::now(), ["job", "list", "--all", "-o", "json"]);
    loop {
        let jobs: Vec<JobRecord> = serde_json::from_str(&bench.cli(BUYER, &words).await?)?;
        let record = jobs.into_iter().find(|record| record.id.to_string() == job);
        let record = record.context("the job is not in the list")?;
        if record.state == JobState::Done {
            let on: Vec<_> = record
                .sellers
                .iter()
                .map(|seller| &seller.account)
                .collect();
            ensure!(on == [account], "it ran elsewhere: {:?}", record.sellers);
            return Ok(());
        }
        ensure!(
            began.elapsed() < PATIENCE,
            "the job does not end: {record:?}"
        );
        tokio::time::sleep(LOOK).await;
    }
}
