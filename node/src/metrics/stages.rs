//! Processor time of the core's thread for the ledger, by stage.

use super::text::{Text, seconds};
use gridbay_host::{Stage, Stopwatch};
use nix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Nanoseconds of each stage, in the order of [`Stage::ALL`].
#[derive(Debug, Default)]
pub(super) struct StageTimes([AtomicU64; Stage::ALL.len()]);

impl StageTimes {
    pub(super) fn metrics(&self, text: &mut Text) {
        let micros = |stage: Stage| self.0[stage as usize].load(Relaxed) / 1_000;
        let of = |stage: Stage| (stage.name(), seconds(micros(stage)));
        text.by(
            ("gridbay_ledger_stage_seconds_total", "stage"),
            Stage::ALL.map(of),
        );
    }
}

impl Stopwatch for StageTimes {
    fn used(&self) -> u64 {
        let used = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
        used.map_or(0, |used| {
            let nanos = used.tv_sec().saturating_mul(1_000_000_000);
            u64::try_from(nanos.saturating_add(used.tv_nsec())).unwrap_or(0)
        })
    }

    fn spent(&self, stage: Stage, nanos: u64) {
        self.0[stage as usize].fetch_add(nanos, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_host::Stages;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn a_stage_counts_the_time_that_its_thread_works_not_that_it_waits() {
        let times = Arc::new(StageTimes::default());
        let stages = Stages::by(Arc::clone(&times) as Arc<dyn Stopwatch>);
        stages.time(Stage::Verify, || {
            let end = times.used() + 20_000_000;
            while times.used() < end {}
        });
        stages.time(Stage::Disk, || {
            std::thread::sleep(Duration::from_millis(50))
        });
        times.spent(Stage::Execute, 2_500_000);
        let of = |stage: Stage| times.0[stage as usize].load(Relaxed);
        assert!(of(Stage::Verify) >= 20_000_000);
        assert!(of(Stage::Disk) < 20_000_000, "{}", of(Stage::Disk));
        let mut text = Text::default();
        times.metrics(&mut text);
        for line in [
            "gridbay_ledger_stage_seconds_total{stage=\"execute\"} 0.0025",
            "gridbay_ledger_stage_seconds_total{stage=\"encode\"} 0",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line} in {}", text.0);
        }
    }
}
