//! The body of every node: the world performs the requests of its core.

use super::World;
use super::questions::{Question, Waits};
use super::queue::Event;
use crate::check::{Fact, Sight};
use crate::found::node_key;
use gridbay_core::adverts::Heard;
use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_core::effect::Effect;
use gridbay_core::input::{Fetch, Input};
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::keys::PublicKey;

/// Milliseconds after which a question counts as not answered.
const PATIENCE_MS: u64 = 10_000;

impl World {
    pub(super) fn perform(&mut self, n: usize, effect: Effect) {
        match effect {
            Effect::WakeAt(at) => self.wake_at(n, at),
            Effect::Broadcast { bytes } => self.broadcast(n, &bytes),
            Effect::Send { to, bytes } => {
                if let Some(to) = self.by_key.get(&to).copied() {
                    self.carry(
                        n,
                        to,
                        Input::Host {
                            from: node_key(n),
                            bytes,
                        },
                    );
                }
            }
            Effect::Penalise { peer, reason } => self.penalise(n, &peer, &reason),
            Effect::Gossip(bytes) => {
                for to in (0..self.machines.len()).filter(|to| *to != n) {
                    let bytes = bytes.clone();
                    let input = Input::Advert {
                        token: 0,
                        heard: Heard::Told,
                        bytes,
                    };
                    self.carry(n, to, input);
                }
            }
            Effect::Ask { token, to, request } => self.ask(n, &to, Waits::Core(token), request),
            Effect::Answer { token, reply } => self.answer(n, token, reply),
            Effect::Report { token, jobs } => {
                let reports = self.reports(n, &jobs);
                self.answer(n, token, AgentReply::Reports(reports));
            }
            Effect::ReadOutput {
                token,
                job,
                path,
                from,
            } => {
                let reply = self.read_output(n, &job, &path, from);
                self.answer(n, token, reply);
            }
            Effect::Reply { reply, .. } => self.machines[n].replies.push(reply),
            Effect::FetchOutputs {
                order,
                job,
                from,
                paths,
            } => {
                let path = paths.into_iter().next().unwrap_or_default();
                let request = AgentRequest::Output { job, path, from: 0 };
                self.ask(n, &from, Waits::File { order, job }, request);
            }
            Effect::FetchCheckpoint { order, job, from } => {
                let request = AgentRequest::Checkpoint(job);
                self.ask(n, &from, Waits::Progress { order, job }, request);
            }
            Effect::SeekHints(question) => self.seek_hints(n, &question),
            Effect::Decided { height, block } => self.decided(n, height, block),
            Effect::Judge { .. } => {}
            other => {
                if let Some(other) = self.perform_on_copies(n, other) {
                    self.perform_on_shelf(n, other);
                }
            }
        }
    }
    fn wake_at(&mut self, n: usize, mono: u64) {
        let now = self.now;
        let machine = &mut self.machines[n];
        let at = machine.clock.world(mono).max(now);
        if machine.wake != Some(at) {
            machine.wake = Some(at);
            let life = machine.life;
            self.queue.push(at, Event::Wake { node: n, life });
        }
    }
    fn broadcast(&mut self, n: usize, bytes: &[u8]) {
        for to in (0..self.plan.validators).filter(|to| *to != n) {
            let bytes = bytes.to_vec();
            self.carry(
                n,
                to,
                Input::Host {
                    from: node_key(n),
                    bytes,
                },
            );
        }
    }
    /// Sends an input through the network.
    fn carry(&mut self, from: usize, to: usize, input: Input) {
        let Some(input) = self.hold((from, to), input) else {
            return;
        };
        let lag = self.machines[from].lag_ms + self.machines[to].lag_ms;
        match self.net.fate(from, to) {
            [Some(one), Some(two)] => {
                self.cover.count("message twice");
                self.send((from, to), lag + two, input.clone());
                self.send((from, to), lag + one, input);
            }
            [Some(one), None] => self.send((from, to), lag + one, input),
            _ => self.cover.count("message lost"),
        }
    }
    /// Tells the checkers what a block did, once, and that this node has it.
    fn decided(&mut self, node: usize, height: u64, block: BlockId) {
        while self.machines[node].is_honest() && self.told < height {
            let core = self.machines[node].core.as_ref();
            match core.map(|core| Fact::read(core, node, self.told + 1)) {
                Some(Ok(fact)) => {
                    self.told += 1;
                    self.show(&Sight::Block(&fact));
                }
                Some(Err(what)) => return self.break_now("I13", what),
                None => return,
            }
        }
        self.show(&Sight::Decided {
            node,
            height,
            block,
        });
    }
    /// No honest node is blamed for anything.
    fn penalise(&mut self, n: usize, peer: &[u8; 32], reason: &str) {
        let blamed = self.by_key.get(peer).copied();
        let honest = |b: usize| self.machines[b].is_honest();
        if self.machines[n].is_honest() && blamed.is_some_and(honest) {
            let what = format!("honest node {blamed:?} is blamed by node {n}: {reason}");
            self.break_now("I10", what);
        }
        self.cover.count("blame");
    }

    pub(super) fn ask(&mut self, n: usize, to: &PublicKey, waits: Waits, request: AgentRequest) {
        self.questions.next += 1;
        let question = self.questions.next;
        let Some(to) = self.by_key.get(to.as_bytes()).copied() else {
            return self.end_question(n, self.machines[n].life, waits, None);
        };
        let life = self.machines[n].life;
        let open = Question {
            node: n,
            life,
            to,
            waits,
        };
        self.questions.open.insert(question, open);
        self.queue
            .push(self.now + PATIENCE_MS, Event::Unanswered(question));
        let from = node_key(n);
        // A request is one stream: it arrives whole and once, or not at all.
        if let [Some(delay), _] = self.net.fate(n, to) {
            let input = Input::Asked {
                token: question,
                from,
                request,
            };
            self.input(to, delay + self.machines[to].lag_ms, input);
        }
    }
    pub(super) fn answer(&mut self, n: usize, question: u64, reply: AgentReply) {
        let Some(open) = self.questions.open.get(&question).filter(|q| q.to == n) else {
            return;
        };
        let asker = open.node;
        if let [Some(delay), _] = self.net.fate(n, asker) {
            let Some(open) = self.questions.open.remove(&question) else {
                return;
            };
            let lag = self.machines[n].lag_ms;
            self.answer_after(&open, delay + lag, Some(reply));
        }
    }
    pub(super) fn unanswered(&mut self, question: u64) {
        if let Some(open) = self.questions.open.remove(&question) {
            self.cover.count("question without an answer");
            self.answer_after(&open, 0, None);
        }
    }
    fn end_question(&mut self, node: usize, life: u64, waits: Waits, reply: Option<AgentReply>) {
        let open = Question {
            node,
            life,
            to: node,
            waits,
        };
        self.answer_after(&open, 1, reply);
    }
    fn answer_after(&mut self, open: &Question, after: u64, reply: Option<AgentReply>) {
        let input = match open.waits {
            Waits::Nobody => return,
            Waits::Core(token) => Input::Answered { token, reply },
            Waits::File { order, job } => {
                let fetch = match reply {
                    Some(AgentReply::Chunk { .. }) => Fetch::Whole,
                    _ => Fetch::NotYet,
                };
                Input::Fetched { order, job, fetch }
            }
            Waits::Progress { order, job } => self.checkpointed(open.node, order, job, reply),
        };
        let (node, life, input) = (open.node, open.life, Box::new(input));
        self.queue
            .push(self.now + after, Event::Input { node, life, input });
    }
}
