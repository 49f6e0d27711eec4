//! How long a discovery query takes over what a node knows.
//!
//! `cargo bench -p gridbay-core --bench query` prints one line per case: the best and the median of
//! [`ROUNDS`] rounds, and the bar. A case fails only beyond three times its bar, so that a busy
//! machine does not. Adverts are of five sites and two classes, with round trips to three of eight
//! landmarks; timing begins at the subjects, as a shelf hands them out.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

use gridbay_core::query::explain::explain;
use gridbay_core::query::subject::{Line, Subject};
use gridbay_core::query::{Query, find};
use gridbay_protocol::advert::RoundTrip;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Rounds of each case.
const ROUNDS: usize = 21;

/// The query of the manual.
const QUERY: &str = r#"cpu >= 4 && mem >= 8GiB && arch == "amd64" && site in ["*.edu"] && price < 5 && rtt(me) < 50ms"#;

struct Advert {
    texts: BTreeMap<String, String>,
    trips: Vec<RoundTrip>,
}

struct World {
    nodes: Vec<PublicKey>,
    classes: [Class; 2],
    adverts: Vec<Advert>,
}

fn class(name: &str, vcpu: u32, memory_mib: u64) -> Class {
    Class {
        name: name.to_owned(),
        key: ClassKey {
            vcpu,
            memory_mib,
            disk_mib: 10_240,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".to_owned(),
        },
        reference_price: Price(1),
    }
}

/// A step of a linear congruential generator: chance is not what is measured.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    *state >> 33
}

impl World {
    fn new(count: usize) -> World {
        let key = |n: u64| {
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&n.to_be_bytes());
            SecretKey::from_seed(&seed).public()
        };
        let mut landmarks: Vec<PublicKey> = (0..8).map(key).collect();
        landmarks.sort();
        let mut state = 1;
        let advert = |_| {
            let sites = ["cs.a.edu", "b.edu", "c.org", "d.edu", "e.example"];
            let site = sites[next(&mut state) as usize % sites.len()];
            let arch = ["amd64", "arm64"][usize::from(next(&mut state).is_multiple_of(4))];
            let texts = [("site", site), ("arch", arch), ("os", "linux")];
            let mut trips: Vec<RoundTrip> = Vec::new();
            for to in &landmarks {
                if next(&mut state) % 8 < 3 {
                    let ms = 1 + (next(&mut state) % 60) as u16;
                    trips.push(RoundTrip { to: *to, ms });
                }
            }
            Advert {
                texts: texts.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
                trips,
            }
        };
        World {
            adverts: (0..count).map(advert).collect(),
            nodes: (0..count as u64).map(|n| key(1_000 + n)).collect(),
            classes: [class("small", 2, 4_096), class("large", 8, 16_384)],
        }
    }

    fn subjects(&self) -> Vec<Subject<'_>> {
        let line = |n: usize, class: usize| Line {
            offer: OfferId([class as u8; 32]),
            class: &self.classes[class],
            free: 4,
            price: Credits::from_micros((n * 7_919 % 10_000_000) as u64).expect("small"),
            buy: None,
            mechanism: "ausubel",
            firm: true,
        };
        self.adverts
            .iter()
            .enumerate()
            .map(|(n, advert)| Subject {
                node: self.nodes[n],
                seller: AccountId([1; 32]),
                texts: &advert.texts,
                round_trips: &advert.trips,
                rtt: (n % 3 > 0).then_some((n as u64 * 31 % 100) * 1_000),
                lines: vec![line(n, 0), line(n, 1)],
            })
            .collect()
    }
}

/// Times of a piece of work, ascending.
fn times(mut work: impl FnMut()) -> Vec<Duration> {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(time).collect();
    times.sort();
    times
}

fn report(case: &str, times: &[Duration], bar: Option<Duration>) -> bool {
    let (best, median) = (times[0], times[ROUNDS / 2]);
    let told = bar.map_or("reported".to_owned(), |bar| format!("bar {bar:?}"));
    println!("{case:<44} best {best:>9.2?}  median {median:>9.2?}  {told}");
    bar.is_none_or(|bar| best <= bar * 3)
}

fn main() -> ExitCode {
    let mut good = true;
    let grouped = format!("{QUERY} choose 8 nodes from >= 2 sites with rtt_between < 40ms");
    for (count, bar) in [(1_000, 1), (10_000, 5)] {
        let world = World::new(count);
        let subjects = world.subjects();
        let query: Query = QUERY.parse().expect("a good query");
        let fitting = find(&query, &subjects).fitting;
        assert!(
            fitting > count / 100,
            "a query that nothing fits shows little"
        );
        let found = times(|| {
            black_box(find(black_box(&query), &subjects));
        });
        let bar = Some(Duration::from_millis(bar));
        good &= report(
            &format!("find, {count} adverts, {fitting} fit"),
            &found,
            bar,
        );
        let explained = times(|| {
            black_box(explain(black_box(&query), &subjects));
        });
        good &= report(&format!("explain, {count} adverts"), &explained, None);
        let query: Query = grouped.parse().expect("a good query");
        let together = times(|| {
            black_box(find(black_box(&query), &subjects));
        });
        good &= report(
            &format!("find a group of 8, {count} adverts"),
            &together,
            None,
        );
    }
    let parsed = times(|| {
        let query = black_box(QUERY).parse::<Query>();
        black_box(query.expect("a good query"));
    });
    good &= report("parse", &parsed, None);
    ExitCode::from(u8::from(!good))
}
