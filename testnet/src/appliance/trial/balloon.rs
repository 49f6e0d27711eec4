//! The owner takes memory back while a lease runs, and gives it again.

use super::super::bench::Bench;
use super::super::machine::{SELLER, Spec};
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use crate::parallel::tools::built;
use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::time::Duration;

/// Memory that the owner leaves to the machine, MiB. A unit has 1024.
const LEFT: u32 = 640;
/// For what the agent does to show, seconds.
const SHOWS: u64 = 120;
/// Touches 700 MiB again and again, which the owner's wish would not leave to it, and says so.
const JOB: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <unistd.h>\nint main(void)\n{\n    size_t size = 700ul << 20;\n    \
    char *all = malloc(size);\n    for (int turn = 1;; turn++) {\n        \
    memset(all, turn, size);\n        printf(\"turn %d\\n\", turn);\n        \
    fflush(stdout);\n        sleep(1);\n    }\n}\n";

pub(super) async fn down_and_up(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench
        .settings("balloon", "units = 1\nprice = \"1\"")
        .await?;
    let mut machine = bench.boot(Spec {
        memory: SELLER,
        balloon: true,
        disks: vec![bench.disk("balloon", &[("invite.toml", &settings)])?],
        ..Spec::new("balloon", 1)
    })?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    until(&mut shell, "sells 1 small").await?;
    let program = bench.folder.join("turns");
    built("cc", &["-static"], JOB, &program)?;
    let program = program.display().to_string();
    let words = "run -n 1 -t 20m --class small --max-price 1.5 --detach --input";
    let words = words.split(' ').chain([program.as_str(), "--", "./turns"]);
    let words: Vec<&str> = words.collect();
    let job = bench.cli("v1", &words).await?.trim().to_owned();
    turns(bench, &job, 1).await?;

    machine.monitor(&format!("balloon {LEFT}")).await?;
    until(&mut shell, "sells nothing more").await?;
    // The lease comes first: what the job needs is taken back from the balloon.
    let before = turns(bench, &job, 1).await?;
    let after = turns(bench, &job, before + 5).await?;
    let on_sale = bench.cli("v1", &["offer", "list", "-o", "json"]).await?;
    let on_sale: Value = serde_json::from_str(&on_sale)?;
    let cheap = |offer: &Value| offer["reserve"] == "1" && offer["withdrawn"] != true;
    let offers = on_sale.as_array().context("a list")?;
    ensure!(!offers.iter().any(cheap), "it still sells: {on_sale}");
    bench.cli("v1", &["job", "cancel", &job]).await?;

    machine.monitor(&format!("balloon {SELLER}")).await?;
    until(&mut shell, "sells 1 small").await?;
    Ok(format!(
        "sold nothing with {} MiB, its lease went on to turn {after}, sells again",
        LEFT
    ))
}

/// Waits until the agent's status has a text.
async fn until(shell: &mut Shell, text: &str) -> anyhow::Result<()> {
    let mut state = String::new();
    for _ in 0..SHOWS / 2 {
        state = shell.good("gridbay-appliance status").await?;
        if state.contains(text) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    anyhow::bail!("no `{text}` in {SHOWS} s: {state}")
}

/// Waits until the job has come to a turn; the one that it has come to.
async fn turns(bench: &Bench, job: &str, least: u64) -> anyhow::Result<u64> {
    let mut said = String::new();
    for _ in 0..SHOWS / 2 {
        said = bench.cli("v1", &["job", "logs", job]).await?;
        let last = said
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("turn "));
        if let Some(turn) = last.and_then(|turn| turn.trim().parse().ok())
            && turn >= least
        {
            return Ok(turn);
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    anyhow::bail!("turn {least} of the job did not come: {said}")
}
