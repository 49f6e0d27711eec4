//! Bounds how much others can make this node write to its log.
//!
//! Many lines tell of others' doings, and a peer that does the same a thousand times a second would
//! fill the disk. So each cause (a place in the code) may write so many bytes, and so may all
//! causes together; lines above that are left out, and the next line of the cause says how many
//! were. Errors are the node's own (its disk, its agreement with the others), and have room of
//! their own: they are written, whatever strangers set off. Lines of the levels debug and trace,
//! which an owner has to ask for, are never left out.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Bytes that one cause may write at once, and in a second: a line a second, and a hundred when
/// something happens.
const CAUSE: (u64, u64) = (16 << 10, 200);
/// The same of all causes: 80 kB in the first minute, 54 kB in each later one.
const ALL: (u64, u64) = (26_000, 900);
/// The same of all causes of errors, beside: 16 kB in the first minute, 12 kB in each later one.
const ERRORS: (u64, u64) = (4_000, 200);

/// Bytes of the word that lines were left out.
const NOTE: usize = 64;

/// How much was written, as the time at which nothing will be owed any more.
#[derive(Clone, Copy, Debug)]
struct Bucket(Instant);

impl Bucket {
    /// The debt after so many bytes more, if that is allowed.
    fn with(self, bytes: usize, (most, each_second): (u64, u64), now: Instant) -> Option<Self> {
        let micros =
            |bytes: u64| Duration::from_micros(bytes.saturating_mul(1_000_000) / each_second);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let after = self.0.max(now) + micros(bytes.min(most));
        (after.duration_since(now) <= micros(most)).then_some(Self(after))
    }
}

#[derive(Debug)]
struct Written<Cause> {
    all: Option<Bucket>,
    errors: Option<Bucket>,
    /// Of each cause, and how many of its lines were left out since.
    causes: HashMap<Cause, (Bucket, u64)>,
}

impl<Cause: Eq + Hash> Written<Cause> {
    fn new() -> Self {
        Self {
            all: None,
            errors: None,
            causes: HashMap::new(),
        }
    }

    /// Whether a line may be written. If so, how many of its cause were left out before it.
    fn may(&mut self, (cause, error): (Cause, bool), bytes: usize, now: Instant) -> Option<u64> {
        let (all, rate) = match error {
            true => (&mut self.errors, ERRORS),
            false => (&mut self.all, ALL),
        };
        let of_all = all.unwrap_or(Bucket(now));
        let (own, left_out) = self.causes.entry(cause).or_insert((Bucket(now), 0));
        let bytes = bytes + if *left_out > 0 { NOTE } else { 0 };
        match (own.with(bytes, CAUSE, now), of_all.with(bytes, rate, now)) {
            (Some(after), Some(of_all)) => {
                *own = after;
                *all = Some(of_all);
                Some(std::mem::take(left_out))
            }
            _ => {
                *left_out += 1;
                None
            }
        }
    }
}

/// Makes writers that spare what is behind them.
#[derive(Debug)]
pub(super) struct Sparing<M> {
    inner: M,
    written: Arc<Mutex<Written<Identifier>>>,
}

impl<M> Sparing<M> {
    pub(super) fn new(inner: M) -> Self {
        Self {
            inner,
            written: Arc::new(Mutex::new(Written::new())),
        }
    }
}

/// Writes the line of one event, or leaves it out.
pub(super) struct Line<W> {
    inner: W,
    written: Arc<Mutex<Written<Identifier>>>,
    /// Of what is not left out in any case; and whether it is an error.
    cause: Option<(Identifier, bool)>,
}

impl<W: Write> Write for Line<W> {
    /// A line is handed over whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(cause) = self.cause.clone() {
            let may = {
                let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
                written.may(cause, line.len(), Instant::now())
            };
            match may {
                None => return Ok(line.len()),
                Some(0) => {}
                Some(n) => writeln!(self.inner, "({n} lines like the next were left out)")?,
            }
        }
        self.inner.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Sparing<M> {
    type Writer = Line<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Line {
            inner: self.inner.make_writer(),
            written: self.written.clone(),
            cause: None,
        }
    }

    fn make_writer_for(&'a self, of: &Metadata<'_>) -> Self::Writer {
        Line {
            inner: self.inner.make_writer_for(of),
            written: self.written.clone(),
            cause: (*of.level() <= Level::INFO)
                .then(|| (of.callsite(), *of.level() == Level::ERROR)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt;

    /// The bytes written.
    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The log of what is done, with the node's filter.
    fn log(filter: &str, act: impl FnOnce()) -> String {
        let memory = Memory::default();
        let to = memory.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(Sparing::new(move || to.clone()));
        let filter = super::super::program::filter(filter).unwrap();
        let log = tracing_subscriber::registry().with(filter).with(layer);
        tracing::subscriber::with_default(log, act);
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn thirty_thousand_lines_of_one_cause_leave_room_for_another() {
        let written = log("info", || {
            for n in 0..30_000 {
                tracing::warn!(n, "somebody does something a thousand times a second");
            }
            tracing::info!("something else happens");
        });
        assert!(written.len() < 20_000, "{}", written.len());
        assert!(written.contains("something else happens"));
        let asked_for = log("debug", || {
            for n in 0..1_000 {
                tracing::debug!(n, "asked for");
            }
        });
        assert_eq!(asked_for.lines().count(), 1_000);
    }

    #[test]
    fn dependencies_are_heard_of_errors_alone_unless_asked_for() {
        let act = || {
            tracing::warn!(target: "libp2p_kad::handler", "Kademlia PING messages are unsupported");
            tracing::info!(target: "quinn_proto", "chatter");
            tracing::error!(target: "libp2p_tcp", "grave");
            tracing::info!(target: "gridbay_node::overlay", "ours");
        };
        let written = log("info", act);
        assert!(written.contains("grave") && written.contains("ours"));
        assert_eq!(written.lines().count(), 2, "{written}");
        assert_eq!(log("info,libp2p_kad=warn", act).lines().count(), 3);
        assert_eq!(log("info,libp2p=warn", act).lines().count(), 3);
    }

    #[test]
    fn many_causes_write_no_more_than_100_kilobytes_a_minute() {
        let start = Instant::now();
        let (mut written, mut minutes) = (Written::new(), [0; 3]);
        for tick in 0..180_000u32 {
            let at = start + Duration::from_millis(u64::from(tick));
            // Causes of errors among them.
            for cause in [(tick % 8, false), (100 + tick % 8, true)] {
                for bytes in [60, 200] {
                    if let Some(left_out) = written.may(cause, bytes, at) {
                        let note = format!("({left_out} lines like the next were left out)\n");
                        let note = if left_out > 0 { note.len() } else { 0 };
                        minutes[tick as usize / 60_000] += bytes + note;
                    }
                }
            }
        }
        assert!(
            minutes.iter().all(|n| (50_000..=100_000).contains(n)),
            "{minutes:?}"
        );
    }

    #[test]
    fn an_error_is_written_whatever_else_fills_the_log() {
        let (mut written, now) = (Written::new(), Instant::now());
        for cause in 0..10 {
            for _ in 0..1_000 {
                written.may((cause, false), 200, now);
            }
        }
        assert_eq!(written.may((99, false), 200, now), None, "all is taken");
        assert_eq!(written.may((100, true), 200, now), Some(0));
        for _ in 0..1_000 {
            written.may((101, true), 200, now);
        }
        assert_eq!(
            written.may((102, true), 200, now),
            None,
            "errors are bounded"
        );
    }
}
