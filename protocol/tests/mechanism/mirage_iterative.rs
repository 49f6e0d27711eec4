//! Iterative bidding: in an open book bidders raise step by step until it closes.
//!
//! A would pay 100 for the unit, B 60. Under first prices A needs only just more than B's last bid;
//! but if the book closes while they still raise, B may be ahead, and 40 % of the value is lost.
//! Under `exact` one sealed truthful bid does as well as any sequence of bids that ends in it, and
//! a bidder that ends elsewhere harms itself alone.

use crate::mirage::{bid, exact, greedy, market, sealed};

const VALUES: [u64; 2] = [100, 60];
const STEP: u64 = 5;

/// The leader and its bid after `revisions` of an open book, each by the bidder that is behind and
/// can still raise.
fn open_book(revisions: u32) -> (u64, u64) {
    let mut bids = [STEP, 0];
    let clear = |bids: &[u64; 2]| {
        let bids = [0, 1].map(|id| bid(id, bids[id as usize], 1, 1, 1));
        greedy(&market(1, 1, 10, bids.into()))[0]
    };
    for _ in 0..revisions {
        let (leader, price) = clear(&bids);
        let behind = 1 - leader as usize;
        if price + STEP > VALUES[behind] {
            break;
        }
        bids[behind] = price + STEP;
    }
    clear(&bids)
}

#[test]
fn an_early_close_takes_the_wrong_bidder() {
    // 5, 10, 15 ... in turns: after an odd number of revisions B leads, until it can follow no
    // more.
    let leaders: Vec<u64> = (0..20).map(|k| open_book(k).0).collect();
    let wrong: Vec<usize> = (0..20).filter(|&k| leaders[k] == 1).collect();
    assert_eq!(wrong, [1, 3, 5, 7, 9, 11]);
    let efficiency = |k: u32| 100 * VALUES[open_book(k).0 as usize] / VALUES[0];
    assert_eq!([efficiency(11), efficiency(12)], [60, 100]);
    // Left to run, A wins just above what B would pay.
    assert_eq!(open_book(19), (0, VALUES[1] + STEP));
}

#[test]
fn one_sealed_truth_gives_what_any_sequence_gives() {
    let sealed_bids = |a: u64, b: u64| exact(1, 0, &[sealed(0, 0, vec![a]), sealed(1, 0, vec![b])]);
    assert_eq!(sealed_bids(100, 60), [(0, 1, 60)]);
    // Wherever A's revisions end, it has no more than by the truth: 40 if it wins, nothing else.
    let gain = |a: u64| match sealed_bids(a, 60)[..] {
        [(0, _, pay)] => VALUES[0] as i64 - pay as i64,
        _ => 0,
    };
    let gains: Vec<i64> = (0..=200).step_by(STEP as usize).map(gain).collect();
    assert_eq!(gains.iter().max(), Some(&gain(100)));
    assert!(gains.iter().all(|&gain| gain == 40 || gain == 0));
    // B's revisions above its value only cost it: it wins at A's price.
    assert_eq!(sealed_bids(100, 101), [(1, 1, 100)]);
}
