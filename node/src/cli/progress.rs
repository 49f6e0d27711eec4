//! How far bytes have come, or how much is done of what is counted, on one line of a terminal that
//! the next words take the place of. Elsewhere, and of what is done at once, nothing is said.

use crate::ui;
use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

/// Nothing is told of work that is done within this time.
const QUIET: Duration = Duration::from_millis(700);
/// Between two lines.
const PAUSE: Duration = Duration::from_millis(150);
/// Characters of the bar.
const BAR: u64 = 20;

/// Work under way.
#[derive(Debug)]
pub(super) struct Progress {
    name: String,
    /// What is counted; bytes if `None`.
    counted: Option<&'static str>,
    all: u64,
    done: u64,
    begun: Instant,
    /// When the next line is due; `None` where nobody reads it.
    next: Option<Instant>,
    told: bool,
}

impl Progress {
    /// Of so many bytes; the name says what is done with what.
    pub(super) fn new(name: impl Into<String>, all: u64) -> Progress {
        Progress::of(name.into(), all, None)
    }

    /// Of so many things.
    pub(super) fn counting(name: impl Into<String>, all: u64, what: &'static str) -> Progress {
        Progress::of(name.into(), all, Some(what))
    }

    fn of(name: String, all: u64, counted: Option<&'static str>) -> Progress {
        let begun = Instant::now();
        Progress {
            name,
            counted,
            all,
            done: 0,
            begun,
            next: stderr().is_terminal().then(|| begun + QUIET),
            told: false,
        }
    }

    /// So many more have come.
    pub(super) fn add(&mut self, more: usize) {
        self.done = self.done.saturating_add(more as u64);
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            let done = bar(&self.name, self.done, self.all);
            ui::passing(&match self.counted {
                None => done + &bytes(self.done, self.all, self.begun.elapsed()),
                Some(what) => done + &format!("{} of {} {what}", self.done, self.all),
            });
            (self.next, self.told) = (Some(now + PAUSE), true);
        }
    }
}

impl Drop for Progress {
    /// The line goes, whatever comes after it.
    fn drop(&mut self) {
        if self.told {
            let _ = ui::err(b"");
        }
    }
}

/// The part that is done.
fn bar(name: &str, done: u64, all: u64) -> String {
    let whole = all.max(done).max(1);
    let part = |of: u64| (u128::from(done) * u128::from(of) / u128::from(whole)) as u64;
    let bar: String = (0..BAR)
        .map(|at| if at < part(BAR) { '#' } else { '.' })
        .collect();
    format!("{name} [{bar}] {}%, ", part(100))
}

/// How many bytes there are, and how fast they come.
fn bytes(done: u64, all: u64, time: Duration) -> String {
    let mib = |bytes: u64| format!("{}.{}", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20);
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = mib(done.saturating_mul(1_000) / ms);
    format!("{} of {} MiB, {rate} MiB/s", mib(done), mib(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_how_far_it_is_and_how_fast() {
        let told = |done: u64, all: u64| {
            bar("get a", done, all) + &bytes(done, all, Duration::from_secs(2))
        };
        assert_eq!(
            told(0, 0),
            "get a [....................] 0%, 0.0 of 0.0 MiB, 0.0 MiB/s"
        );
        let half = "get a [##########..........] 50%, 5.0 of 10.0 MiB, 2.5 MiB/s";
        assert_eq!(told(5 << 20, 10 << 20), half);
        assert!(
            told(3 << 20, 1 << 20).contains("100%"),
            "more than was said"
        );
        assert!(told(u64::MAX, u64::MAX).contains("100%"));
    }

    #[test]
    fn what_is_counted_is_told_by_its_part() {
        let half = "checking [##########..........] 50%, ";
        assert_eq!(bar("checking", 200, 400), half);
        assert_eq!(
            bar("checking", 0, 0),
            "checking [....................] 0%, "
        );
        let mut progress = Progress::counting("checking", 400, "blocks");
        progress.next = Some(Instant::now() - PAUSE);
        progress.add(1);
        assert!(progress.told && progress.done == 1);
    }

    #[test]
    fn nothing_is_said_where_nobody_reads_it() {
        let mut progress = Progress::new("get a", 10);
        progress.next = None;
        progress.begun -= Duration::from_secs(9);
        progress.add(5);
        assert!(!progress.told && progress.done == 5);
    }
}
