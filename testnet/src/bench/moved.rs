//! Work that moves data, inside a lease's network and beside it (CloudBay, Fig. 6).
//!
//! Rank 0 of a lease with four members has three workers produce data and takes it in. Inside the
//! network the workers are the three other ranks; for the plain figure they are rank 0 itself,
//! through its own loopback: the same program, the same commands, the same machine, no data plane.
//!
//! 1. `count` has each worker count the words of its part, and moves one line (word count).
//! 2. `shuffle` moves all of it (as the sort does between its two halves).

use super::setup::request;
use crate::say::Progress;
use anyhow::{Context as _, bail, ensure};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::{JobRecord, JobState};
use gridbay_node::ui::Table;
use serde::Serialize;
use std::time::{Duration, Instant};

/// MB that each worker produces.
const SIZES: [u32; 3] = [32, 64, 128];
/// Times that each is measured; the figure is the median.
const TURNS: u32 = 3;
/// Until the job is done.
const PATIENCE: Duration = Duration::from_secs(600);

/// One kind of work of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    /// `count` or `shuffle`.
    pub(crate) work: String,
    /// MB in all.
    pub(crate) mb: u32,
    /// Seconds without the data plane, median.
    pub(crate) plain_seconds: f64,
    /// Seconds with it, median.
    pub(crate) lease_seconds: f64,
}

/// For people.
pub(super) fn table(moved: &[Moved]) -> String {
    let mut table = Table::new(&["WORK", ">MB", ">PLAIN S", ">LEASE S", ">RATIO"]);
    for row in moved {
        let ratio = row.lease_seconds / row.plain_seconds;
        table.row([
            row.work.clone(),
            row.mb.to_string(),
            format!("{:.2}", row.plain_seconds),
            format!("{:.2}", row.lease_seconds),
            format!("{ratio:.2}"),
        ]);
    }
    table.render()
}

/// Lines such as `shuffle 64 lease 1234567`, nanoseconds last.
fn script() -> String {
    let sizes = SIZES.map(|size| size.to_string()).join(" ");
    format!(
        r#"
count() {{ $GRIDBAY_EXEC $1 "head -c $2 /dev/zero | tr '\\0' 'a' | fold -w 7 | wc -l"; }}
shuffle() {{ $GRIDBAY_EXEC $1 "head -c $2 /dev/zero" | wc -c; }}
timed() {{
    began=$(date +%s%N)
    for rank in $4 $5 $6; do $1 $rank $(($2 * 1000000)) > out.$rank.$3 & done
    wait
    echo $1 $2 $3 $(($(date +%s%N) - began))
}}
for turn in $(seq {TURNS}); do
    for size in {sizes}; do
        for work in count shuffle; do
            timed $work $size plain rank0 rank0 rank0
            timed $work $size lease rank1 rank2 rank3
        done
    done
done
"#
    )
}

/// Runs the job.
pub(super) async fn measure(buyer: &Client, progress: &Progress) -> anyhow::Result<Vec<Moved>> {
    progress.tell("work that moves data between four members");
    let script = script();
    let words = ["/run/gridbay-rank", "lead", "hosts", "sh", "-c", &script];
    let job = request(4, 560, &words);
    let job: JobRecord = buyer.post("/jobs", &job, Some("work-that-moves")).await?;
    let began = Instant::now();
    loop {
        let now: JobRecord = buyer.get(&format!("/jobs/{}", job.id)).await?;
        if now.state == JobState::Done {
            break;
        }
        if now.state.is_final() || began.elapsed() > PATIENCE {
            bail!("the job is {now:?}");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let path = format!("/jobs/{}/logs?rank=0&stream=stdout&from=0", job.id);
    let text = client::body(buyer.download(&path).await?, 1 << 20).await?;
    read(&String::from_utf8(text.to_vec())?)
}

/// The medians of what the job printed.
fn read(text: &str) -> anyhow::Result<Vec<Moved>> {
    let median = |work: &str, size: u32, how: &str| {
        let head = format!("{work} {size} {how} ");
        let lines = text.lines().filter_map(|line| line.strip_prefix(&head));
        let mut all: Vec<u64> = lines.filter_map(|ns| ns.parse().ok()).collect();
        ensure!(all.len() == TURNS as usize, "of {head}: {text}");
        all.sort_unstable();
        let ns = all.get(all.len() / 2).context("no turn")?;
        Ok(*ns as f64 / 1e9)
    };
    let mut moved = Vec::new();
    for work in ["count", "shuffle"] {
        for size in SIZES {
            moved.push(Moved {
                work: work.to_owned(),
                mb: 3 * size,
                plain_seconds: median(work, size, "plain")?,
                lease_seconds: median(work, size, "lease")?,
            });
        }
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_of_its_turns() {
        let mut text = String::new();
        for size in SIZES {
            for work in ["count", "shuffle"] {
                for (turn, how) in [(3, "plain"), (1, "plain"), (2, "plain")] {
                    text += &format!("{work} {size} {how} {turn}000000000\n");
                    text += &format!("{work} {size} lease {}000000000\n", turn * 2);
                }
            }
        }
        let all = read(&text).unwrap();
        assert_eq!(all.len(), 2 * SIZES.len());
        assert!(
            all.iter()
                .all(|m| m.plain_seconds == 2.0 && m.lease_seconds == 4.0)
        );
        assert!(table(&all).contains("2.00"));
        assert!(read("count 64 plain 1\n").is_err(), "a turn is missing");
    }
}
