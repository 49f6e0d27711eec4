//! Jobs: where an order and its tasks stand, as one record.
//!
//! The record is made from the buyer's agent between two steps of the core; the files that came back are
//! looked up on disk afterwards. A final state is shown once output and files are on this node.

mod state;

pub(super) use state::situation;

use super::failure::{not_found, usage};
use super::market::class_name;
use super::order::job_id;
use super::plan::reserve::bid_per_node;
use super::price::{limit_hourly, mean_hourly};
use super::{Answer, NodeBackend};
use crate::api::types::{
    Ahead, How, JobFile, JobId, JobRecord, JobSeller, JobWorth, NodeGroup, RankExit, Start,
};
use crate::store::orders::OrderStore;
use gridbay_core::Core;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::buyer::{OrderKey, TaskRecord, Terms};
use gridbay_ledger::State;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Records made in one look at the core.
const BATCH: usize = 64;
/// Digits by which a job can be named at the least.
const SHORTEST: usize = 8;
/// Files listed in one record at the most.
const FILES: usize = 10_000;

/// A record that lacks its files, and where those would be.
struct Draft {
    record: JobRecord,
    key: OrderKey,
    outputs: Vec<String>,
}

impl NodeBackend {
    pub(super) async fn job_record(&self, id: JobId) -> Answer<JobRecord> {
        let draft = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            Ok::<_, crate::api::ApiError>(draft(core, key, agent))
        });
        let mut records = self.with_files(vec![draft.await??]).await?;
        records
            .pop()
            .ok_or_else(|| not_found("no such job", "try again"))
    }

    pub(super) async fn job_list(&self, all: bool) -> Answer<Vec<JobRecord>> {
        let keys = self.query(move |core| {
            let orders = core.buyer().orders();
            let wanted = orders.filter(|(_, agent)| all || agent.finish().is_none());
            let mut keys: Vec<_> = wanted.map(|(k, a)| (a.order().accepted_ms, *k)).collect();
            keys.sort_unstable_by(|a, b| b.cmp(a));
            keys
        });
        let keys = keys.await?;
        let mut records = Vec::with_capacity(keys.len());
        for keys in keys.chunks(BATCH) {
            let keys = keys.to_vec();
            let drafts = self.query(move |core| {
                let agent = |key: OrderKey| Some(draft(core, key, core.buyer().order(&key)?));
                keys.into_iter()
                    .filter_map(|(_, key)| agent(key))
                    .collect::<Vec<_>>()
            });
            records.extend(self.with_files(drafts.await?).await?);
        }
        // One that ended between the two looks is no open job any more.
        records.retain(|record| all || !record.state.is_final());
        Ok(records)
    }

    pub(super) async fn output_file(&self, id: JobId, rank: u32, path: String) -> Answer<PathBuf> {
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

    async fn with_files(&self, drafts: Vec<Draft>) -> Answer<Vec<JobRecord>> {
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
            .map_err(|error| super::failure::internal("listing a job's files", error))
    }
}

/// The order that a job's id means: its own digits, the beginning of them, or of its order's id.
pub(super) fn find<'c>(core: &'c Core, id: &JobId) -> Answer<(OrderKey, &'c OrderAgent)> {
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
pub(super) fn record(core: &Core, key: &OrderKey, agent: &OrderAgent) -> JobRecord {
    draft(core, *key, agent).record
}

/// Everything about a job but its files.
fn draft(core: &Core, key: OrderKey, agent: &OrderAgent) -> Draft {
    let (state, order) = (core.state(), agent.order());
    let policy = state.policy();
    let slot_ms = policy.slot_ms();
    let (max_price, budget, how) = terms(&order.terms, order.slots, slot_ms);
    let budget = match &order.terms {
        Terms::Contract(wish) => wish.terms_for(order).lock().unwrap_or(Credits::MAX),
        Terms::Sealed { .. } | Terms::Buy { .. } | Terms::Deadline { .. } | Terms::Reserve(_) => {
            budget
        }
    };
    let (now, reason) = situation(state, agent).judge();
    let (milestones, left) = (agent.milestones(), agent.slots_left(state));
    let records = &agent.tasks.records;
    let earliest = records
        .iter()
        .map(|t| t.started_ms)
        .filter(|at| *at > 0)
        .min();
    let latest = records
        .iter()
        .map(|t| t.ended_ms)
        .max()
        .filter(|at| *at > 0 && now.is_final());
    let exits = (0..).zip(records).filter_map(|(rank, t)| {
        Some(RankExit {
            rank,
            exit: t.done?,
        })
    });
    let unit_ms = u128::from(milestones.unit_heights) * u128::from(policy.block_interval_ms);
    let record = JobRecord {
        id: job_id(&key),
        order: agent.id,
        name: order.name.clone(),
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
        exits: exits.collect(),
        files: Vec::new(),
        paid: agent.paid(),
        price: mean_hourly(agent.paid(), unit_ms),
        preemptions: milestones.lost,
        worth: order.worth.map(|worth| JobWorth {
            worth: worth.worth,
            length_seconds: seconds(worth.length, slot_ms),
        }),
        left_seconds: left.map(|left| u64::from(seconds(left, slot_ms))),
    };
    Draft {
        record,
        key,
        outputs: order.spec.outputs.clone(),
    }
}

fn reached(height: u64) -> Option<u64> {
    Some(height).filter(|h| *h > 0)
}

/// Seconds of so many slots, rounded up.
fn seconds(slots: u32, slot_ms: u64) -> u32 {
    let ms = u64::from(slots).saturating_mul(slot_ms);
    u32::try_from(ms.div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// Price limit per node-hour, budget, and how it gets its nodes.
fn terms(terms: &Terms, slots: u32, slot_ms: u64) -> (Credits, Credits, How) {
    match terms {
        Terms::Sealed {
            steps, min, budget, ..
        } => {
            let units: u32 = steps.iter().map(|s| s.units).sum();
            let price = steps.iter().map(|s| s.price).max().unwrap_or_default();
            let how = How::Ausubel {
                divisible: *min < units,
            };
            (limit_hourly(price, slot_ms), *budget, how)
        }
        Terms::Reserve(reserve) => {
            let units = reserve.groups.iter().map(|g| g.units).sum();
            let price = bid_per_node(reserve.value, units, slots);
            let groups = reserve.groups.iter().map(|group| NodeGroup {
                nodes: group.units,
                offers: group.offers.clone(),
            });
            let ahead = Ahead {
                groups: groups.collect(),
                from: Start::Slot(reserve.earliest),
                until: Some(Start::Slot(reserve.latest)),
                channels: reserve.channels,
            };
            let how = How::Reservation(ahead);
            (limit_hourly(price, slot_ms), reserve.value, how)
        }
        Terms::Buy { units, limit, .. } => {
            let price = Price(limit.micros() / u64::from(*units).max(1));
            let most = limit
                .checked_mul(u64::from(slots) + 1)
                .unwrap_or(Credits::MAX);
            (limit_hourly(price, slot_ms), most, How::Buy)
        }
        Terms::Deadline {
            offer,
            unit_slots,
            soft,
            hard,
            pmax,
            pmin,
            shape,
        } => {
            let price = Price(pmax.micros() / (*unit_slots).max(1));
            let seconds = |slots: u32| {
                let seconds = u64::from(slots).saturating_mul(slot_ms).div_ceil(1_000);
                u32::try_from(seconds).unwrap_or(u32::MAX)
            };
            let how = How::Deadline {
                soft_seconds: seconds(*soft),
                hard_seconds: seconds(*hard),
                pay: *pmax,
                late_pay: *pmin,
                shape: *shape,
                offer: Some(offer.to_hex()),
                seller: None,
            };
            (limit_hourly(price, slot_ms), *pmax, how)
        }
        Terms::Contract(wish) => {
            let price = Price(wish.job.value.micros() / u64::from(slots).max(1));
            let how = super::contract::how(wish, slot_ms);
            // What all jobs can cost depends on how many there are.
            (limit_hourly(price, slot_ms), Credits::MAX, how)
        }
    }
}

/// Who runs (or ran last) which ranks. An offer that has left the ledger has nobody to name.
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
    use gridbay_protocol::order::Step;

    #[test]
    fn terms_are_shown_per_node_hour() {
        let step = Step {
            units: 4,
            price: Price(5_555),
        };
        let budget: Credits = "3".parse().unwrap();
        let sealed = |min| Terms::Sealed {
            steps: vec![step],
            min,
            budget,
            patience: 9,
        };
        assert_eq!(
            terms(&sealed(4), 2, 2_000),
            ("10".parse().unwrap(), budget, How::BID)
        );
        assert!(terms(&sealed(1), 2, 2_000).2.is_divisible());
        let limit = Credits::from_micros(4 * 5_555).unwrap();
        let buy = Terms::Buy {
            units: 4,
            limit,
            offers: vec![],
        };
        let most = limit.checked_mul(3).unwrap();
        assert_eq!(
            terms(&buy, 2, 2_000),
            ("10".parse().unwrap(), most, How::Buy)
        );
    }

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
