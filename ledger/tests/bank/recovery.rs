//! How fast exhausted accounts recover when nobody trades: 20 equal accounts, 5 % every four hours.

use gridbay_ledger::bank::{Holding, levy, tax};
use gridbay_protocol::bank::Redistribution::{self, All, Deficit};

const BASE: u64 = 1_000_000_000;
const LEVIES_PER_DAY: usize = 6;

/// Levies until the first account has `percent` of its base, when `exhausted` of 20 have nothing
/// and the others all.
fn levies(mode: Redistribution, exhausted: usize, percent: u64) -> usize {
    let savers = 20 - exhausted as u64;
    let mut accounts: Vec<Holding> = (0..20)
        .map(|index| Holding {
            available: if index < exhausted {
                0
            } else {
                (20 * BASE / savers) as i64
            },
            base: BASE,
            shares: 1_000,
            ..Holding::default()
        })
        .collect();
    let mut treasury = 20 * BASE - accounts.iter().map(|a| a.available as u64).sum::<u64>();
    let goal = (BASE / 100 * percent) as i64;
    for count in 0..10_000 {
        if accounts[0].available >= goal {
            return count;
        }
        let moved = tax(treasury, &accounts, 50_000, mode);
        for (account, (levy, given)) in accounts
            .iter_mut()
            .zip(moved.levies.iter().zip(&moved.given))
        {
            account.available += *given as i64 - levy.taken as i64;
        }
        treasury = moved.treasury;
    }
    panic!("never recovers");
}

/// Tenths of days, to the nearest.
fn tenths_of_days(levies: usize) -> usize {
    (levies * 10 + LEVIES_PER_DAY / 2) / LEVIES_PER_DAY
}

#[test]
fn half_and_nearly_all() {
    let table = [
        // mode, exhausted of 20, levies and tenths of days to 50 %, the same to 95 %
        (Deficit, 1, (14, 23), (59, 98)),
        (All, 1, (277, 462), (1_197, 1_995)),
        (Deficit, 10, (14, 23), (59, 98)),
        (All, 10, (28, 47), (119, 198)),
    ];
    for (mode, exhausted, half, most) in table {
        for (percent, (count, days)) in [(50, half), (95, most)] {
            let found = levies(mode, exhausted, percent);
            assert_eq!(found, count, "{mode:?}, {exhausted} of 20, {percent} %");
            assert_eq!(tenths_of_days(found), days);
        }
    }
}

/// An account with twice its base freezes everything before each levy and thaws it after.
#[test]
fn who_freezes_at_each_levy_pays_only_where_arrears_are_kept() {
    let saver = Holding {
        available: 2 * BASE as i64,
        base: BASE,
        shares: 1,
        ..Holding::default()
    };
    let saved = |keeps_arrears: bool| {
        let mut saver = saver;
        for _ in 0..14 {
            let frozen = Holding {
                available: 0,
                frozen: saver.available as u64,
                ..saver
            };
            let evaded = levy(&frozen, 50_000);
            assert_eq!(evaded.taken, 0);
            if keeps_arrears {
                saver.arrears = evaded.owed;
                let thawed = levy(&saver, 0);
                saver.available -= thawed.taken as i64;
                saver.arrears = thawed.owed;
            }
        }
        saver.available as u64 - BASE
    };
    assert_eq!(saved(false), BASE);
    // 0.95^14 = 0.4877, as for one that does not evade.
    assert_eq!(saved(true) * 10_000 / BASE, 4_876);
}
