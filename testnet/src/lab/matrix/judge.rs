//! Judges a meeting by the words of the two peers. Pure.
//!
//! 1. Each end has the best path that it last told of the other: direct, relayed or none.
//! 2. The pair has the worse of both ends' paths: a path that one end alone believes in carries
//!    nothing.
//! 3. Times run from the dialer's start to the moment at which the second end told of it.

use super::super::peer::Event;
use super::{Outcome, Path};

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that is there first.
    Waiting,
    /// The side that looks for it.
    Dialing,
}

/// The words told so far.
#[derive(Clone, Debug)]
pub struct Judge {
    ids: [String; 2],
    paths: [Path; 2],
    connected_ms: Option<u64>,
    direct_ms: Option<u64>,
}

impl Judge {
    /// Two peers that know nothing of each other, by their ids.
    pub fn new(waiting: String, dialing: String) -> Judge {
        Judge {
            ids: [waiting, dialing],
            paths: [Path::None; 2],
            connected_ms: None,
            direct_ms: None,
        }
    }
    /// An end told something, so many milliseconds after the dialer began.
    pub fn hear(&mut self, side: Side, event: &Event, ms: u64) {
        let (own, other) = match side {
            Side::Waiting => (0, 1),
            Side::Dialing => (1, 0),
        };
        let path = match event {
            Event::Connected { peer, relayed, .. } if *peer == self.ids[other] => {
                let told = if *relayed {
                    Path::Relayed
                } else {
                    Path::Direct
                };
                // A relayed path beside a direct one takes nothing away.
                told.max(self.paths[own])
            }
            Event::Lost { peer } if *peer == self.ids[other] => Path::None,
            _ => return,
        };
        self.paths[own] = path;
        if self.path() >= Path::Relayed {
            self.connected_ms.get_or_insert(ms);
        }
        if self.path() == Path::Direct {
            self.direct_ms.get_or_insert(ms);
        }
    }
    /// The path that both ends have now.
    pub fn path(&self) -> Path {
        self.paths[0].min(self.paths[1])
    }
    /// How it stands.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            path: self.path(),
            connected_ms: self.connected_ms,
            direct_ms: self.direct_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as `W 12 {json}` or `D 12 {json}`: the side, the time, and the words.
    fn judged(lines: &str) -> Outcome {
        let mut judge = Judge::new("w".into(), "d".into());
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let mut words = line.splitn(3, ' ');
            let side = match words.next() {
                Some("W") => Side::Waiting,
                _ => Side::Dialing,
            };
            let ms = words.next().unwrap().parse().unwrap();
            if let Some(event) = Event::read(words.next().unwrap()) {
                judge.hear(side, &event, ms);
            }
        }
        judge.outcome()
    }

    #[test]
    fn recorded_lines_are_judged() {
        let outcome = |path, connected_ms, direct_ms| Outcome {
            path,
            connected_ms,
            direct_ms,
        };
        let relayed = r#"
            W 0 {"event":"ready","peer":"w","addrs":["/ip4/45.1.1.2/tcp/1"]}
            D 3 {"event":"ready","peer":"d","addrs":[]}
            W 5 {"event":"connected","peer":"relay","relayed":false,"ms":5}
            D 40 {"event":"connected","peer":"w","relayed":true,"ms":37}
            W 44 {"event":"connected","peer":"d","relayed":true,"ms":90}
        "#;
        let punched = r#"
            D 60 {"event":"connected","peer":"w","relayed":false,"ms":57}
            D 58 starting something
            W 61 {"event":"connected","peer":"d","relayed":false,"ms":99}
        "#;
        let twice = r#"
            D 70 {"event":"connected","peer":"w","relayed":true,"ms":70}
            D 80 {"event":"connected","peer":"w","relayed":false,"ms":80}
        "#;
        let one_sided = r#"D 60 {"event":"connected","peer":"w","relayed":false,"ms":57}"#;
        let lost = r#"W 90 {"event":"lost","peer":"d"}"#;
        for (lines, wanted) in [
            (String::new(), outcome(Path::None, None, None)),
            (relayed.to_owned(), outcome(Path::Relayed, Some(44), None)),
            (one_sided.to_owned(), outcome(Path::None, None, None)),
            (
                format!("{relayed}{punched}{twice}"),
                outcome(Path::Direct, Some(44), Some(61)),
            ),
            (
                format!("{relayed}{one_sided}"),
                outcome(Path::Relayed, Some(44), None),
            ),
            (
                format!("{relayed}{punched}{lost}"),
                outcome(Path::None, Some(44), Some(61)),
            ),
        ] {
            assert_eq!(judged(&lines), wanted, "{lines}");
        }
    }
}
