//! Jobs: where an order and its tasks stand, as one record.
//!
//! The record is made from the buyer's agent between two steps of the core; the files that came
//! back are looked up on disk afterwards. A final state is shown once output and files are on this
//! node.

use super::attempts::{attempts, lost_seconds};
use super::state::situation;
use crate::api::Answer;
use crate::api::types::{
    JobFile, JobId, JobNetwork, JobRecord, JobSeller, JobWorth, NetSetup, RankExit,
};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, not_found, usage};
use crate::buy;
use crate::market::class_name;
use crate::market::price::{mean_hourly, seconds};
use crate::order::handle::job_id;
use crate::store::orders::OrderStore;
use gridbay_core::Core;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::buyer::{Setup, TaskRecord};
use gridbay_core::key::OrderKey;
use gridbay_ledger::State;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Records made in one look at the core.
pub(super) const BATCH: usize = 64;
/// Digits by which a job can be named at the least.
const SHORTEST: usize = 8;
/// Files listed in one record at the most.
const FILES: usize = 10_000;

/// A record that lacks its files, and where those would be.
pub(super) struct Draft {
    record: JobRecord,
    key: OrderKey,
    outputs: Vec<String>,
}

impl NodeBackend {
    /// One job.
    pub async fn job(&self, id: JobId) -> Answer<JobRecord> {
        let draft = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            Ok::<_, crate::api::ApiError>(draft(core, key, agent))
        });
        let mut records = self.with_files(vec![draft.await??]).await?;
        records
            .pop()
            .ok_or_else(|| not_found("no such job", "try again"))
    }

    /// Where a file that a rank brought back lies. `path` stays inside the job's folder.
    pub async fn file(&self, id: JobId, rank: u32, path: String) -> Answer<PathBuf> {
        let key = self
            .query(move |core| find(core, &id).map(|(key, _)| key))
            .await??;
        let missing = || {
            not_found(
                format!("rank {rank} has no file {path}"),
                "see gridbay job describe",
            )
        };
        if !gridbay_protocol::job::path_is_inside(&path) {
            return Err(missing());
        }
        let place = self.parts.orders.files(&key, rank).join(&path);
        match tokio::fs::symlink_metadata(&place).await {
            Ok(meta) if meta.is_file() => Ok(place),
            _ => Err(missing()),
        }
    }

    pub(super) async fn with_files(&self, drafts: Vec<Draft>) -> Answer<Vec<JobRecord>> {
        let orders = self.parts.orders.clone();
        let filled = tokio::task::spawn_blocking(move || {
            let fill = |mut draft: Draft| {
                let ranks = draft.record.exits.iter().map(|e| e.rank);
                draft.record.files = files(&orders, &draft.key, ranks, &draft.outputs);
                draft.record
            };
            drafts.into_iter().map(fill).collect()
        });
        filled
            .await
            .map_err(|error| internal("listing a job's files", error))
    }
}

/// The order that a job's id means: its own digits, the beginning of them, or of its order's id.
pub(crate) fn find<'c>(core: &'c Core, id: &JobId) -> Answer<(OrderKey, &'c OrderAgent)> {
    let text = id.as_str();
    if let Ok(key) = text.parse::<OrderKey>()
        && let Some(agent) = core.buyer().order(&key)
    {
        return Ok((key, agent));
    }
    let is_meant = |key: &OrderKey, agent: &OrderAgent| {
        text.len() >= SHORTEST
            && (key.to_string().starts_with(text)
                || agent
                    .id
                    .is_some_and(|order| order.to_hex().starts_with(text)))
    };
    let mut meant = core
        .buyer()
        .orders()
        .filter(|(key, agent)| is_meant(key, agent));
    match (meant.next(), meant.next()) {
        (Some((key, agent)), None) => Ok((*key, agent)),
        (None, _) => Err(not_found(
            format!("no job {text}"),
            "see gridbay job list --all",
        )),
        (Some(_), Some(_)) => Err(usage(
            format!("more than one job begins with {text}"),
            "give more digits",
        )),
    }
}

/// A job without its files.
pub(crate) fn record(core: &Core, key: &OrderKey, agent: &OrderAgent) -> JobRecord {
    draft(core, *key, agent).record
}

/// Everything about a job but its files.
pub(super) fn draft(core: &Core, key: OrderKey, agent: &OrderAgent) -> Draft {
    let (state, order) = (core.state(), agent.order());
    let policy = state.policy();
    let seconds = |slots| seconds(slots, policy.slot_ms());
    let (max_price, budget, how) = buy::in_words(order, state);
    let (now, reason) = situation(state, agent).judge();
    let (milestones, left) = (agent.milestones(), agent.slots_left(state));
    let records = &agent.tasks.records;
    let earliest = records
        .iter()
        .map(|t| t.started_ms)
        .filter(|at| *at > 0)
        .min();
    // A task that its user ended has no end of its own, but its last attempt has.
    let ends = records.iter().flat_map(|t| {
        let attempts = t.history.attempts.iter().map(|attempt| attempt.ended_ms);
        attempts.chain([t.ended_ms])
    });
    let latest = ends.max().filter(|at| *at > 0 && now.is_final());
    let unit_ms = u128::from(milestones.unit_heights) * u128::from(policy.block_interval_ms);
    let record = JobRecord {
        id: job_id(&key),
        order: agent.id,
        name: order.name.clone(),
        project: agent.project().map(|mark| mark.project.clone()),
        user: agent.project().and_then(|mark| mark.user.clone()),
        argv: order.spec.argv.clone(),
        class: class_name(state, &order.class),
        nodes: order.tasks,
        how,
        max_price,
        seconds: order.spec.wall_seconds,
        budget,
        state: now,
        reason,
        accepted_ms: order.accepted_ms,
        committed_height: reached(milestones.committed),
        opened_height: reached(milestones.opened),
        won_height: reached(milestones.won),
        lease: milestones.lease,
        sellers: sellers(state, records),
        running_ms: earliest,
        ended_ms: latest,
        exits: exits(records),
        files: Vec::new(),
        paid: agent.paid(),
        locked: agent.id.map_or(Credits::ZERO, |order| state.escrow(&order)),
        price: mean_hourly(agent.paid(), unit_ms, policy.slot_ms()),
        preemptions: milestones.lost,
        share: agent.id.and_then(|id| buy::share_now(state, &id)),
        worth: order.worth.map(|worth| JobWorth {
            worth: worth.worth,
            length_seconds: seconds(worth.length),
        }),
        left_seconds: left.map(|left| seconds(left).into()),
        checkpoint: order.spec.checkpoint.clone(),
        attempts: attempts(state, records),
        lost_seconds: lost_seconds(records),
        networks: agent.setups().iter().map(network).collect(),
    };
    Draft {
        record,
        key,
        outputs: order.spec.outputs.clone(),
    }
}

/// How the ranks ended that did.
fn exits(records: &[TaskRecord]) -> Vec<RankExit> {
    let exit = |(rank, task): (u32, &TaskRecord)| {
        Some(RankExit {
            rank,
            exit: task.done?,
            dropped: task.dropped,
        })
    };
    (0..).zip(records).filter_map(exit).collect()
}

fn network(setup: &Setup) -> JobNetwork {
    JobNetwork {
        lease: setup.lease,
        setup: NetSetup::from(setup),
    }
}

fn reached(height: u64) -> Option<u64> {
    Some(height).filter(|h| *h > 0)
}

/// The sellers that run (or ran last) the ranks. An offer that has left the ledger has no seller to
/// name.
fn sellers(state: &State, tasks: &[TaskRecord]) -> Vec<JobSeller> {
    let mut by_node: BTreeMap<PublicKey, JobSeller> = BTreeMap::new();
    for (rank, task) in (0..).zip(tasks) {
        let Some((offer, node)) = task.place else {
            continue;
        };
        let Some(offer) = state.offer(&offer) else {
            continue;
        };
        let seller = by_node.entry(node).or_insert_with(|| JobSeller {
            account: offer.seller,
            name: state.member_name(&offer.seller).map(str::to_owned),
            node,
            ranks: Vec::new(),
        });
        seller.ranks.push(rank);
    }
    let mut sellers: Vec<_> = by_node.into_values().collect();
    sellers.sort_by(|a, b| a.ranks.cmp(&b.ranks));
    sellers
}

/// Output files that are on disk, by rank and path.
fn files(
    orders: &OrderStore,
    key: &OrderKey,
    ranks: impl Iterator<Item = u32>,
    outputs: &[String],
) -> Vec<JobFile> {
    let found = ranks.flat_map(|rank| {
        let folder = orders.files(key, rank);
        outputs.iter().filter_map(move |path| {
            let meta = std::fs::symlink_metadata(folder.join(path)).ok()?;
            meta.is_file().then(|| JobFile {
                rank,
                path: path.clone(),
                bytes: meta.len(),
            })
        })
    });
    found.take(FILES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let store = OrderStore::open(dir.path().to_path_buf(), 1 << 20).unwrap();
        let key = OrderKey(5);
        let folder = store.files(&key, 1);
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(folder.join("sub/out"), b"abc").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
        let outputs = ["absent", "link", "sub", "sub/out"].map(str::to_owned);
        let found = files(&store, &key, 0..3, &outputs);
        assert_eq!(
            found,
            [JobFile {
                rank: 1,
                path: "sub/out".into(),
                bytes: 3
            }]
        );
    }
}
