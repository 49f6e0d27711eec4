//! One way on which the other member may be reached.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

/// Since any fixed moment; told by the caller.
pub type Time = Duration;

/// What a relay knows a frame's way by.
pub type Ticket = [u8; 16];

/// What a way is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Inside one local network.
    Lan,
    /// To an address that anybody can reach.
    Direct,
    /// Through NATs, opened by sending from both ends; also any way that the other end was heard
    /// on without having announced it.
    Punched,
    /// Through a relay.
    Relay,
    /// Over a stream of the overlay to the member, which the node keeps at an address of its own
    /// machine.
    Stream,
    /// Through a relay to which the node keeps such a stream.
    RelayStream,
}

impl Kind {
    /// Which is preferred; lower is better.
    pub(super) fn rank(self) -> u8 {
        match self {
            Kind::Lan => 0,
            Kind::Direct | Kind::Punched => 1,
            Kind::Relay => 2,
            Kind::Stream => 3,
            Kind::RelayStream => 4,
        }
    }

    /// The kind in one word.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Lan => "lan",
            Kind::Direct => "direct",
            Kind::Punched => "punched",
            Kind::Relay | Kind::RelayStream => "relay",
            Kind::Stream => "stream",
        }
    }
}

/// Where datagrams of a way are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Via {
    /// Of the member, or of the relay.
    pub at: SocketAddr,
    /// For a relay: what stands in front of each datagram.
    pub ticket: Option<Ticket>,
}

/// A way that is announced or heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it is like.
    pub kind: Kind,
    /// Where it is.
    pub via: Via,
}

impl Candidate {
    /// A way without a relay.
    pub fn at(kind: Kind, at: SocketAddr) -> Candidate {
        let via = Via { at, ticket: None };
        Candidate { kind, via }
    }

    /// A way through a relay, which must know the ticket.
    pub fn relay(at: SocketAddr, ticket: Ticket) -> Candidate {
        let via = Via {
            at,
            ticket: Some(ticket),
        };
        Candidate {
            kind: Kind::Relay,
            via,
        }
    }

    /// The same relay, by a stream that is kept at an address of this machine.
    pub fn relay_stream(at: SocketAddr, ticket: Ticket) -> Candidate {
        let kind = Kind::RelayStream;
        let via = Candidate::relay(at, ticket).via;
        Candidate { kind, via }
    }
}

/// Probes of one burst at the most.
pub(super) const BURST: u8 = 20;
/// Between probes of a burst.
const STEP: Duration = Duration::from_millis(100);
/// Between probes of a way that answers; keeps NATs on it open.
pub(super) const KEEPALIVE: Duration = Duration::from_secs(20);
/// Between bursts on a way that does not answer: at first, and at the most.
const PAUSE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));
/// Probes that may still be answered.
const OPEN: usize = 32;
/// Sizes of inner packets that are tried on a way in use, one after the other.
pub(super) const SIZES: [u16; 3] = [1280, 1420, 8900];
/// How often each is tried, and how long an answer is waited for.
const TRIES: (u8, Duration) = (3, Duration::from_secs(1));

/// A probe that may still be answered.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    sent: Time,
    /// Of a trial of sizes: the inner packet's bytes that it stands for.
    size: Option<u16>,
    /// The way answered when it was sent.
    counts: bool,
}

/// Which size is tried now.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    step: usize,
    tries: u8,
    next: Time,
}

/// A candidate with what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) candidate: Candidate,
    /// Announced by the overlay, and not merely heard.
    pub(super) announced: bool,
    /// Probes left in this burst.
    burst: u8,
    pause: Duration,
    pub(super) next: Time,
    open: VecDeque<Open>,
    trial: Trial,
    /// The largest of [`SIZES`] that got through; none before an answer.
    pub(super) mtu: Option<u16>,
    /// Smoothed; none before an answer.
    pub(super) round_trip: Option<Duration>,
    /// When the other member was last heard on it.
    pub(super) heard: Option<Time>,
    /// Answered since it was last given up.
    pub(super) answers: bool,
    /// Probes that were sent while it answered, and the answers to them.
    pub(super) probes: (u32, u32),
    /// Bytes of sealed packets sent and received on it, of a relay alone.
    pub(super) carried: [u64; 2],
}

impl Way {
    pub(super) fn new(candidate: Candidate, announced: bool, now: Time) -> Way {
        Way {
            candidate,
            announced,
            burst: BURST,
            pause: PAUSE.0,
            next: now,
            open: VecDeque::new(),
            trial: Trial::default(),
            mtu: None,
            round_trip: None,
            heard: None,
            answers: false,
            probes: (0, 0),
            carried: [0; 2],
        }
    }

    /// Begins a burst at once.
    pub(super) fn hurry(&mut self, now: Time) {
        self.burst = BURST;
        self.pause = PAUSE.0;
        self.next = now;
    }

    /// One that waits between bursts is probed once, now.
    pub(super) fn poke(&mut self, now: Time) {
        self.next = self.next.min(now);
    }

    /// Whether it answers, and did not long ago.
    pub(super) fn is_fresh(&self, now: Time) -> bool {
        let lately = |heard| heard + KEEPALIVE * 2 > now;
        self.answers && self.heard.is_some_and(lately)
    }

    /// Nothing came back for too long.
    pub(super) fn give_up(&mut self, now: Time) {
        self.answers = false;
        self.round_trip = None;
        self.mtu = None;
        self.trial = Trial::default();
        self.hurry(now);
    }

    /// Whether a probe is due; notes it under its number, and when the next one is.
    pub(super) fn due(&mut self, now: Time, number: u64) -> bool {
        if now < self.next {
            return false;
        }
        self.note(now, number, None);
        self.probes.0 = self.probes.0.saturating_add(u32::from(self.answers));
        self.burst = self.burst.saturating_sub(1);
        let wait = match (self.answers, self.burst) {
            (true, _) => KEEPALIVE,
            (false, 0) => {
                self.burst = BURST;
                let longer = (self.pause * 2).min(PAUSE.1);
                std::mem::replace(&mut self.pause, longer)
            }
            (false, _) => STEP,
        };
        self.next = now + wait;
        true
    }

    /// Whether a size is to be tried now, and which; notes it under its number.
    pub(super) fn try_size(&mut self, now: Time, number: u64) -> Option<u16> {
        let size = *SIZES.get(self.trial.step)?;
        if !self.answers || now < self.trial.next {
            return None;
        }
        if self.trial.tries == TRIES.0 {
            self.trial.step = SIZES.len();
            return None;
        }
        self.trial.tries += 1;
        self.trial.next = now + TRIES.1;
        self.note(now, number, Some(size));
        Some(size)
    }

    /// The largest that got through, once all were tried.
    pub(super) fn bound(&self) -> Option<u16> {
        self.mtu.filter(|_| self.trial.step >= SIZES.len())
    }

    fn note(&mut self, sent: Time, number: u64, size: Option<u16>) {
        if self.open.len() == OPEN {
            self.open.pop_front();
        }
        let counts = self.answers && size.is_none();
        self.open.push_back(Open {
            number,
            sent,
            size,
            counts,
        });
    }

    /// Takes the answer to one of its probes.
    pub(super) fn answered(&mut self, number: u64, now: Time) -> bool {
        let Some(at) = self.open.iter().position(|open| open.number == number) else {
            return false;
        };
        let Some(open) = self.open.remove(at) else {
            return false;
        };
        self.heard = Some(now);
        self.probes.1 = self.probes.1.saturating_add(u32::from(open.counts));
        if let Some(size) = open.size {
            self.got_through(size);
            return true;
        }
        let sample = now.saturating_sub(open.sent);
        let smooth = |old: Duration| (old * 3 + sample) / 4;
        self.round_trip = Some(self.round_trip.map_or(sample, smooth));
        if !self.answers {
            self.answers = true;
            self.pause = PAUSE.0;
            self.next = now + KEEPALIVE;
        }
        true
    }

    fn got_through(&mut self, size: u16) {
        self.mtu = self.mtu.max(Some(size));
        if SIZES.get(self.trial.step) == Some(&size) {
            self.trial = Trial {
                step: self.trial.step + 1,
                ..Trial::default()
            };
        }
    }
}
