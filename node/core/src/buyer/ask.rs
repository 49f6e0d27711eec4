//! The buyer's questions to sellers, and its use of their answers.
//!
//! 1. A placed task is started: asked again after [`RETRY_MS`], twice as long after each refusal or
//!    silence, and given up as lost after [`REFUSALS`] of them.
//! 2. Accepted tasks are polled, all of one order at one node together (`polls`). A seller that is
//!    silent for [`SILENT_MS`] has lost them.
//! 3. A task that lost its unit is stopped; nobody waits for the answer.

use super::Buyer;
use super::attempts::AttemptEnd;
use super::carriers::Carriers;
use super::complaint::Try;
use super::pace::ANSWER_MS;
use super::polls::{News, POLL_MS};
use super::record::Finish;
use super::relays::Wished;
use super::run::{Progress, Run};
use crate::agent::{AgentReply, AgentRequest, POLL_JOBS, PollJob, RunId, SignedStart, Start};
use crate::agent::{JobReport, Phase, StartRefusal};
use crate::buy::End;
use crate::effect::Effect;
use crate::input::{AskToken, Now};
use crate::key::OrderKey;
use crate::signer::Signer;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::keys::PublicKey;

/// Milliseconds after which a refused start is tried again at first.
const RETRY_MS: u64 = 100;
/// Milliseconds between two tries at the most.
const RETRY_MOST_MS: u64 = 5_000;
/// Refusals and silences after which a start is given up: about half a minute.
const REFUSALS: u32 = 12;
/// Milliseconds of silence after which a run counts as lost. Long enough for a node to be
/// restarted.
const SILENT_MS: u64 = 60_000;

/// What waits for an answer.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    Order(OrderKey, Box<Question>),
    Visit(LeaseId),
}

#[derive(Clone, Debug)]
pub(super) enum Question {
    Start(RunId),
    Poll(Vec<PollJob>),
    Connect(LeaseId, PublicKey),
    Links(LeaseId, PublicKey),
    Relay(Box<Wished>),
    Stop,
}

impl Buyer {
    pub(super) fn ask(
        &mut self,
        key: OrderKey,
        to: PublicKey,
        request: AgentRequest,
        question: Question,
        effects: &mut Vec<Effect>,
    ) {
        let token = self.token(Asked::Order(key, Box::new(question)));
        effects.push(Effect::Ask { token, to, request });
    }

    /// The token of a new question.
    pub(super) fn token(&mut self, asked: Asked) -> AskToken {
        let token = self.next_token;
        self.next_token += 1;
        self.asked.insert(token, asked);
        token
    }

    /// Asks what is due. Returns when to be called again, if anything runs.
    pub(crate) fn tick(
        &mut self,
        market: &Carriers<'_>,
        signer: &Signer<'_>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) -> Option<u64> {
        let (state, now_ms) = (market.state, now.mono_ms);
        self.polls.forget(now_ms);
        self.ask_visits(state, signer, now_ms, effects);
        let mut busy = !self.visits.is_empty();
        for key in self.unsettled() {
            let Some(agent) = self.orders.get(&key) else {
                continue;
            };
            busy |= agent.tasks.is_busy();
            let due = |r: &&Run| !r.accepted && r.asked_until_ms <= now_ms;
            let starts: Vec<Run> = agent.tasks.runs.values().filter(due).copied().collect();
            for run in starts {
                self.ask_start(key, run, state, signer, now_ms, effects);
            }
            self.ask_polls(key, now_ms, effects);
            self.relay(key, market, signer, now, effects);
            self.introduce(key, now_ms, effects);
            self.end_led(key, now_ms);
            self.ask_checkpoints(key, state, now, effects);
            self.plan(key, state, now, effects);
            busy |= self.orders.get(&key).is_some_and(|a| a.tasks.is_busy());
        }
        let look = now_ms + POLL_MS / 2;
        // While output flows, the next piece is asked for as soon as it may be.
        let poll = self.polls.next(now_ms).unwrap_or(look);
        busy.then_some(look.min(poll))
    }

    fn ask_start(
        &mut self,
        key: OrderKey,
        run: Run,
        state: &State,
        signer: &Signer<'_>,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        if let Some(run) = agent.tasks.runs.get_mut(&run.job.task) {
            run.asked_until_ms = now_ms + ANSWER_MS;
        }
        let start = Start {
            job: run.job,
            offer: run.offer,
            tasks: agent.order().tasks,
            spec: agent.order().spec.clone(),
            salt: agent.order().task_salt(run.job.task),
            key: signer.key.public(),
            resume: agent.tasks.progress(run.job.task),
        };
        let signed = SignedStart::new(&state.network(), start, signer.key);
        let request = AgentRequest::Start(Box::new(signed));
        self.ask(key, run.node, request, Question::Start(run.job), effects);
    }

    fn ask_polls(&mut self, key: OrderKey, now_ms: u64, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get(&key) else {
            return;
        };
        let polls = agent.tasks.polls(POLL_JOBS);
        let due: Vec<_> = polls
            .into_iter()
            .filter(|(node, _)| self.polls.due(&(key, *node), now_ms))
            .collect();
        for (node, jobs) in due {
            self.polls.ask((key, node), now_ms);
            let request = AgentRequest::Poll(jobs.clone());
            self.ask(key, node, request, Question::Poll(jobs), effects);
        }
    }

    /// A seller answered, or did not.
    pub fn answered(
        &mut self,
        token: AskToken,
        from: Option<AgentReply>,
        state: &State,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let (key, question) = match self.asked.remove(&token) {
            None => return,
            Some(Asked::Visit(lease)) => return self.visit_answered(&lease, from, now.mono_ms),
            Some(Asked::Order(key, question)) => (key, *question),
        };
        match (question, from) {
            (Question::Stop, _) => {}
            (Question::Connect(lease, node), reply) => {
                self.introduced(key, (lease, node), reply, now.mono_ms);
            }
            (Question::Links(lease, node), reply) => {
                self.heard_links(key, (lease, node), reply, state, now.mono_ms);
            }
            (Question::Relay(wished), reply) => {
                self.wish_answered(key, *wished, reply, state, now.mono_ms);
            }
            (Question::Start(job), reply) => {
                let at = (state.height(), now.mono_ms);
                let tried = match &reply {
                    Some(AgentReply::Refused(why)) => Some(Try::refused(*why)),
                    // It may still forget the run: only what is known of it later says that it is
                    // served.
                    Some(AgentReply::Ok) => None,
                    _ => Some(Try::Silent),
                };
                self.note_try(key, &job, tried, at);
                self.start_answered(key, &job, reply, now);
            }
            (Question::Poll(polls), reply) => {
                let at = (state.height(), now.mono_ms);
                self.note_polls(key, &polls, reply.as_ref(), at);
                self.poll_answered(key, &polls, reply, now, effects);
                self.ask_checkpoints(key, state, now, effects);
                self.plan(key, state, now, effects);
            }
        }
        self.save_changed(effects);
    }

    /// The seller's answer about the units of a run.
    fn note_try(&mut self, key: OrderKey, job: &RunId, tried: Option<Try>, at: (u64, u64)) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let run = agent.tasks.runs.get(&job.task).filter(|r| r.job == *job);
        if let (Some(offer), Some(tried)) = (run.map(|r| r.offer), tried) {
            agent.note_try(job.lease, offer, tried, at);
        }
    }

    fn note_polls(
        &mut self,
        key: OrderKey,
        polls: &[PollJob],
        reply: Option<&AgentReply>,
        at: (u64, u64),
    ) {
        let reports = match reply {
            Some(AgentReply::Reports(reports)) => reports.as_slice(),
            _ => &[],
        };
        for (i, poll) in polls.iter().enumerate() {
            let report = reports.get(i).filter(|report| report.job == poll.job);
            let tried = match report.map(|report| report.phase) {
                None => Some(Try::Silent),
                Some(Phase::Unknown) => Some(Try::Refused),
                Some(Phase::Ended {
                    exit: JobExit::Lost,
                    ..
                }) => None,
                Some(Phase::Running { .. }) => Some(self.runs_well(key, &poll.job)),
                Some(Phase::Staging | Phase::Ended { .. }) => Some(Try::Served),
            };
            self.note_try(key, &poll.job, tried, at);
        }
    }

    fn start_answered(&mut self, key: OrderKey, job: &RunId, reply: Option<AgentReply>, now: Now) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let Some(run) = agent
            .tasks
            .runs
            .get_mut(&job.task)
            .filter(|r| r.job == *job)
        else {
            return;
        };
        match reply {
            Some(AgentReply::Ok) => {
                run.accepted = true;
                run.heard_ms = now.mono_ms;
                let node = run.node;
                self.polls.wake(&(key, node));
            }
            Some(AgentReply::Refused(
                why @ (StartRefusal::OtherWork | StartRefusal::NotBuyer | StartRefusal::Invalid),
            )) => {
                tracing::warn!(order = %key, %job, %why, "a seller refuses the job");
                run.refusals = REFUSALS;
            }
            _ => {
                let wait = (RETRY_MS << run.refusals.min(16)).min(RETRY_MOST_MS);
                run.asked_until_ms = now.mono_ms + wait;
                run.refusals += 1;
            }
        }
        if run.refusals >= REFUSALS {
            self.lose(key, job.task, AttemptEnd::Refused, now);
        }
    }

    fn poll_answered(
        &mut self,
        key: OrderKey,
        polls: &[PollJob],
        reply: Option<AgentReply>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let now_ms = now.mono_ms;
        let node = polls.first().and_then(|p| self.node_of(key, &p.job));
        let reports = match reply {
            Some(AgentReply::Reports(reports)) => reports,
            _ => Vec::new(),
        };
        for poll in polls.iter().filter(|_| reports.is_empty()) {
            let silent = |run: &Run| now_ms >= run.heard_ms + SILENT_MS && run.job == poll.job;
            let runs = self.orders.get(&key).map(|agent| &agent.tasks.runs);
            if runs.and_then(|r| r.get(&poll.job.task)).is_some_and(silent) {
                self.lose(key, poll.job.task, AttemptEnd::Silent, now);
            }
        }
        let mut news = News::None;
        for (poll, report) in polls.iter().zip(&reports).filter(|(p, r)| p.job == r.job) {
            news = news.max(self.news(key, report));
            self.take_report(key, poll, report, now, effects);
        }
        if let Some(node) = node {
            self.polls.answered((key, node), news, now_ms);
        }
    }

    /// What a report brings; a task that leaves its unit is always about to end.
    fn news(&mut self, key: OrderKey, report: &JobReport) -> News {
        let tasks = self.orders.get_mut(&key).map(|agent| &mut agent.tasks);
        let leaves = tasks.as_ref().is_some_and(|t| t.is_leaving(&report.job));
        let run = tasks.and_then(|tasks| tasks.any_run(&report.job));
        let changes = run.is_some_and(|run| run.phase != report.phase);
        match report.stdout.is_empty() && report.stderr.is_empty() {
            false => News::Output,
            true if leaves || changes => News::Phase,
            true => News::None,
        }
    }

    /// A run is under way: that serves, unless it holds a relay's unit that does not carry.
    fn runs_well(&self, key: OrderKey, job: &RunId) -> Try {
        let runs = self.orders.get(&key).map(|agent| &agent.tasks.runs);
        let run = runs.and_then(|runs| runs.get(&job.task));
        let fails = run.and_then(|run| self.tried_to_carry(key, run));
        fails.unwrap_or(Try::Served)
    }

    fn node_of(&mut self, key: OrderKey, job: &RunId) -> Option<PublicKey> {
        let tasks = &mut self.orders.get_mut(&key)?.tasks;
        tasks.any_run(job).map(|r| r.node)
    }

    fn take_report(
        &mut self,
        key: OrderKey,
        poll: &PollJob,
        report: &JobReport,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let node = agent.tasks.runs.get(&report.job.task).map(|r| r.node);
        let ran = agent.tasks.was_under_way(&report.job);
        let had_ended = agent.tasks.has_ended(&report.job);
        let Some(progress) = agent.tasks.report(poll, report, now) else {
            return;
        };
        let ended = !had_ended && agent.tasks.has_ended(&report.job);
        if (!ran && agent.tasks.was_under_way(&report.job)) || ended {
            // Its start and its end are still known after a restart.
            agent.touch();
        }
        for (stderr, from, bytes) in [
            (false, poll.stdout_from, &report.stdout),
            (true, poll.stderr_from, &report.stderr),
        ] {
            if !bytes.is_empty() {
                let (task, bytes) = (report.job.task, bytes.clone());
                effects.push(Effect::AppendOutput {
                    order: key,
                    task,
                    stderr,
                    from,
                    bytes,
                });
            }
        }
        match (progress, node) {
            (Progress::OutputComplete, Some(node)) => {
                let paths = agent.order().spec.outputs.clone();
                if paths.is_empty() {
                    self.task_complete(key, &report.job, now);
                } else if agent.tasks.may_fetch(&report.job, now.mono_ms) {
                    if let Some(run) = agent.tasks.runs.get_mut(&report.job.task) {
                        run.fetching = true;
                    }
                    let job = report.job;
                    effects.push(Effect::FetchOutputs {
                        order: key,
                        job,
                        from: node,
                        paths,
                    });
                }
            }
            (Progress::Lost(end), _) => self.lose(key, report.job.task, end, now),
            _ => {}
        }
    }

    pub(super) fn lose(&mut self, key: OrderKey, task: u32, end: AttemptEnd, now: Now) {
        if let Some(agent) = self.orders.get_mut(&key) {
            let keeps = agent.order().spec.checkpoint.clone();
            agent.tasks.lose(task, end, keeps.as_ref(), now);
            self.after_loss(key);
        }
    }

    /// An order whose tasks are lost again and again is given up.
    pub(super) fn after_loss(&mut self, key: OrderKey) {
        if let Some(agent) = self.orders.get_mut(&key) {
            agent.touch();
            if agent.tasks.is_hopeless() {
                agent.set_finish(Finish::Ended(End::Lost));
            }
        }
    }
}
