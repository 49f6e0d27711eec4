//! Own jobs as lists, newest first.

use super::handle::{BATCH, draft};
use crate::api::Answer;
use crate::api::page::{Asked, Page};
use crate::api::types::JobRecord;
use crate::backend::NodeBackend;
use gridbay_core::key::OrderKey;

/// When a job was accepted, and its name on this node.
type At = (u64, OrderKey);

/// The place of a job in a list, ascending from the newest on.
fn place((accepted_ms, key): At) -> [u8; 16] {
    let mut place = [0; 16];
    place[..8].copy_from_slice(&(!accepted_ms).to_be_bytes());
    place[8..].copy_from_slice(&(!key.0).to_be_bytes());
    place
}

fn place_of(job: &JobRecord) -> [u8; 16] {
    // Each record has the whole id, which is a name on this node.
    let key = job.id.as_str().parse().unwrap_or(OrderKey(0));
    place((job.accepted_ms, key))
}

impl NodeBackend {
    /// Own jobs, newest first; those that ended only if `all`.
    pub async fn jobs(&self, all: bool) -> Answer<Vec<JobRecord>> {
        let (_, records) = self.some_jobs(all, 0, usize::MAX).await?;
        Ok(records)
    }

    /// How many own jobs there are, and those after the first `skip`, at most `most` of them; like
    /// [`NodeBackend::jobs`] otherwise.
    pub(crate) async fn some_jobs(
        &self,
        all: bool,
        skip: usize,
        most: usize,
    ) -> Answer<(usize, Vec<JobRecord>)> {
        let mut keys = self.keys(all).await?;
        let in_all = keys.len();
        keys.drain(..skip.min(in_all));
        keys.truncate(most);
        let mut records = Vec::with_capacity(keys.len());
        for keys in keys.chunks(BATCH) {
            records.extend(self.records(all, keys).await?);
        }
        Ok((in_all, records))
    }

    /// The part that is asked for of the own jobs that `keep` takes; those that ended only if
    /// `all`.
    pub(crate) async fn jobs_asked(
        &self,
        all: bool,
        asked: &Asked,
        keep: impl Fn(&JobRecord) -> bool,
    ) -> Answer<Page<JobRecord>> {
        let behind = asked.behind()?;
        let mut keys = self.keys(all).await?;
        keys.retain(|at| behind.is_none_or(|behind| place(*at) > behind));
        let mut lines = Vec::new();
        for keys in keys.chunks(BATCH) {
            let records = self.records(all, keys).await?;
            lines.extend(records.into_iter().filter(&keep));
            if lines.len() > asked.most {
                break;
            }
        }
        Ok(asked.cut(lines, place_of))
    }

    async fn keys(&self, all: bool) -> Answer<Vec<At>> {
        let keys = self.query(move |core| {
            let orders = core.buyer().orders();
            let wanted = orders.filter(|(_, agent)| all || agent.finish().is_none());
            let mut keys: Vec<_> = wanted.map(|(k, a)| (a.order().accepted_ms, *k)).collect();
            keys.sort_unstable_by(|a, b| b.cmp(a));
            keys
        });
        keys.await
    }

    async fn records(&self, all: bool, keys: &[At]) -> Answer<Vec<JobRecord>> {
        let keys = keys.to_vec();
        let drafts = self.query(move |core| {
            let agent = |key: OrderKey| Some(draft(core, key, core.buyer().order(&key)?));
            keys.into_iter()
                .filter_map(|(_, key)| agent(key))
                .collect::<Vec<_>>()
        });
        let mut records = self.with_files(drafts.await?).await?;
        // One that ended between the two looks is no open job any more.
        records.retain(|record| all || !record.state.is_final());
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_ascend_from_the_newest_on() {
        let ats = [
            (9, OrderKey(1)),
            (8, OrderKey(7)),
            (8, OrderKey(3)),
            (0, OrderKey(0)),
        ];
        let places: Vec<_> = ats.into_iter().map(place).collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    }
}
