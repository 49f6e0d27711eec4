//! Trades with and without an attack, in the same run and in turns.

use std::time::{Duration, Instant};

use crate::attacker::Attacker;
use crate::market::{Market, eventually, soon};

/// Calm, then attacked, so often.
const ROUNDS: usize = 3;
/// How long each is timed.
const WINDOW: Duration = Duration::from_millis(1500);
/// The bar for the ratio of the two 99th percentiles is 2. Machines that run tests are noisy, and
/// the attacker takes its share of their cores, so only three times the bar fails.
const FACTOR: u32 = 6;
/// Below this a ratio says nothing.
const FLOOR: Duration = Duration::from_millis(50);

/// Times of trades, in two states of the world.
pub(crate) struct Compared {
    calm: Vec<Duration>,
    attacked: Vec<Duration>,
    failed: u64,
    resident_mib: (f64, f64),
}

/// Lets attackers loose on a market, in turns with calm. `loose` begins the attack of a round. Each
/// is over when its window is, and every attacker has to be shut out by then or a little later,
/// unless it is not `banned` for what it does.
pub(crate) async fn compare<F>(market: &Market, banned: bool, mut loose: F) -> Compared
where
    F: AsyncFnMut(usize) -> Vec<Attacker>,
{
    let mut compared = Compared {
        calm: Vec::new(),
        attacked: Vec::new(),
        failed: 0,
        resident_mib: (resident_mib(), 0.0),
    };
    // The first measurement is slower than the rest.
    tokio::time::sleep(WINDOW / 2).await;
    for round in 0..ROUNDS {
        market.take();
        tokio::time::sleep(WINDOW).await;
        let (mut times, failed) = market.take();
        compared.calm.append(&mut times);
        compared.failed += failed;
        let attackers = loose(round).await;
        tokio::time::sleep(WINDOW).await;
        let (mut times, failed) = market.take();
        compared.attacked.append(&mut times);
        compared.failed += failed;
        market.is_bounded();
        compared.resident_mib.1 = compared.resident_mib.1.max(resident_mib());
        if banned {
            for attacker in &attackers {
                let out = soon(|| attacker.is_out()).await;
                assert!(out, "not shut out; {}", market.counted());
                assert!(market.nodes.iter().all(|n| !n.has(&attacker.peer)));
            }
        }
    }
    compared
}

impl Compared {
    /// Prints the figures and asserts that the honest hardly noticed.
    pub(crate) fn judge(mut self, attack: &str) {
        let (calm, attacked) = (quantiles(&mut self.calm), quantiles(&mut self.attacked));
        let (before, most) = self.resident_mib;
        println!(
            "{attack}: {} calm trades, p50 {:?} p99 {:?}; {} attacked, p50 {:?} p99 {:?}; ratio of p99 {:.2}; resident {before:.0} to \
             {most:.0} MiB, attackers included",
            self.calm.len(),
            calm.0,
            calm.1,
            self.attacked.len(),
            attacked.0,
            attacked.1,
            attacked.1.as_secs_f64() / calm.1.as_secs_f64(),
        );
        assert_eq!(self.failed, 0, "{attack}: trades failed");
        assert!(
            attacked.1 <= calm.1 * FACTOR + FLOOR,
            "{attack}: p99 {:?} attacked, {:?} calm",
            attacked.1,
            calm.1
        );
        assert!(most - before < 512.0, "{attack}: {before} to {most} MiB");
    }
}

/// Median and 99th percentile.
fn quantiles(times: &mut [Duration]) -> (Duration, Duration) {
    assert!(times.len() >= 50, "only {} trades", times.len());
    times.sort_unstable();
    let at = |q: usize| times[(times.len() - 1) * q / 100];
    (at(50), at(99))
}

/// Resident memory of this process.
pub(crate) fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap() / 1024.0
}

/// Waits, at most so long, and returns how long it took.
pub(crate) async fn timed(what: &str, condition: impl Fn() -> bool) -> Duration {
    let begin = Instant::now();
    eventually(what, condition).await;
    begin.elapsed()
}
