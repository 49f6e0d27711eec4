//! Clusters that are held: bought like any job, shown as what they are, given up.

use super::types::{ClusterRecord, ClusterRequest, Guest, HeldRank, Runtime};
use crate::api::Answer;
use crate::api::page::{Asked, Page};
use crate::api::types::{How, JobId, JobRecord, JobRequest};
use crate::backend::failure::usage;
use crate::backend::{NodeBackend, wall_ms};
use crate::rank::PROGRAM;
use crate::rank::hold::{NETWORK, OWNER};
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet};

/// The word that makes a rank of that program.
const HOLD: &str = "hold";
/// Name of a cluster that was given none.
const NAME: &str = "cluster";

impl NodeBackend {
    /// Orders nodes to hold.
    pub(crate) async fn hold(&self, id: JobId, request: ClusterRequest) -> Answer<ClusterRecord> {
        let how = &request.want.how;
        if how.is_divisible() || matches!(how, How::Contract(_) | How::Deadline(_)) {
            let why = "a cluster is all its nodes or none, for one time";
            return Err(usage(why, "leave out --array, --provider and --hard"));
        }
        let owner = self.parts.account_key.public();
        let record = self.submit(
            id,
            JobRequest {
                project: None,
                name: Some(request.name.unwrap_or_else(|| NAME.to_owned())),
                want: request.want,
                worth: None,
                argv: argv(&request.runtimes),
                env: vec![
                    (NETWORK.to_owned(), self.parts.network.to_hex()),
                    (OWNER.to_owned(), owner.to_hex()),
                ],
                inputs: Vec::new(),
                outputs: Vec::new(),
                network: true,
                internet: request.internet,
                relays: request.relays,
                checkpoint: None,
            },
        );
        Ok(self.shown(record.await?))
    }

    /// Own clusters, newest first; those that ended only if `all`.
    pub(crate) async fn clusters(&self, all: bool) -> Answer<Vec<ClusterRecord>> {
        let jobs = self.jobs(all).await?.into_iter().filter(is_cluster);
        Ok(jobs.map(|job| self.shown(job)).collect())
    }

    /// The part of them that is asked for.
    pub(crate) async fn clusters_asked(
        &self,
        all: bool,
        asked: &Asked,
    ) -> Answer<Page<ClusterRecord>> {
        let page = self.jobs_asked(all, asked, is_cluster).await?;
        Ok(page.map(|job| self.shown(job)))
    }

    /// One cluster.
    pub(crate) async fn cluster(&self, id: JobId) -> Answer<ClusterRecord> {
        let job = self.job(id).await?;
        if !is_cluster(&job) {
            let why = format!("{} is a job with a program of its own", job.id);
            return Err(usage(why, "see gridbay job describe"));
        }
        Ok(self.shown(job))
    }

    /// Gives a cluster up.
    pub(crate) async fn give_up(&self, id: JobId) -> Answer<ClusterRecord> {
        let cluster = self.cluster(id).await?;
        self.guests.forget(&cluster.id);
        Ok(self.shown(self.cancel(cluster.id).await?))
    }

    fn shown(&self, job: JobRecord) -> ClusterRecord {
        let guests = self.guests.of(&job.id);
        of(job, (self.parts.node, guests), wall_ms())
    }
}

fn is_cluster(job: &JobRecord) -> bool {
    job.argv.starts_with(&argv(&BTreeSet::new()))
}

/// The program of a rank; the runtimes that it names are what its node must have
/// ([`gridbay_core::needs`]).
fn argv(runtimes: &BTreeSet<Runtime>) -> Vec<String> {
    let words = runtimes.iter().map(|runtime| runtime.name());
    let words = [PROGRAM, HOLD].into_iter().chain(words);
    words.map(str::to_owned).collect()
}

fn of(job: JobRecord, (owner, guests): (PublicKey, Vec<Guest>), now_ms: u64) -> ClusterRecord {
    let mut ranks: BTreeMap<u32, HeldRank> = (0..job.nodes)
        .map(|rank| {
            (
                rank,
                HeldRank {
                    rank,
                    node: None,
                    seller: None,
                    running: false,
                    attempt: 0,
                },
            )
        })
        .collect();
    for seller in &job.sellers {
        for rank in &seller.ranks {
            if let Some(rank) = ranks.get_mut(rank) {
                rank.node = Some(seller.node);
                rank.seller.clone_from(&seller.name);
            }
        }
    }
    for attempt in &job.attempts {
        if let Some(rank) = ranks.get_mut(&attempt.rank)
            && rank.attempt <= attempt.attempt
        {
            rank.attempt = attempt.attempt;
            rank.running = attempt.started_ms.is_some() && attempt.ended_ms.is_none();
        }
    }
    let over = job.state.is_final();
    let end = job
        .running_ms
        .map(|ms| ms.saturating_add(u64::from(job.seconds) * 1_000));
    let left = end.map(|end| end.saturating_sub(now_ms) / 1_000);
    ClusterRecord {
        id: job.id,
        name: job.name,
        state: job.state,
        lease: job.lease,
        class: job.class,
        size: job.nodes,
        ranks: ranks.into_values().collect(),
        running_ms: job.running_ms,
        left_seconds: left.filter(|_| !over),
        paid: job.paid,
        locked: job.locked,
        price: job.price,
        owner,
        guests,
    }
}
