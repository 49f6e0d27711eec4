//! What a stranger's job reaches on an appliance: nothing of the machine, its node and its
//! networks.

use super::super::bench::Bench;
use super::super::disk;
use super::super::machine::{Machine, SELLER, Spec};
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use super::pair::{self, GRIDBAY, on_sale};
use crate::probe::{Outcome, Row, count};
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{FindReport, JobRecord};
use gridbay_node::doctor::{Finding, Kind};
use gridbay_node::executor::Tier;
use gridbay_protocol::ids::AccountId;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Findings of the doctor that say that jobs are not fenced in as well as they can be.
const WEAK: [Kind; 5] = [
    Kind::NoJobs,
    Kind::JobsWatched,
    Kind::JobsUnisolated,
    Kind::NoClusters,
    Kind::NoTun,
];
/// The probe whose bound is watched alone, how deep folders nest: what else is watched fails a
/// trial.
const WATCHED: &str = "deep-tree";
/// For a seller's advert to be known, seconds.
const ADVERT: u64 = 120;
/// For all probes, seconds.
const PROBES: u64 = 660;
/// Memory of the machine that they run on, MiB: more than one of them maps, which has to work
/// beside a job.
const ROOMY: u32 = 2_048;
/// Where the probes run: in the node's folder, the only one that jobs' supervisors may write to.
const PLACE: &str = "/data/gridbay/probe";
/// The launcher of the machine's node.
const LAUNCHER: &str = "/run/gridbay/launch";
/// The quotas that root has left for it.
const QUOTAS: &str = "/data/gridbay/quotas";
/// A user of the machine beside root: the node's own.
const AS_NODE: &str = "setpriv --reuid=gridbay --regid=gridbay --init-groups --";

/// Things of a machine, each with a line of a shell that reaches it. Beside a job, as the node's
/// own user, each line must succeed; in a job none may.
const THINGS: [(&str, &str); 18] = [
    ("the node's socket", "test -S /data/gridbay/api.sock"),
    ("the launcher's socket", "test -S /run/gridbay/launch"),
    ("the system's socket", "test -S /run/dbus/system_bus_socket"),
    ("the data partition", "ls /data"),
    ("the node's folder", "ls /data/gridbay"),
    ("the keys", "cat /data/gridbay/keys/*"),
    ("the settings", "cat /data/gridbay/gridbay.toml"),
    ("the ledger", "ls /data/gridbay/ledger"),
    ("the disk", "test -b /dev/vda"),
    (
        "the node's process",
        "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -q 'nod[e] up'",
    ),
    ("the first process", "grep -q systemd /proc/1/comm"),
    ("an interface", "grep -v lo: /proc/net/dev | grep -q :"),
    ("the wire's address", "grep -q 10.9.0.1 /proc/net/fib_trie"),
    (
        "the own overlay",
        "busybox nc -w 4 127.0.0.1 7411 </dev/null",
    ),
    ("the wire", "busybox nc -w 4 10.9.0.1 7411 </dev/null"),
    ("a founder", "busybox nc -w 4 10.0.2.2 FOUNDER </dev/null"),
    ("the way to 10.9.0.0", "grep -q 0000090A /proc/net/route"),
    ("the way to all else", "grep -q 0202000A /proc/net/route"),
];

/// What these lines need, which a job has as well: else it would reach nothing for want of tools.
const TOOLS: [(&str, &str); 4] = [
    ("busybox", "busybox true"),
    ("grep", "grep -q . /proc/self/comm"),
    ("the list of interfaces", "grep -q lo: /proc/net/dev"),
    ("the list of ways", "grep -q Iface /proc/net/route"),
];

/// A line of a shell that tells of each tool and thing whether it is reached.
fn looks(founder: u16) -> String {
    let look = |(name, line): &(&str, &str)| {
        let line = line.replace("FOUNDER", &founder.to_string());
        format!(
            "if ({line}) >/dev/null 2>&1; then echo \"{name}: yes\"; else echo \"{name}: no\"; fi"
        )
    };
    let looks: Vec<String> = TOOLS.iter().chain(&THINGS).map(look).collect();
    looks.join("; ")
}

/// Those that were not told to be as wanted, each of which must be told of.
fn differ<'a>(of: &[(&'a str, &str)], said: &str, wanted: &str) -> Vec<&'a str> {
    let told = |name: &str| said.lines().any(|line| line == format!("{name}: {wanted}"));
    let names = of.iter().map(|(name, _)| *name);
    names.filter(|name| !told(name)).collect()
}

pub(super) async fn unseen(bench: &Bench) -> anyhow::Result<String> {
    let mut seller = pair::machine(bench, ("fenced", 1), "price = \"1\"", SELLER).await?;
    seller.says(READY, BOOT).await?;
    let mut shell = seller.shell().await?;
    let account = on_sale(&mut shell).await?;
    let port = bench.ports().into_iter().next().context("no founder")?;
    let looks = looks(port);
    let beside = format!("{AS_NODE} sh -c '{}'", quoted(&looks));
    let outside = shell.good(&beside).await?;
    let missed = differ(&[&TOOLS[..], &THINGS].concat(), &outside, "yes");
    ensure!(
        missed.is_empty(),
        "not there beside a job either: {missed:?}"
    );
    let words = [
        "run",
        "-n",
        "1",
        "-t",
        "3m",
        "--class",
        "small",
        "--max-price",
        "3",
    ];
    let words = words
        .into_iter()
        .chain(["--name", "looks", "--", "sh", "-c", &looks]);
    let inside = bench.cli("v1", &words.collect::<Vec<_>>()).await?;
    let lacks = differ(&TOOLS, &inside, "yes");
    ensure!(lacks.is_empty(), "a job lacks {lacks:?}: {inside}");
    let reached = differ(&THINGS, &inside, "no");
    ensure!(reached.is_empty(), "a job reaches {reached:?}: {inside}");
    let jobs: Vec<JobRecord> = serde_json::from_str(
        &bench
            .cli("v1", &["job", "list", "--all", "-o", "json"])
            .await?,
    )?;
    let job = jobs.iter().find(|job| job.name == "looks");
    let on = job
        .and_then(|job| job.sellers.first())
        .context("no seller")?;
    ensure!(on.account == account, "the job ran elsewhere: {on:?}");
    strongest(bench, &mut shell, account).await?;
    Ok(format!(
        "{} things that the node's user reaches are not there for a job; the doctor finds no \
         weakness of the sandbox",
        THINGS.len()
    ))
}

/// Within single quotes.
fn quoted(text: &str) -> String {
    text.replace('\'', "'\\''")
}

/// The doctor finds nothing that is weaker than it can be, and the node says the same of itself.
async fn strongest(bench: &Bench, shell: &mut Shell, account: AccountId) -> anyhow::Result<()> {
    // It ends with 1 where anything at all is worth a warning.
    let (said, _) = shell
        .run(&format!("{GRIDBAY} doctor -o json 2>/dev/null"))
        .await?;
    let findings: Vec<Finding> = serde_json::from_str(&said).with_context(|| said.clone())?;
    let weak: Vec<&Finding> = findings.iter().filter(|f| WEAK.contains(&f.kind)).collect();
    ensure!(weak.is_empty(), "{weak:?}");
    let began = Instant::now();
    loop {
        // No node that fits is an error.
        let find = ["market", "find", "price < 3", "-o", "json"];
        if let Ok(said) = bench.cli("v1", &find).await {
            let report: FindReport = serde_json::from_str(&said)?;
            if let Some(node) = report.nodes.iter().find(|node| node.seller == account) {
                return advert(&node.attributes);
            }
        }
        ensure!(
            began.elapsed() < Duration::from_secs(ADVERT),
            "no advert of it"
        );
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

fn advert(attributes: &BTreeMap<String, String>) -> anyhow::Result<()> {
    let tier = attributes.get("x.sandbox").map(String::as_str);
    ensure!(tier == Some("namespaces"), "x.sandbox is {tier:?}");
    let watched = attributes.get("x.watched").map_or("", String::as_str);
    ensure!(watched.is_empty(), "x.watched is `{watched}`");
    Ok(())
}

pub(super) async fn probes(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench.settings("probed", "off = true").await?;
    let invite = bench.disk("probed", &[("invite.toml", &settings)])?;
    let (program, bytes) = disk::of_file(&bench.folder, "probes", bench.network.program())?;
    let mut machine = bench.boot(Spec {
        memory: ROOMY,
        disks: vec![invite, program],
        ..Spec::new("probed", 1)
    })?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    let place = format!(
        "mkdir -m 711 {PLACE} && head -c {bytes} /dev/vdc > {PLACE}/program && \
         chmod 755 {PLACE}/program && chown -R gridbay: {PLACE}"
    );
    shell.good(&place).await?;
    let began = Instant::now();
    let run = format!(
        "({AS_NODE} {PLACE}/program probe --home {PLACE} --launcher {LAUNCHER} \
         --quotas {QUOTAS} > /run/rows 2> /run/notes; echo $? > /run/ended) &"
    );
    shell.begin(&run).await?;
    let rows = rows(&mut shell, &machine).await?;
    ensure!(
        rows.len() == count(),
        "{} of {} probes ran",
        rows.len(),
        count()
    );
    let other = rows.iter().find(|row| row.tier != Tier::Namespaces);
    ensure!(other.is_none(), "{other:?}");
    let weak: Vec<&Row> = rows.iter().filter(|row| weak(row)).collect();
    ensure!(weak.is_empty(), "{weak:#?}");
    let quotas = quotas(&mut shell).await?;
    let many = |outcome| rows.iter().filter(|row| row.result == outcome).count();
    Ok(format!(
        "{} probes in {} s: {} enforced, {} watched ({WATCHED}), {} kept; {quotas} quotas are free",
        rows.len(),
        began.elapsed().as_secs(),
        many(Outcome::Enforced),
        many(Outcome::Watched),
        many(Outcome::Kept)
    ))
}

/// Whether a probe came further than it may.
fn weak(row: &Row) -> bool {
    match row.result {
        Outcome::Enforced | Outcome::Kept => false,
        Outcome::Watched => row.probe != WATCHED,
        Outcome::Broken => true,
    }
}

/// How many quotas there are, all of them free after the jobs' ends. The node's user can give a
/// folder another project, so it is a job's namespace that keeps it from that.
async fn quotas(shell: &mut Shell) -> anyhow::Result<usize> {
    let project = format!("{AS_NODE} sh -c 'mkdir {PLACE}/own && chattr -p 7 {PLACE}/own'");
    shell.good(&project).await?;
    let shown = shell
        .good(&format!("stat -f -c '%n %c %d' {QUOTAS}/*"))
        .await?;
    let counts = |line: &str| -> Option<u64> {
        let mut words = line.split(' ').skip(1).map(str::parse::<u64>);
        words.next()?.ok()?.checked_sub(words.next()?.ok()?)
    };
    let taken = shown.lines().find(|line| counts(line) != Some(1));
    ensure!(taken.is_none(), "a quota is not free: {taken:?}");
    Ok(shown.lines().count())
}

/// The rows, once all probes have run.
async fn rows(shell: &mut Shell, machine: &Machine) -> anyhow::Result<Vec<Row>> {
    let began = Instant::now();
    while shell.run("test -s /run/ended").await?.1 != 0 {
        if began.elapsed() > Duration::from_secs(PROBES) {
            let (notes, _) = shell.run("tail -n 2 /run/notes /run/rows").await?;
            anyhow::bail!("the probes did not end: {notes}; {}", machine.said());
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    let (notes, code) = (
        shell.run("cat /run/notes").await?.0,
        shell.good("cat /run/ended"),
    );
    let code = code.await?;
    ensure!(code.trim() == "0", "the probes ended with {code}: {notes}");
    let said = shell.good("cat /run/rows").await?;
    let rows: Result<_, _> = said.lines().map(serde_json::from_str).collect();
    rows.context("a row of the probes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_that_is_not_told_of_counts_as_reached() {
        let none: String = THINGS
            .iter()
            .map(|(name, _)| format!("{name}: no\n"))
            .collect();
        assert!(differ(&THINGS, &none, "no").is_empty());
        let (_, but_one) = none.split_once('\n').unwrap();
        assert_eq!(differ(&THINGS, but_one, "no"), [THINGS[0].0]);
        assert_eq!(differ(&THINGS, &none, "yes").len(), THINGS.len());
    }

    #[test]
    fn what_is_watched_beside_the_known_bound_is_weak() {
        let row =
            |probe, result| Row::new(probe, Tier::Namespaces, "user", result, "disk".to_owned());
        assert!(weak(&row("disk-total", Outcome::Watched)));
        assert!(weak(&row(WATCHED, Outcome::Broken)));
        assert!(!weak(&row("disk-total", Outcome::Enforced)));
        assert!(!weak(&row(WATCHED, Outcome::Watched)));
    }
}
