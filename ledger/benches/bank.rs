//! How long a savings tax takes: the rules alone, next to one apportionment over the same accounts
//! in the same run; and as blocks of a chain, next to the blocks without it.
//!
//! `cargo bench -p gridbay-ledger --bench bank` prints one line per case. The bar is what a block
//! may spend on it; the run fails only beyond three times the bar, so that a busy machine does not
//! fail it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gridbay_ledger::bank::{Bank, Holding, profits, tax};
use gridbay_ledger::{Draft, State};
use gridbay_protocol::bank::{BankPolicy, Redistribution, SavingsTax};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::ids::ValidatorId;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits;
use gridbay_protocol::units::Credits;
use gridbay_protocol::validator::validator_id;
use gridbay_sample as sample;

/// A fifth of the shortest usual time between blocks.
const BAR: Duration = Duration::from_millis(50);

/// Heights from one tax to the next: more than a tax on all accounts takes.
const PERIOD: u64 = 32;

/// The median of nine runs.
fn median<R>(mut run: impl FnMut() -> R) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Accounts around their bases, by a fixed sequence.
fn holdings(count: usize, share: impl Fn(usize) -> u64) -> Vec<Holding> {
    let mut seed = 1u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(11);
        (seed >> 20) % below
    };
    (0..count)
        .map(|index| Holding {
            available: draw(2_000_000_000) as i64,
            frozen: draw(200_000_000),
            base: 1_000_000_000,
            shares: share(index),
            arrears: 0,
        })
        .collect()
}

/// Prints a case and says whether it is within three times the bar.
fn report(case: &str, accounts: &[Holding], mode: Redistribution) -> bool {
    let time = median(|| tax(0, black_box(accounts), 50_000, mode));
    let treasury = accounts.len() as u64 * 10_000_000;
    let baseline = median(|| profits(treasury, black_box(accounts)));
    let ratio = time.as_secs_f64() / baseline.as_secs_f64();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{case:<44} {:8.2} ms | one apportionment {:8.2} ms | {ratio:5.1}x | bar {:.0} ms",
        millis(time),
        millis(baseline),
        millis(BAR),
    );
    time <= 3 * BAR
}

/// A ledger of that many members, each with twice its baseline, taxed every [`PERIOD`] heights.
fn ledger(accounts: u32) -> (State, Chain, ValidatorId) {
    let key = |n: u32, kind: u8| {
        let mut seed = [kind; 32];
        seed[..4].copy_from_slice(&n.to_be_bytes());
        SecretKey::from_seed(&seed)
    };
    let chain = Chain::new(&[7; 32], 1_000);
    let money = Credits::from_micros(2_000_000).expect("a small amount");
    let member = |n: u32| Member {
        validator: (n == 0)
            .then(|| sample::validator(key(n, 2).public(), key(n, 3).public(), chain.tip())),
        ..sample::member(&format!("member{n:06}"), key(n, 1).public(), money)
    };
    let mut bank = BankPolicy::bellagio(250);
    bank.baseline = Credits::from_micros(1_000_000).expect("a small amount");
    bank.tax = bank.tax.map(|tax| SavingsTax {
        every: PERIOD,
        ..tax
    });
    let mut policy = Policy {
        bank,
        ..Policy::local()
    };
    (policy.calendar.round_heights, policy.calendar.slot_rounds) = (PERIOD as u32, 1);
    let members = (0..accounts).map(member).collect();
    let genesis = Genesis {
        policy,
        ..sample::genesis("bench", vec![sample::class("small", 1, 512, 10)], members)
    };
    let state = State::genesis(&genesis).expect("a legal genesis");
    let proposer = validator_id(&key(0, 2).public());
    (state, chain, proposer)
}

/// Makes blocks until a tax has run through all accounts: the block before it, its longest block
/// and its number of blocks. Says whether the difference is within three times the bar.
fn blocks(accounts: u32) -> bool {
    let (mut state, chain, proposer) = ledger(accounts);
    let (mut without, mut longest, mut count) = (Duration::ZERO, Duration::ZERO, 0u32);
    loop {
        let tip = state
            .beacon_tip(&proposer)
            .expect("the validator has a tip");
        let reveal = chain.clone().preimage(&tip);
        let draft = Draft {
            proposer,
            time_ms: state.time_ms() + 250,
            reveal: reveal.expect("the chain is long enough"),
            last_commit: None,
            evidence: vec![],
            entries: vec![],
            hints: vec![],
        };
        if state.height() + 1 == PERIOD - 1 {
            without = median(|| state.propose(draft.clone()));
        } else if state.height() + 1 >= PERIOD {
            longest = longest.max(median(|| state.propose(draft.clone())));
            count += 1;
        }
        let delta = state.propose(draft).delta;
        state.commit(delta);
        if count > 0 && state.sweep().is_none() {
            break;
        }
    }
    let own = longest.saturating_sub(without);
    println!(
        "{:<44} {:8.2} ms | without it        {:8.2} ms | {count:4} blocks | bar {:.0} ms",
        format!("a tax on {accounts} accounts, longest block"),
        longest.as_secs_f64() * 1e3,
        without.as_secs_f64() * 1e3,
        BAR.as_secs_f64() * 1e3,
    );
    own <= 3 * BAR
}

fn main() -> ExitCode {
    let equal = |_| 1_000;
    let small = holdings(1_000, equal);
    let full = holdings(Bank::ACCOUNTS, equal);
    // Shares that halve make the most passes.
    let uneven = holdings(1_000, |index| 1 << (63 - index % 64));
    let good = report("1,000 accounts, deficit", &small, Redistribution::Deficit)
        & report("65,536 accounts, all", &full, Redistribution::All)
        & report("65,536 accounts, deficit", &full, Redistribution::Deficit)
        & report(
            "1,000 accounts, halving shares, deficit",
            &uneven,
            Redistribution::Deficit,
        )
        & blocks(limits::MEMBERS as u32);
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
