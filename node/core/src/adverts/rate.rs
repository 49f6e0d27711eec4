//! How many adverts pass: of a node, of an account, and in all. Pure: the time comes in.
//!
//! 1. A node passes on the adverts that it accepts, and each of its neighbours bounds how many one
//!    peer passes on. An author can take part under any number of names and tell each neighbour
//!    something else. So a node bounds adverts by their *author*, and in all accepts far fewer than
//!    a neighbour takes: whatever others write, it never passes on too many.
//! 2. A node keeps to it with its own adverts as well, and gossips later those that have to wait.
//! 3. The emptier the bucket of all is, the fuller that of an account has to be. So where many
//!    accounts write all they may, those that write seldom still have room.

use super::Place;
use gridbay_protocol::ids::AccountId;
use std::collections::BTreeMap;

/// How much may come: one each so many milliseconds, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertRate {
    /// Milliseconds in which one more may come.
    pub each_ms: u64,
    /// At once.
    pub burst: u64,
}

/// Adverts of one account for one node. A node's free units change with its leases, at most each
/// height.
pub const OF_NODE: AdvertRate = AdvertRate {
    each_ms: 1_000,
    burst: 8,
};
/// Adverts of one account, which has nodes with offers at no more than 64 places.
pub const OF_ACCOUNT: AdvertRate = AdvertRate {
    each_ms: 250,
    burst: 128,
};
/// All adverts: half of what the overlay takes of one peer (`TopicConfig`), at once and for ever.
pub const OF_ALL: AdvertRate = AdvertRate {
    each_ms: 10,
    burst: 1_000,
};

impl AdvertRate {
    /// Milliseconds until an empty bucket is full.
    const fn whole(self) -> u64 {
        self.each_ms * self.burst
    }
}

/// A bucket, as the time at which it is full again.
type Bucket = u64;

/// The adverts that passed lately.
#[derive(Debug, Default)]
pub(super) struct Passed {
    by_node: BTreeMap<Place, Bucket>,
    by_account: BTreeMap<AccountId, Bucket>,
    all: Bucket,
    /// When the buckets that are full were last forgotten.
    swept_ms: u64,
}

/// Milliseconds until a bucket is full.
fn owed(bucket: Option<&Bucket>, now_ms: u64) -> u64 {
    bucket.map_or(0, |at| at.saturating_sub(now_ms))
}

fn holds_one(owed: u64, rate: AdvertRate) -> bool {
    owed + rate.each_ms <= rate.whole()
}

impl Passed {
    /// Whether an advert for this place may pass now.
    pub(super) fn may(&self, place: &Place, now_ms: u64) -> bool {
        let node = owed(self.by_node.get(place), now_ms);
        let account = owed(self.by_account.get(&place.0), now_ms);
        let all = owed(Some(&self.all), now_ms);
        let left = OF_ALL.whole().saturating_sub(all);
        holds_one(node, OF_NODE)
            && holds_one(account, OF_ACCOUNT)
            && holds_one(all, OF_ALL)
            && account * OF_ALL.whole() <= left * OF_ACCOUNT.whole()
    }

    /// One passes. Since the bucket of all bounds how many do, it bounds how many others are not
    /// full.
    pub(super) fn take(&mut self, place: Place, now_ms: u64) {
        if now_ms >= self.swept_ms + OF_NODE.each_ms {
            self.by_node.retain(|_, at| *at > now_ms);
            self.by_account.retain(|_, at| *at > now_ms);
            self.swept_ms = now_ms;
        }
        let later = |bucket: &mut Bucket, rate: AdvertRate| {
            *bucket = (*bucket).max(now_ms) + rate.each_ms;
        };
        later(self.by_node.entry(place).or_default(), OF_NODE);
        later(self.by_account.entry(place.0).or_default(), OF_ACCOUNT);
        later(&mut self.all, OF_ALL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn place(account: u8, node: u8) -> Place {
        let node = SecretKey::from_seed(&[node; 32]).public();
        (AccountId([account; 32]), node)
    }

    /// How many of those that are tried each so many milliseconds pass, until a time.
    fn passed(passed: &mut Passed, places: &[Place], each_ms: u64, until_ms: u64) -> Vec<u64> {
        let mut counts = vec![0; places.len()];
        for now in (0..until_ms).step_by(each_ms as usize) {
            for (place, count) in places.iter().zip(&mut counts) {
                if passed.may(place, now) {
                    passed.take(*place, now);
                    *count += 1;
                }
            }
        }
        counts
    }

    #[test]
    fn a_node_and_an_account_have_a_burst_and_a_rate() {
        let one = [place(1, 1)];
        let of_node = passed(&mut Passed::default(), &one, 1, 60_000)[0];
        assert_eq!(of_node, OF_NODE.burst + 59);
        let many: Vec<Place> = (0..200).map(|n| place(1, n)).collect();
        let of_account: u64 = passed(&mut Passed::default(), &many, 5, 60_000)
            .iter()
            .sum();
        let bound = OF_ACCOUNT.burst + 60_000 / OF_ACCOUNT.each_ms;
        assert!((bound - 2..=bound).contains(&of_account), "{of_account}");
    }

    #[test]
    fn an_account_at_its_bound_takes_nothing_from_another() {
        let mut all = Passed::default();
        let many: Vec<Place> = (0..200).map(|n| place(1, n)).collect();
        passed(&mut all, &many, 5, 10_000);
        assert!(!all.may(&place(1, 255), 9_999));
        assert!(all.may(&place(2, 255), 9_999));
    }

    #[test]
    fn all_accounts_together_leave_room_for_one_that_writes_seldom() {
        let mut all = Passed::default();
        let mut greedy: Vec<Place> = Vec::new();
        for account in 1..200 {
            greedy.extend((0..4).map(|node| place(account, node)));
        }
        let seldom = place(250, 1);
        let (mut count, mut seldom_count) = (0, 0);
        for now in (0..60_000).step_by(5) {
            if now % 2_000 == 0 && all.may(&seldom, now) {
                all.take(seldom, now);
                seldom_count += 1;
            }
            for place in &greedy {
                if all.may(place, now) {
                    all.take(*place, now);
                    count += 1;
                }
            }
        }
        assert!(count <= OF_ALL.burst + 60_000 / OF_ALL.each_ms, "{count}");
        assert_eq!(seldom_count, 30, "beside {count}");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut all = Passed::default();
        for now in 0..200_000_u64 {
            let mut node = [0; 32];
            node[..8].copy_from_slice(&(now % 50_000).to_be_bytes());
            let place = (AccountId(node), place(0, 1).1);
            if all.may(&place, now) {
                all.take(place, now);
            }
            let most = OF_ALL.burst + OF_NODE.whole() / OF_ALL.each_ms + 200;
            assert!(all.by_node.len() as u64 <= most);
            assert!(all.by_account.len() as u64 <= most);
        }
    }
}
