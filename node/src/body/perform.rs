//! Effects become deeds, one small function each.

use super::allowance::Allowance;
use super::ask::{Asker, decode_request};
use super::progress::put_in_place;
use super::{ADVERTS_TOPIC, Body, BodyError, files};
use crate::cluster::Clusters;
use crate::outbound::Gateway;
use crate::overlay::{self, RequestId};
use crate::store::withheld;
use gridbay_core::adverts::Verdict;
use gridbay_core::agent::stream_bytes;
use gridbay_core::agent::{AgentReply, AgentRequest, CHUNK_BYTES, Phase, PollJob, RunId};
use gridbay_core::effect::Effect;
use gridbay_core::input::{CommandToken, Input};
use gridbay_core::reply::Reply;
use gridbay_core::seller::JobMemo;
use gridbay_protocol::checkpoint::Snapshot;
use gridbay_protocol::codec;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::PublicKey;
use std::io;
use std::time::{Duration, Instant};

/// How often a job that is starting is looked at.
const STARTING: Duration = Duration::from_millis(5);
/// After so many blocks a job's supervisor is told again how long the job may run.
const TELL_HEIGHTS: u64 = 8;
/// The time that a job has beyond the end of its slot, by the network's policy: blocks can be late,
/// and a node that is restarted finds its job still there.
const LEASE_GRACE: Duration = Duration::from_secs(60);

impl Body {
    pub(super) fn perform(&mut self, effect: Effect) -> Result<(), BodyError> {
        match effect {
            Effect::WakeAt(at) => self.wake_ms = Some(at),
            Effect::Broadcast { bytes } => self.broadcast(bytes),
            Effect::Send { to, bytes } => self.send(&to, bytes),
            Effect::Penalise { peer, reason } => self.penalise(&peer, &reason),
            Effect::Gossip(bytes) => self.gossip(bytes),
            Effect::Judge { token, verdict } => self.judge(token, verdict),
            Effect::Ask { token, to, request } => self.ask(token, to, request),
            Effect::Answer { token, reply } => self.answer(token, &reply),
            Effect::Report { token, jobs } => self.report(token, jobs),
            Effect::ReadOutput {
                token,
                job,
                path,
                from,
            } => self.read_output(token, job, path, from),
            Effect::Stage {
                job,
                from,
                spec,
                resume,
                memo,
            } => self.stage(job, from, spec, resume, memo),
            Effect::StartJob { job, offer, spec } => self.start_job(job, &offer, spec),
            Effect::StopJob(job) => self.stop_job(job),
            Effect::RemoveJob(job) => self.remove_job(job),
            Effect::Connect { token, cluster } => self.connect(token, &cluster),
            Effect::Disconnect(lease) => self.disconnect(&lease),
            Effect::ShowLinks {
                token,
                lease,
                others,
            } => self.show_links(token, &lease, &others),
            Effect::Relay { token, grant } => self.relay(token, &grant),
            Effect::EndRelay { purse, carries } => self.end_relay(&purse, &carries),
            Effect::SaveWithheld(bytes) => self.save_withheld(&bytes)?,
            Effect::Reply { token, reply } => self.reply(token, reply),
            Effect::SeekHints(question) => self.seek_hints(question),
            Effect::Decided { height, block } => {
                tracing::debug!(height, %block, "decided");
                if height.is_multiple_of(TELL_HEIGHTS) {
                    self.renew_jobs();
                }
                self.height.send_replace(height);
            }
            effect @ (Effect::SaveOrder { .. }
            | Effect::AppendOutput { .. }
            | Effect::ResetOutput { .. }
            | Effect::FetchOutputs { .. }
            | Effect::KeepFiles { .. }
            | Effect::FetchCheckpoint { .. }
            | Effect::FetchCopy { .. }
            | Effect::KeepCheckpoint { .. }) => self.for_order(effect)?,
            effect @ (Effect::ShowCheckpoint { .. }
            | Effect::ReadKept { .. }
            | Effect::OfferCopy { .. }
            | Effect::PullCopy { .. }
            | Effect::KeepCopy { .. }
            | Effect::ReadCopy { .. }
            | Effect::SaveCopies(_)) => self.for_copy(effect)?,
        }
        Ok(())
    }

    fn save_withheld(&self, bytes: &[u8]) -> Result<(), BodyError> {
        let saved = withheld::save(self.tools.room.home(), bytes);
        saved.map_err(disk("the offers held back"))
    }

    fn reply(&mut self, token: CommandToken, reply: Reply) {
        if let Some(waiting) = self.replies.remove(&token) {
            let _gone = waiting.send(reply);
        }
    }

    fn penalise(&self, peer: &[u8; 32], reason: &str) {
        if let Some(peer) = overlay::peer_id_of_key(peer) {
            tracing::info!(%peer, reason, "penalised a peer");
            let _gone = self.tools.overlay.penalise(peer, 20.0);
        }
    }

    fn gossip(&self, bytes: Vec<u8>) {
        if let Err(error) = self.tools.overlay.publish(ADVERTS_TOPIC, bytes) {
            tracing::debug!(%error, "an advert was dropped");
        }
    }

    fn judge(&mut self, token: u64, verdict: Verdict) {
        if let Some(waiting) = self.heard.remove(&token) {
            let _gone = waiting.send(verdict);
            return;
        }
        let Some(id) = self.gossip.remove(&token) else {
            return;
        };
        let verdict = match verdict {
            Verdict::Accept => overlay::Verdict::Accept,
            Verdict::Ignore => overlay::Verdict::Ignore,
            Verdict::Reject => overlay::Verdict::Reject,
        };
        let _gone = self.tools.overlay.report(id, verdict);
    }

    fn ask(&mut self, token: u64, to: PublicKey, request: AgentRequest) {
        let (asker, handle) = (Asker::new(self.tools.overlay.clone()), self.handle.clone());
        self.spawn(async move {
            let reply = asker.ask(&to, &request).await;
            handle.deliver(Input::Answered { token, reply }).await;
        });
    }

    /// A question of another node: files are answered here, the rest goes to the core.
    pub(super) fn asked(
        &mut self,
        request: RequestId,
        from: PublicKey,
        bytes: &[u8],
    ) -> Result<(), BodyError> {
        let question = match decode_request(bytes) {
            Ok(question) => question,
            Err(error) => {
                tracing::debug!(peer = %from, %error, "a question that makes no sense");
                self.penalise(from.as_bytes(), "malformed question");
                let _gone = self.tools.overlay.refuse(request);
                return Ok(());
            }
        };
        match question {
            AgentRequest::Genesis => {
                let bytes = self.tools.genesis.clone();
                let total = bytes.len() as u64;
                self.respond(request, &AgentReply::Chunk { total, bytes });
                Ok(())
            }
            AgentRequest::Mirror => {
                let reply = match self.tools.clusters.port() {
                    Ok(port) => AgentReply::Mirror(port),
                    Err(_) => AgentReply::NotFound,
                };
                self.respond(request, &reply);
                Ok(())
            }
            AgentRequest::Content {
                content,
                from: offset,
            } => {
                let store = self.tools.contents.clone();
                let checkpoints = self.tools.checkpoints.clone();
                let share = self.core().buyer().share_of(&from, &content);
                let granted = self.tools.granted.clone();
                self.respond_with_chunk(request, move || {
                    if granted.allows(&from, &content, Instant::now()) {
                        return granted.store().chunk(&content, offset, CHUNK_BYTES);
                    }
                    let input = || store.chunk(&content, offset, CHUNK_BYTES);
                    let kept = || checkpoints.chunk(&content, offset, CHUNK_BYTES);
                    let input = share.input.then(input).flatten();
                    input.or_else(|| share.progress.then(kept).flatten())
                });
                Ok(())
            }
            question => {
                let token = self.token();
                self.requests.insert(token, request);
                self.step(Input::Asked {
                    token,
                    from,
                    request: question,
                })
            }
        }
    }

    fn respond(&self, request: RequestId, reply: &AgentReply) {
        if let Err(error) = self.tools.overlay.respond(request, codec::encode(reply)) {
            tracing::debug!(%error, "an answer was dropped");
        }
    }

    /// Answers with a chunk of a file and the size of the file, read off the core's thread.
    fn respond_with_chunk(
        &self,
        request: RequestId,
        read: impl FnOnce() -> Option<(u64, Vec<u8>)> + Send + 'static,
    ) {
        let overlay = self.tools.overlay.clone();
        self.tools.runtime.spawn_blocking(move || {
            let reply = match read() {
                Some((total, bytes)) => AgentReply::Chunk { total, bytes },
                None => AgentReply::NotFound,
            };
            let _gone = overlay.respond(request, codec::encode(&reply));
        });
    }

    /// The same to a question that the core was asked.
    pub(super) fn answer_with_chunk(
        &mut self,
        token: u64,
        read: impl FnOnce() -> Option<(u64, Vec<u8>)> + Send + 'static,
    ) {
        if let Some(request) = self.requests.remove(&token) {
            self.respond_with_chunk(request, read);
        }
    }

    pub(super) fn answer(&mut self, token: u64, reply: &AgentReply) {
        if let Some(request) = self.requests.remove(&token) {
            self.respond(request, reply);
        }
    }

    fn report(&mut self, token: u64, polls: Vec<(PollJob, Option<Phase>)>) {
        let Some(request) = self.requests.remove(&token) else {
            return;
        };
        let (jobs, overlay) = (self.tools.jobs.clone(), self.tools.overlay.clone());
        self.tools.runtime.spawn_blocking(move || {
            let most = stream_bytes(polls.len());
            let reports = polls
                .iter()
                .map(|(poll, known)| jobs.report(poll, *known, most))
                .collect();
            let reply = AgentReply::Reports(reports);
            let _gone = overlay.respond(request, codec::encode(&reply));
        });
    }

    fn read_output(&mut self, token: u64, job: RunId, path: String, from: u64) {
        let jobs = self.tools.jobs.clone();
        self.answer_with_chunk(token, move || jobs.output_chunk(&job, &path, from));
    }

    fn stage(
        &mut self,
        job: RunId,
        from: PublicKey,
        spec: JobSpec,
        resume: Option<Snapshot>,
        memo: Vec<u8>,
    ) {
        self.tools.meters.stages(job);
        let asker = Asker::new(self.tools.overlay.clone());
        let (jobs, handle) = (self.tools.jobs.clone(), self.handle.clone());
        let room = self.tools.room.clone();
        let offer = JobMemo::decode(&memo).ok().map(|memo| memo.offer);
        let allowance = offer.and_then(|offer| Allowance::of(self.core().state(), &job, &offer));
        self.spawn(async move {
            let preparing = jobs.clone();
            let prepared =
                tokio::task::spawn_blocking(move || preparing.prepare(&job, &memo, allowance));
            let prepared = prepared.await;
            let ok = match prepared.map_err(io::Error::other).flatten() {
                Ok(work) => {
                    let mut pulled =
                        files::pull_inputs(&asker, &from, &spec.inputs, &work, &room).await;
                    if let (Ok(()), Some(keeps), Some(resume)) =
                        (&pulled, &spec.checkpoint, &resume)
                    {
                        let folder = &keeps.folder;
                        pulled = put_in_place(&asker, &from, resume, folder, &work, &room).await;
                    }
                    pulled
                        .inspect_err(|error| tracing::warn!(%job, %error, "staging"))
                        .is_ok()
                }
                Err(error) => {
                    tracing::warn!(%job, %error, "preparing a job");
                    false
                }
            };
            if !ok {
                // Inputs that came only take room.
                let _done = tokio::task::spawn_blocking(move || jobs.unprepare(&job)).await;
            }
            handle.deliver(Input::Staged { job, ok }).await;
        });
    }

    fn start_job(&mut self, job: RunId, offer: &OfferId, spec: JobSpec) {
        let allowance = Allowance::of(self.core().state(), &job, offer);
        let lease = self.lease_of(&job);
        let (spec, network) = self.placed(&job, spec);
        let (jobs, handle) = (self.tools.jobs.clone(), self.handle.clone());
        let (clusters, gateway) = (self.tools.clusters.clone(), self.tools.gateway.clone());
        self.spawn(async move {
            let starter = jobs.clone();
            let started = tokio::task::spawn_blocking(move || {
                starter.start(&job, &spec, network, allowance, lease)
            });
            if let Err(error) = started.await.map_err(io::Error::other).flatten() {
                tracing::warn!(%job, %error, "starting a job");
                handle
                    .deliver(Input::JobPhase {
                        job,
                        phase: super::jobs::lost(),
                    })
                    .await;
                return;
            }
            follow(jobs, (clusters, gateway), handle, job).await;
        });
    }

    /// For how long a job may run unless this node says so again.
    fn lease_of(&self, job: &RunId) -> Option<Duration> {
        let core = self.core();
        let left = core.seller().time_left(core.state(), job);
        Some(Duration::from_millis(left.unwrap_or_default()) + LEASE_GRACE)
    }

    /// Tells the supervisors how long their jobs may run: they end them by themselves should nobody
    /// say so again. A job that has no lease any more is being stopped, and is told nothing.
    fn renew_jobs(&self) {
        let core = self.core();
        let live = core.seller().live_jobs();
        let left = |job: &RunId| core.seller().time_left(core.state(), job);
        let told: Vec<_> = live
            .iter()
            .filter_map(|job| Some((*job, left(job)?)))
            .collect();
        if told.is_empty() {
            return;
        }
        let jobs = self.tools.jobs.clone();
        self.tools.runtime.spawn_blocking(move || {
            for (job, left_ms) in told {
                jobs.renew(&job, Duration::from_millis(left_ms) + LEASE_GRACE);
            }
        });
    }

    pub(super) fn watch_recovered_jobs(&mut self) {
        for job in self.core().seller().live_jobs() {
            let networks = (self.tools.clusters.clone(), self.tools.gateway.clone());
            let jobs = self.tools.jobs.clone();
            let following = follow(jobs, networks, self.handle.clone(), job);
            self.spawn(following);
        }
    }

    fn remove_job(&self, job: RunId) {
        let jobs = self.tools.jobs.clone();
        self.tools.runtime.spawn_blocking(move || jobs.remove(&job));
    }
}

/// Tells the core of a job's first instruction and of its end. While it runs, its device is in its
/// lease's network, and its connections to the web are carried.
async fn follow(
    jobs: super::Jobs,
    (clusters, gateway): (Clusters, Gateway),
    handle: super::BodyHandle,
    job: RunId,
) {
    let mut phase = jobs.phase(&job);
    while phase == Phase::Staging {
        tokio::time::sleep(STARTING).await;
        phase = jobs.phase(&job);
    }
    // Ends with this.
    let mut _web = None;
    if matches!(phase, Phase::Running { .. }) {
        let asked = jobs.clone();
        let handed = tokio::task::spawn_blocking(move || asked.handed(&job)).await;
        if let Some(handed) = handed.ok().flatten() {
            if let Some(device) = handed.device {
                clusters.attach(job, device);
            }
            _web = handed.web.and_then(|web| gateway.serve(web));
        }
    }
    handle.deliver(Input::JobPhase { job, phase }).await;
    if matches!(phase, Phase::Running { .. }) {
        let phase = jobs.wait(&job).await;
        clusters.detach(&job);
        handle.deliver(Input::JobPhase { job, phase }).await;
    }
}

pub(super) fn disk(what: &'static str) -> impl Fn(io::Error) -> BodyError {
    move |source| BodyError::Disk { what, source }
}
