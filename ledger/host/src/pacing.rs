//! Pacing: when the next height starts and how long consensus waits.
//!
//! A height starts
//! 1. [`Pace::interval`] after the start of the one before, if work is due;
//! 2. at the heartbeat, if not;
//! 3. at once, when validators with more than a third of the voting power show that they have
//!    started it: one of them is honest and has waited.
//!
//! So the first honest validator to start a height does so an interval, or a heartbeat, after the
//! first honest one to start the height before, whatever a third of the power says: early starts
//! cannot add up.
//!
//! A timeout of a height's first round is only to be longer than proposals take: it is twice the
//! longest wait among the last [`WAITS`], at least a quarter and at most the whole of the policy's,
//! so a validator that is gone costs little more than the others need. The votes of that round are
//! waited for as long, but never longer than the policy has it. From the second round on the
//! policy's timeouts hold and grow: whatever was measured, a slow one has its time then.
//!
//! The first height after the program's start also waits until more than two thirds of the voting
//! power, this node's own included, are connected, or so many validators show that they have
//! started.

use crate::consensus::{Timer, TimerKind};
use crate::limits;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::ValidatorId;
use gridbay_protocol::validator::ValidatorSet;
use std::collections::{BTreeSet, VecDeque};

/// Waits for proposals that are remembered.
const WAITS: usize = 16;

/// Decides when the next height starts. Times are monotonic milliseconds.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: u64,
    heartbeat: u64,
    propose: u64,
    /// When the last height started here; `None` right after the program's start.
    started: Option<u64>,
    /// Whether a quorum has been connected since the program's start.
    gathered: bool,
    /// Validators that have started the next height.
    callers: BTreeSet<ValidatorId>,
    /// Whether an honest one is among them.
    called: bool,
    /// The round whose proposal is waited for, and since when.
    awaited: Option<(u32, u64)>,
    /// How long the last proposals were waited for.
    waits: VecDeque<u64>,
}

impl Pace {
    pub(crate) fn new(policy: &Policy) -> Pace {
        Pace {
            interval: policy.block_interval_ms,
            heartbeat: policy.heartbeat_ms,
            propose: policy.propose_timeout_ms,
            started: None,
            gathered: false,
            callers: BTreeSet::new(),
            called: false,
            awaited: None,
            waits: VecDeque::new(),
        }
    }
    /// A quorum is connected.
    pub(crate) fn gather(&mut self) {
        self.gathered = true;
    }
    /// Another validator has signed something for the next height.
    pub(crate) fn call(&mut self, caller: ValidatorId, set: &ValidatorSet) {
        if set.get(&caller).is_some() && self.callers.insert(caller) {
            let callers = self.callers.iter().filter_map(|id| set.get(id));
            self.called = set.has_an_honest_one(callers.map(|member| member.power).sum());
        }
    }
    /// A height starts.
    pub(crate) fn start(&mut self, now: u64) {
        self.started = Some(now);
        self.callers.clear();
        self.called = false;
    }
    /// A height was decided by others, without a start of our own.
    pub(crate) fn follow(&mut self, now: u64) {
        self.start(now);
    }
    /// When the next height starts, as things stand; `None` while too few are connected.
    pub(crate) fn due(&self, work: bool) -> Option<u64> {
        if self.called {
            return Some(0);
        }
        if !self.gathered {
            return None;
        }
        let Some(started) = self.started else {
            return Some(0);
        };
        let wait = if work { self.interval } else { self.heartbeat };
        Some(started.saturating_add(wait))
    }
    /// The proposal of a round is waited for from now on.
    pub(crate) fn await_proposal(&mut self, round: u32, now: u64) {
        self.awaited = Some((round, now));
    }
    /// It came in time.
    pub(crate) fn proposed(&mut self, round: u32, now: u64) {
        let Some((_, since)) = self.awaited.take_if(|(awaited, _)| *awaited == round) else {
            return;
        };
        if self.waits.len() >= WAITS {
            self.waits.pop_front();
        }
        self.waits.push_back(now.saturating_sub(since));
    }
    /// How long a timer runs, in milliseconds: linear in the round, but for a first proposal.
    pub(crate) fn timeout_ms(&self, timer: Timer) -> u64 {
        let first = self.first_proposal_ms();
        let half = match timer.round {
            0 => first.min(self.propose / 2),
            _ => self.propose / 2,
        };
        let vote = limits::VOTE_TIMEOUT_MS.max(half);
        let (base, growth) = match timer.kind {
            TimerKind::Propose if timer.round == 0 => (first, 0),
            TimerKind::Propose => (self.propose, self.propose / 2),
            TimerKind::Prevote | TimerKind::Precommit => (vote, vote / 2),
            TimerKind::Rebroadcast => (limits::REBROADCAST_MS, 0),
        };
        base.saturating_add(growth.saturating_mul(u64::from(timer.round)))
            .min(limits::LONGEST_TIMEOUT_MS)
    }
    fn first_proposal_ms(&self) -> u64 {
        let longest = self
            .waits
            .iter()
            .max()
            .filter(|_| self.waits.len() >= WAITS);
        let twice = longest.map_or(self.propose, |wait| wait.saturating_mul(2));
        twice.clamp(self.propose / 4, self.propose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::validator::{Validator, validator_id};

    fn id(n: u8) -> ValidatorId {
        validator_id(&SecretKey::from_seed(&[n; 32]).public())
    }

    /// Validators of these powers, named by their place.
    fn set(powers: &[u64]) -> ValidatorSet {
        let member = |(n, power): (u8, &u64)| {
            let key = SecretKey::from_seed(&[n; 32]).public();
            let account = AccountId([n; 32]);
            Validator {
                id: id(n),
                account,
                key,
                node: key,
                power: *power,
            }
        };
        let members = (0..).zip(powers).map(member).collect();
        ValidatorSet::new(members).expect("a set")
    }

    #[test]
    fn work_and_the_heartbeat_start_a_height_in_their_time() {
        let mut pace = Pace::new(&Policy::local());
        assert_eq!(pace.due(true), None, "nobody is there");
        pace.gather();
        assert_eq!(
            pace.due(false),
            Some(0),
            "the first height waits for nothing else"
        );
        pace.start(1_000);
        assert_eq!(pace.due(true), Some(1_250));
        assert_eq!(pace.due(false), Some(11_000));
    }

    #[test]
    fn a_third_of_the_power_starts_no_height_and_more_than_that_does() {
        let set = set(&[1, 1, 1, 3]);
        let mut pace = Pace::new(&Policy::local());
        pace.gather();
        pace.start(1_000);
        pace.call(id(0), &set);
        for _ in 0..9 {
            pace.call(id(1), &set);
        }
        pace.call(id(9), &set);
        assert_eq!(pace.due(false), Some(11_000), "two of six, and a stranger");
        pace.call(id(2), &set);
        assert_eq!(pace.due(false), Some(0), "three of six");
        pace.start(1_200);
        assert_eq!(pace.due(false), Some(11_200), "calls are for one height");
    }

    #[test]
    fn calls_are_enough_for_a_lonely_node() {
        let set = set(&[1, 1, 1, 1]);
        let mut pace = Pace::new(&Policy::local());
        pace.call(id(1), &set);
        assert_eq!(pace.due(true), None);
        pace.call(id(2), &set);
        assert_eq!(pace.due(false), Some(0));
    }

    #[test]
    fn a_first_proposal_has_twice_the_time_that_the_slowest_of_late_took() {
        let mut pace = Pace::new(&Policy::local());
        let timer = |round| {
            let kind = TimerKind::Propose;
            Timer { kind, round }
        };
        let took = |pace: &mut Pace, ms: u64| {
            pace.await_proposal(0, 1_000);
            pace.proposed(1, 1_000 + ms);
            pace.proposed(0, 1_000 + ms);
            pace.proposed(0, 9_000);
        };
        (0..WAITS - 1).for_each(|_| took(&mut pace, 10));
        assert_eq!(pace.timeout_ms(timer(0)), 400, "too few are known");
        took(&mut pace, 70);
        assert_eq!(pace.timeout_ms(timer(0)), 140);
        assert_eq!(pace.timeout_ms(timer(1)), 600, "then the policy's");
        took(&mut pace, 900);
        assert_eq!(pace.timeout_ms(timer(0)), 400, "never longer");
        (0..WAITS).for_each(|_| took(&mut pace, 10));
        assert_eq!(pace.timeout_ms(timer(0)), 100, "nor less than a quarter");
    }

    #[test]
    fn votes_of_a_first_round_are_waited_for_as_long_as_its_proposal() {
        let mut pace = Pace::new(&Policy::wide_area());
        let vote = |round| {
            let kind = TimerKind::Precommit;
            Timer { kind, round }
        };
        assert_eq!(pace.timeout_ms(vote(0)), 1_000);
        for _ in 0..WAITS {
            pace.await_proposal(0, 1_000);
            pace.proposed(0, 1_300);
        }
        assert_eq!(pace.timeout_ms(vote(0)), 600);
        assert_eq!(pace.timeout_ms(vote(1)), 1_500, "the policy's");
    }
}
