//! The results of a run, for people and programs.

use super::judge::Findings;
use super::options::Options;
use super::strike::Struck;
use crate::bench::spread::Spread;
use serde::Serialize;
use std::path::Path;

/// Findings shown of each kind at the most.
const SHOWN: usize = 10;

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Whether nothing was lost, doubled or wrong.
    pub(crate) ok: bool,
    /// Version of the program.
    pub(crate) version: String,
    /// Seed.
    pub(crate) seed: u64,
    /// Validators.
    pub(crate) validators: usize,
    /// Kills.
    pub(crate) kills: usize,
    /// Starts after a kill.
    pub(crate) restarts: usize,
    /// Strikes against all nodes at once.
    pub(crate) blackouts: usize,
    /// Seconds from the first kill to the last.
    pub(crate) seconds: f64,
    /// Acknowledgements per second before the first kill.
    pub(crate) rate_before: f64,
    /// From a start to serving.
    pub(crate) serving: Spread,
    /// The findings of the comparison.
    pub(crate) findings: Findings,
}

impl Report {
    pub(super) fn new(
        options: &Options,
        struck: Struck,
        findings: Findings,
        rate_before: f64,
        seconds: f64,
    ) -> Report {
        Report {
            ok: findings.is_clean() && struck.kills == options.kills,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: options.seed,
            validators: options.validators,
            kills: struck.kills,
            restarts: struck.restarts,
            blackouts: struck.blackouts,
            seconds,
            rate_before,
            serving: Spread::of(struck.serving_ms),
            findings,
        }
    }
    /// Lines for people; the last one sums up.
    pub(crate) fn lines(&self) -> Vec<String> {
        let found = &self.findings;
        let mut lines = Vec::new();
        for (word, what) in [
            ("LOST", &found.lost),
            ("DOUBLED", &found.doubled),
            ("WRONG", &found.wrong),
        ] {
            lines.extend(what.iter().take(SHOWN).map(|one| format!("{word}: {one}")));
        }
        let others = found.other_ends.iter();
        lines.extend(others.map(|(end, n)| format!("{n} orders ended otherwise: {end}")));
        let Spread {
            n,
            p50_ms,
            p95_ms,
            max_ms,
        } = self.serving;
        lines.push(format!(
            "serving again after {p50_ms} ms (p50), {p95_ms} ms (p95), {max_ms} ms (max) of {n} starts"
        ));
        lines.push(format!(
            "{} transfers ({} without effect), {} orders ({} done), {} heads seen, {} blocks on every node, \
             {} times all nodes at once, {:.0} s",
            found.transfers,
            found.without_effect,
            found.orders,
            found.orders_done,
            found.heads,
            found.height,
            self.blackouts,
            self.seconds
        ));
        lines.push(format!(
            "{} kills, {} restarts, {} acknowledged, {} lost, {} doubled, {}",
            self.kills,
            self.restarts,
            found.acknowledged(),
            found.lost.len(),
            found.doubled.len(),
            if found.wrong.is_empty() {
                "converged".to_owned()
            } else {
                format!("{} WRONG", found.wrong.len())
            }
        ));
        lines
    }
    /// Writes it as JSON.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        Ok(std::fs::write(path, format!("{text}\n"))?)
    }
}
