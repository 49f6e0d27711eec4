//! Two ends with a network between them that can lose, move and translate, in virtual time.

use super::*;

const LEFT: &str = "10.0.0.1:1000";
const RIGHT: &str = "10.0.0.2:2000";
const RELAY: &str = "192.0.2.1:3000";
/// Where either end has its stream to the other.
const STREAM: &str = "127.0.0.1:4000";

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn keys() -> (PathKeys, PathKeys) {
    let make = |own, peer| PathKeys::new(&[1; 32], &[2; 32], own, peer);
    (make([3; 32], [4; 32]), make([4; 32], [3; 32]))
}

/// The world between two ends: which way lets datagrams through, and what each end is seen as.
struct World {
    left: Path,
    right: Path,
    now: Time,
    direct: bool,
    relay: bool,
    stream: bool,
    left_seen_as: SocketAddr,
    probes: usize,
    /// Bytes of a datagram that arrive at the most.
    longest: usize,
}

impl World {
    fn new(left: &[Candidate], right: &[Candidate]) -> World {
        let (left_keys, right_keys) = keys();
        let mut world = World {
            left: Path::new(left_keys, 1),
            right: Path::new(right_keys, 2),
            now: Duration::from_secs(100),
            direct: true,
            relay: true,
            stream: true,
            left_seen_as: address(LEFT),
            probes: 0,
            longest: usize::MAX,
        };
        world.left.announce(left, world.now);
        world.right.announce(right, world.now);
        world
    }

    /// Both with a direct way and a relay.
    fn usual() -> World {
        let relay = Candidate::relay(address(RELAY), [9; 16]);
        let to = |at| Candidate::at(Kind::Direct, address(at));
        World::new(&[to(RIGHT), relay], &[to(LEFT), relay])
    }

    /// Lets time pass in steps of 50 ms; with traffic, the left end sends in each and the right one
    /// answers.
    fn pass(&mut self, time: Duration, traffic: bool) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(50);
            self.left.tick(self.now);
            self.right.tick(self.now);
            if traffic {
                self.data();
            }
            for _ in 0..2 {
                self.carry();
            }
        }
    }

    fn open(&self, via: &Via) -> bool {
        if via.at == address(STREAM) {
            self.stream
        } else if via.ticket.is_some() {
            self.relay
        } else {
            self.direct
        }
    }

    /// Where what is sent on a way comes from, by an end that is seen at `own`.
    fn source(&self, via: &Via, own: SocketAddr) -> SocketAddr {
        let stays = via.ticket.is_some() || via.at == address(STREAM);
        if stays { via.at } else { own }
    }

    /// Whether what the right end sends gets to the left one.
    fn reaches(&self, via: &Via) -> bool {
        self.source(via, self.left_seen_as) == via.at
    }

    fn carry(&mut self) {
        for output in self.left.take_outputs() {
            self.probes += 1;
            let source = self.source(&output.via, self.left_seen_as);
            if self.open(&output.via) && output.bytes.len() <= self.longest {
                assert!(self.right.message(&output.bytes, source, self.now));
            }
        }
        for output in self.right.take_outputs() {
            let source = self.source(&output.via, address(RIGHT));
            if self.open(&output.via) && self.reaches(&output.via) {
                assert!(self.left.message(&output.bytes, source, self.now));
            }
        }
    }

    fn data(&mut self) {
        if let Some(via) = self.left.sending(self.now).filter(|via| self.open(via)) {
            let source = self.source(&via, self.left_seen_as);
            self.right.heard(source, self.now);
        }
        if let Some(via) = self.right.sending(self.now).filter(|via| self.open(via)) {
            let source = self.source(&via, address(RIGHT));
            if self.reaches(&via) {
                self.left.heard(source, self.now);
            }
        }
    }

    fn kinds(&self) -> (Option<Kind>, Option<Kind>) {
        let kind = |path: &Path| path.active().map(|candidate| candidate.kind);
        (kind(&self.left), kind(&self.right))
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn traffic_starts_on_what_answers_and_moves_to_the_best() {
    let mut world = World::usual();
    world.direct = false;
    world.pass(SECOND / 10, false);
    assert_eq!(world.kinds(), (Some(Kind::Relay), Some(Kind::Relay)));
    world.direct = true;
    world.pass(SECOND / 2, true);
    assert_eq!(world.kinds(), (Some(Kind::Direct), Some(Kind::Direct)));
    assert_eq!(world.left.seen(), Some(address(LEFT)));
}

#[test]
fn a_stream_comes_last_and_is_left_for_whatever_answers() {
    let stream = Candidate::at(Kind::Stream, address(STREAM));
    let relay = Candidate::relay(address(RELAY), [9; 16]);
    let to = |at| Candidate::at(Kind::Direct, address(at));
    let mut world = World::new(&[to(RIGHT), relay, stream], &[to(LEFT), relay, stream]);
    let both = |kind| (Some(kind), Some(kind));
    (world.direct, world.relay) = (false, false);
    world.pass(SECOND, true);
    assert_eq!(world.kinds(), both(Kind::Stream));
    assert_eq!(world.left.seen(), None, "an address of one machine");
    world.relay = true;
    world.pass(SECOND, true);
    assert_eq!(world.kinds(), both(Kind::Relay));
    world.direct = true;
    world.pass(SECOND * 60, true);
    assert_eq!(world.kinds(), both(Kind::Direct));
    (world.direct, world.relay) = (false, false);
    // One after the other, each of which is believed for a while.
    world.pass(SECOND * 20, true);
    assert_eq!(world.kinds(), both(Kind::Stream), "and back");
    for path in [&mut world.left, &mut world.right] {
        path.announce(&[to(RIGHT), relay], world.now);
        assert_eq!(path.active(), None, "a stream that ended is no way");
    }
}

#[test]
fn a_relay_by_a_stream_is_the_same_relay_and_comes_after_all_others() {
    let ticket = [9; 16];
    let relay = Candidate::relay(address(RELAY), ticket);
    let streamed = Candidate::relay_stream(address(STREAM), ticket);
    let mut world = World::new(&[relay, streamed], &[relay, streamed]);
    world.relay = false;
    world.pass(SECOND, true);
    assert_eq!(world.left.active(), Some(streamed));
    world.left.carried(&ticket, 30, 40);
    world.left.announce(&[streamed], world.now);
    let sum = ByRelay {
        ticket,
        sent: 30,
        received: 40,
        answers: true,
    };
    let sums = |world: &World| world.left.by_relays(world.now);
    assert_eq!(sums(&world), [sum], "whichever way it went");
    world.left.announce(&[relay, streamed], world.now);
    assert_eq!(sums(&world), [sum], "told once");
    world.relay = true;
    world.pass(SECOND, true);
    assert_eq!(world.left.active(), Some(relay));
    world.left.announce(&[relay], world.now);
    assert_eq!(sums(&world), [sum]);
}

#[test]
fn a_relay_that_is_not_in_use_answers_probes_until_it_ceases_to() {
    let mut world = World::usual();
    let answers = |world: &World| {
        let by = world.left.by_relays(world.now);
        by.iter()
            .map(|by| (by.answers, by.received))
            .collect::<Vec<_>>()
    };
    world.pass(SECOND * 120, true);
    assert_eq!(world.kinds().0, Some(Kind::Direct));
    assert_eq!(answers(&world), [(true, 0)]);
    world.relay = false;
    world.pass(SECOND * 60, true);
    assert_eq!(answers(&world), [(false, 0)]);
}

#[test]
fn whoever_is_probed_on_a_way_that_waits_probes_it_at_once() {
    let mut world = World::usual();
    (world.direct, world.relay) = (false, false);
    world.pass(SECOND * 120, false);
    world.direct = true;
    world.left.hurry(world.now);
    world.pass(SECOND / 2, false);
    assert_eq!(world.kinds(), (Some(Kind::Direct), Some(Kind::Direct)));
    let waiting = world.right.take_outputs();
    assert!(waiting.is_empty(), "and no more than that");
}

#[test]
fn a_dead_way_is_left_within_ten_seconds() {
    for (mut world, traffic) in [(World::usual(), true), (World::usual(), false)] {
        world.pass(SECOND * 3, traffic);
        world.direct = false;
        // Without traffic nobody notices before the next keepalive.
        let bound = if traffic { 10 } else { 30 };
        world.pass(SECOND * bound, traffic);
        assert_eq!(world.kinds(), (Some(Kind::Relay), Some(Kind::Relay)));
        world.direct = true;
        world.pass(SECOND * 120, traffic);
        assert_eq!(world.kinds(), (Some(Kind::Direct), Some(Kind::Direct)));
    }
}

#[test]
fn a_relay_that_dies_moves_the_path() {
    let other = Candidate::relay(address("192.0.2.2:1"), [8; 16]);
    let first = Candidate::relay(address(RELAY), [9; 16]);
    let mut world = World::new(&[first], &[first]);
    world.pass(SECOND, true);
    world.relay = false;
    world.pass(SECOND * 10, true);
    assert_eq!(world.kinds(), (None, None), "given up, and probed on");
    for path in [&mut world.left, &mut world.right] {
        path.announce(&[other], world.now);
    }
    world.relay = true;
    world.pass(SECOND, true);
    assert_eq!(world.kinds(), (Some(Kind::Relay), Some(Kind::Relay)));
    assert_eq!(world.left.active(), Some(other));
}

#[test]
fn a_member_that_moved_is_back_within_ten_seconds() {
    let mut world = World::usual();
    world.relay = false;
    world.pass(SECOND * 2, true);
    world.left_seen_as = address("10.9.9.9:9");
    world.pass(SECOND * 3, true);
    let reached = world.right.active().map(|candidate| candidate.via.at);
    let still = world
        .right
        .ways
        .iter()
        .any(|way| way.candidate.via.at == world.left_seen_as);
    assert!(still, "it is a candidate");
    world.pass(SECOND * 7, true);
    let now = world.right.active().map(|candidate| candidate.via.at);
    assert_eq!(now, Some(world.left_seen_as), "before: {reached:?}");
}

#[test]
fn bursts_are_bounded_where_nothing_answers() {
    let ways: Vec<_> = (1..=20)
        .map(|port| Candidate::at(Kind::Direct, SocketAddr::new(address(RIGHT).ip(), port)))
        .collect();
    let mut world = World::new(&ways, &[]);
    world.direct = false;
    world.pass(SECOND * 4, true);
    assert_eq!(world.probes, WAYS * 20);
    world.pass(SECOND * 600, true);
    assert!(world.probes < WAYS * 20 * 16, "{}", world.probes);
}

#[test]
fn only_an_answer_makes_a_way() {
    let (left, right) = keys();
    let mut path = Path::new(left, 1);
    let now = SECOND;
    path.announce(&[Candidate::at(Kind::Direct, address(RIGHT))], now);
    path.heard(address(RIGHT), now);
    let probe = right.probe(5, 0);
    assert!(path.message(&probe, address(RIGHT), now));
    assert_eq!(path.active(), None, "datagrams may be recorded ones");
    let answer = right.pong(12345, address(LEFT));
    assert!(path.message(&answer, address(RIGHT), now));
    assert_eq!(path.active(), None, "an answer to what was not asked");
    assert!(!path.message(&[PROBE; 60], address(RIGHT), now));
}

#[test]
fn a_recorded_probe_neither_moves_nor_multiplies() {
    let mut world = World::usual();
    world.pass(SECOND * 2, true);
    let (left, _) = keys();
    let probe = left.probe(5, 0);
    world.right.take_outputs();
    for port in 1..=1000 {
        let source = SocketAddr::new(address("203.0.113.1:1").ip(), port);
        world.right.message(&probe, source, world.now);
    }
    assert!(world.right.take_outputs().len() <= ANSWERS as usize);
    assert!(world.right.ways.len() <= 3);
    assert_eq!(world.kinds().1, Some(Kind::Direct));
}

#[test]
fn the_size_that_a_way_takes_is_found() {
    for (longest, found) in [(65_535, 8900), (1472, 1420), (1400, 1280)] {
        let mut world = World::usual();
        world.longest = longest;
        world.pass(SECOND * 10, true);
        assert_eq!(world.left.mtu(), Some(found));
        let probes = world.probes;
        world.pass(SECOND * 15, true);
        assert!(world.probes < probes + 5, "it does not go on");
    }
}

#[test]
fn silence_after_traffic_is_looked_into_once() {
    let mut world = World::usual();
    world.pass(Duration::from_secs(8), true);
    world.probes = 0;
    world.pass(Duration::from_secs(3), false);
    // Its own, and its answers to the other end, which sent last and doubts both ways.
    assert_eq!(world.probes, 3);
    world.pass(Duration::from_secs(5), false);
    assert_eq!(world.probes, 3);
}
