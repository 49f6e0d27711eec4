//! Who am I: from which address a node's datagrams come, as others see it.
//!
//! ```text
//! question: 0x30 0 0 0 | number 16 | zeros up to the answer's length or more
//! answer:   0x31 0 0 0 | number 16 | seen 19
//! ```
//!
//! 1. Every engine answers everybody, at most 20 times in a second within one prefix of addresses
//!    (24 bits of IPv4, 48 of IPv6) and 2000 times in all, and never with more bytes than it was
//!    asked with: a forged source gains nothing, and a flood silences its own neighbours alone.
//! 2. An answer counts only if it has the number of a question that is still open, and comes from
//!    where that was sent. Numbers are random, so nobody else can answer.
//! 3. What was seen is forgotten after 75 s. Asking again before that keeps the way through a NAT
//!    open.
//! 4. Two places that see different addresses are told apart by a NAT that gives each destination
//!    another port ([`outside`]): punching through it is of no use.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::path::{SEEN, Time, seen_address, seen_bytes};

/// First byte of a question.
pub(crate) const QUESTION: u8 = 0x30;
/// First byte of an answer.
pub(crate) const ANSWER: u8 = 0x31;
/// Whether a datagram that begins so is a question or an answer.
pub fn is_word(first: u8) -> bool {
    [QUESTION, ANSWER].contains(&first)
}

/// What a question is known by.
pub(crate) type Number = [u8; 16];

/// Bytes of an answer, and of the shortest question.
const LENGTH: usize = HEAD + SEEN;
/// Bytes in front of what was seen.
const HEAD: usize = 20;
/// Answers in one second at the most: within one prefix, and in all.
const ANSWERS: (u32, u32) = (20, 2_000);
/// How long a question stays open.
const OPEN: Duration = Duration::from_secs(10);
/// How long an answer is worth something.
const FRESH: Duration = Duration::from_secs(75);
/// Questions and answers that are remembered at the most.
const MOST: usize = 16;

/// What is known of a node's own address, as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Nobody has said.
    Unknown,
    /// Everybody who was asked sees this one.
    Same(SocketAddr),
    /// Different places see different ones.
    Varies,
}

/// What several places, each with what it sees, say together about one family of addresses.
pub fn outside(seen: &[(SocketAddr, SocketAddr)], v4: bool) -> Outside {
    let mut all = seen.iter().map(|(_, seen)| *seen);
    let mut all = all.by_ref().filter(|seen| seen.is_ipv4() == v4);
    match all.next() {
        None => Outside::Unknown,
        Some(first) if all.all(|other| other == first) => Outside::Same(first),
        Some(_) => Outside::Varies,
    }
}

/// Rules 1 to 3.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    open: Vec<(SocketAddr, Number, Time)>,
    seen: Vec<(SocketAddr, SocketAddr, Time)>,
    answers: Answers,
}

/// The answers of a second, by the prefixes of those that asked: never more than there were in all.
#[derive(Debug, Default)]
struct Answers {
    second: u64,
    all: u32,
    within: BTreeMap<[u8; 6], u32>,
}

impl Answers {
    /// Whether one more may be given, and is.
    fn take(&mut self, to: IpAddr, now: Time) -> bool {
        if self.second != now.as_secs() {
            *self = Answers {
                second: now.as_secs(),
                ..Answers::default()
            };
        }
        let within = self.within.get(&prefix(to)).copied().unwrap_or_default();
        if within >= ANSWERS.0 || self.all >= ANSWERS.1 {
            return false;
        }
        self.all += 1;
        self.within.insert(prefix(to), within + 1);
        true
    }
}

/// The addresses that one site may have at once. No IPv6 prefix in use begins like an IPv4 one.
fn prefix(ip: IpAddr) -> [u8; 6] {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            [0, 0, 4, a, b, c]
        }
        IpAddr::V6(ip) => {
            let [a, b, c, d, e, f, ..] = ip.octets();
            [a, b, c, d, e, f]
        }
    }
}

impl Mirror {
    /// A question to a place; the number must be a random one.
    pub(crate) fn ask(&mut self, at: SocketAddr, number: Number, now: Time) -> Vec<u8> {
        self.open.retain(|(_, _, asked)| *asked + OPEN > now);
        if self.open.len() == MOST {
            self.open.remove(0);
        }
        self.open.push((at, number, now));
        let mut question = head(QUESTION, &number);
        question.resize(LENGTH, 0);
        question
    }

    /// The answer to a question, if it is one and may be answered.
    pub(crate) fn answer(
        &mut self,
        question: &[u8],
        source: SocketAddr,
        now: Time,
    ) -> Option<Vec<u8>> {
        let number = number(question).filter(|_| question.len() >= LENGTH)?;
        if !self.answers.take(source.ip(), now) {
            return None;
        }
        let mut answer = head(ANSWER, &number);
        answer.extend(seen_bytes(source));
        Some(answer)
    }

    /// An answer comes; whether it is one to a question of ours.
    pub(crate) fn answered(&mut self, answer: &[u8], source: SocketAddr, now: Time) -> bool {
        let content = number(answer).zip(answer.get(HEAD..).and_then(seen_address));
        let Some((number, seen)) = content.filter(|_| answer.len() == LENGTH) else {
            return false;
        };
        let fits = |(at, of, asked): &(SocketAddr, Number, Time)| {
            *at == source && *of == number && *asked + OPEN > now
        };
        let Some(at) = self.open.iter().position(fits) else {
            return false;
        };
        self.open.remove(at);
        self.seen.retain(|(of, _, _)| *of != source);
        if self.seen.len() == MOST {
            self.seen.remove(0);
        }
        self.seen.push((source, seen, now));
        true
    }

    /// Who was asked, with what it sees.
    pub(crate) fn seen(&self, now: Time) -> Vec<(SocketAddr, SocketAddr)> {
        let fresh = self.seen.iter().filter(|(_, _, at)| *at + FRESH > now);
        fresh.map(|(of, seen, _)| (*of, *seen)).collect()
    }
}

fn head(kind: u8, number: &Number) -> Vec<u8> {
    [&[kind, 0, 0, 0], &number[..]].concat()
}

fn number(bytes: &[u8]) -> Option<Number> {
    bytes.get(4..HEAD)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    const NOW: Time = Duration::from_secs(100);

    #[test]
    fn one_learns_where_one_is_seen() {
        let (mut asks, mut answers) = (Mirror::default(), Mirror::default());
        let (place, own) = (at("9.9.9.9:4000"), at("[2001:db8::1]:77"));
        let question = asks.ask(place, [7; 16], NOW);
        let answer = answers.answer(&question, own, NOW).expect("an answer");
        assert!(answer.len() <= question.len());
        assert!(asks.answered(&answer, place, NOW));
        assert_eq!(asks.seen(NOW), [(place, own)]);
        assert!(!asks.answered(&answer, place, NOW), "only once");
        assert_eq!(asks.seen(NOW + FRESH), []);
    }

    #[test]
    fn what_was_not_asked_is_no_answer() {
        let (mut asks, mut answers) = (Mirror::default(), Mirror::default());
        let (place, other) = (at("9.9.9.9:4000"), at("9.9.9.9:4001"));
        let question = asks.ask(place, [7; 16], NOW);
        let answer = answers.answer(&question, other, NOW).expect("an answer");
        assert!(!asks.answered(&answer, other, NOW), "another place");
        let mut guessed = answer.clone();
        guessed[4] ^= 1;
        assert!(!asks.answered(&guessed, place, NOW), "another number");
        assert!(!asks.answered(&answer[..LENGTH - 1], place, NOW));
        assert!(!asks.answered(&answer, place, NOW + OPEN), "too late");
        assert_eq!(asks.seen(NOW), []);
    }

    #[test]
    fn answers_are_few_and_no_longer_than_questions() {
        let mut answers = Mirror::default();
        let question = Mirror::default().ask(at("9.9.9.9:1"), [1; 16], NOW);
        let source = at("1.1.1.1:1");
        assert_eq!(answers.answer(&question[..LENGTH - 1], source, NOW), None);
        let mut given = |from: SocketAddr| answers.answer(&question, from, NOW).is_some();
        let flood = (0..500).filter(|_| given(source)).count();
        assert_eq!(flood, ANSWERS.0 as usize);
        assert!(!given(at("1.1.1.250:9")), "the same prefix");
        assert!(given(at("1.1.2.1:1")) && given(at("[2001:db8::1]:1")));
        let far = |n: u32| SocketAddr::new(std::net::Ipv4Addr::from_bits(n << 8).into(), 1);
        let all = (1 << 17..(1 << 17) + 5_000).filter(|n| given(far(*n)));
        assert_eq!(all.count() + flood + 2, ANSWERS.1 as usize);
        let later = NOW + Duration::from_secs(1);
        assert!(answers.answer(&question, source, later).is_some());
    }

    #[test]
    fn ports_that_differ_tell_of_the_nat() {
        let (a, b) = (at("9.9.9.9:1"), at("8.8.8.8:1"));
        let own = [at("5.5.5.5:10"), at("5.5.5.5:11")];
        assert_eq!(outside(&[], true), Outside::Unknown);
        assert_eq!(
            outside(&[(a, own[0]), (b, own[0])], true),
            Outside::Same(own[0])
        );
        assert_eq!(outside(&[(a, own[0]), (b, own[1])], true), Outside::Varies);
        let v6 = (at("[::9]:1"), at("[::5]:10"));
        assert_eq!(outside(&[(a, own[0]), v6], false), Outside::Same(v6.1));
    }
}
