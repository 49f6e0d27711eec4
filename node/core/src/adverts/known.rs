//! The adverts that a node keeps, with bounds for each account and for all.
//!
//! Anybody with an account can sign adverts for nodes that nobody has. So an account has room for
//! [`ADVERTS_PER_ACCOUNT`], and if all room is taken, the account that has most of it gives one up.
//! An account gives up its least useful advert: one that has nothing on sale, and of these the one
//! that expires first.

use super::Place;
use gridbay_protocol::advert::{Advert, SignedAdvert};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits::OFFERS_PER_ACCOUNT;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adverts that are kept at the most: some 160 MB with the longest ones, 10 MB with usual ones.
pub const ADVERTS: usize = 10_000;
/// Of these, of one account: an advert without an offer is of no use to anybody, and an offer
/// stands at one node.
pub const ADVERTS_PER_ACCOUNT: usize = OFFERS_PER_ACCOUNT;

type OfAccount = BTreeMap<PublicKey, Arc<SignedAdvert>>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Known {
    by_account: BTreeMap<AccountId, OfAccount>,
    len: usize,
    /// Height at which what had expired was last dropped.
    swept: u64,
}

impl Known {
    pub(super) fn get(&self, (account, node): &Place) -> Option<&Arc<SignedAdvert>> {
        self.by_account.get(account)?.get(node)
    }

    /// All, ascending by place.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<SignedAdvert>> {
        self.by_account.values().flat_map(BTreeMap::values)
    }

    /// Those behind a place, ascending.
    pub(super) fn after(&self, place: Option<Place>) -> impl Iterator<Item = &Arc<SignedAdvert>> {
        let from = place.map(|(account, _)| account).unwrap_or_default();
        let accounts = self.by_account.range(from..);
        let all = accounts.flat_map(|(id, own)| own.iter().map(move |(node, a)| ((*id, *node), a)));
        all.filter(move |(at, _)| place.is_none_or(|place| *at > place))
            .map(|(_, advert)| advert)
    }

    /// Keeps an advert, in the place of an older one of the same node or of a less useful one if
    /// there is no room. Returns whether it was kept. `useful`: whether an advert has something on
    /// sale.
    pub(super) fn insert(
        &mut self,
        signed: Arc<SignedAdvert>,
        height: u64,
        useful: impl Fn(&Advert) -> bool,
    ) -> bool {
        let place = (signed.advert.account, signed.advert.node);
        if self.get(&place).is_none() && !self.make_room(&signed.advert, height, useful) {
            return false;
        }
        let own = self.by_account.entry(place.0).or_default();
        self.len += usize::from(own.insert(place.1, signed).is_none());
        true
    }

    /// Whether there is room for an advert of another node, now.
    fn make_room(&mut self, new: &Advert, height: u64, useful: impl Fn(&Advert) -> bool) -> bool {
        let own = self.by_account.get(&new.account).map_or(0, BTreeMap::len);
        if own < ADVERTS_PER_ACCOUNT && self.len < ADVERTS {
            return true;
        }
        if self.swept < height {
            self.sweep(height);
            return self.make_room(new, height, useful);
        }
        let giver = match own < ADVERTS_PER_ACCOUNT {
            true => self.largest(),
            false => Some(new.account),
        };
        let rank = |advert: &Advert| (useful(advert), advert.valid_until);
        let least = giver.and_then(|id| {
            let all = self.by_account.get(&id)?.values();
            all.map(|s| (rank(&s.advert), (id, s.advert.node))).min()
        });
        match least {
            // Something useful gives way to something useful alone.
            Some(((worth, _), place)) if worth <= useful(new) => {
                self.remove(&place);
                true
            }
            _ => false,
        }
    }

    /// The account with most adverts.
    fn largest(&self) -> Option<AccountId> {
        let all = self.by_account.iter();
        all.max_by_key(|(_, own)| own.len()).map(|(id, _)| *id)
    }

    fn remove(&mut self, (account, node): &Place) {
        let Some(own) = self.by_account.get_mut(account) else {
            return;
        };
        self.len -= usize::from(own.remove(node).is_some());
        if own.is_empty() {
            self.by_account.remove(account);
        }
    }

    /// Drops what has expired.
    fn sweep(&mut self, height: u64) {
        self.swept = height;
        self.by_account.retain(|_, own| {
            own.retain(|_, signed| signed.advert.valid_until >= height);
            !own.is_empty()
        });
        self.len = self.by_account.values().map(BTreeMap::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::{SecretKey, Signature};

    /// An advert of an account for its nth node; one with an address counts as useful here.
    fn advert(account: usize, n: usize, valid_until: u64, useful: bool) -> Arc<SignedAdvert> {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&(n as u64).to_be_bytes());
        let mut id = [0; 32];
        id[..8].copy_from_slice(&(account as u64).to_be_bytes());
        let node = SecretKey::from_seed(&seed).public();
        let advert = Advert {
            account: AccountId(id),
            key: node,
            node,
            sequence: 1,
            valid_until,
            lines: vec![],
            attributes: BTreeMap::new(),
            round_trips: vec![],
            addresses: vec![String::new(); usize::from(useful)],
        };
        let signature = Signature([0; 64]);
        Arc::new(SignedAdvert { advert, signature })
    }

    fn insert(known: &mut Known, signed: &Arc<SignedAdvert>, height: u64) -> bool {
        let useful = |advert: &Advert| !advert.addresses.is_empty();
        known.insert(Arc::clone(signed), height, useful)
    }

    fn of(known: &Known, account: usize) -> usize {
        let place = advert(account, 0, 0, false).advert.account;
        known.by_account.get(&place).map_or(0, BTreeMap::len)
    }

    #[test]
    fn an_account_keeps_its_most_useful_adverts() {
        let mut known = Known::default();
        let good = advert(1, 999, 5, true);
        assert!(insert(&mut known, &good, 1));
        for n in 0..1_000 {
            insert(&mut known, &advert(1, n, 9, false), 1);
            assert!(of(&known, 1) <= ADVERTS_PER_ACCOUNT);
        }
        assert_eq!(of(&known, 1), ADVERTS_PER_ACCOUNT);
        let place = (good.advert.account, good.advert.node);
        assert!(known.get(&place).is_some(), "what sells stays");
        assert!(
            insert(&mut known, &advert(2, 1, 9, false), 1),
            "others have room"
        );
        assert_eq!(known.len, known.iter().count());
    }

    #[test]
    fn the_largest_gives_way_when_all_is_full_and_the_expired_before() {
        let mut known = Known::default();
        let (few, many) = (ADVERTS / 50, 50);
        let keys: Vec<_> = (0..many).map(|n| advert(0, n, 9, true)).collect();
        for account in 1..=few {
            for key in &keys {
                let mut own = key.as_ref().clone();
                own.advert.account = advert(account, 0, 0, true).advert.account;
                assert!(insert(&mut known, &Arc::new(own), 1));
            }
        }
        assert_eq!(known.len, ADVERTS);
        assert!(
            !insert(&mut known, &advert(few + 1, 0, 9, false), 1),
            "useless"
        );
        assert!(insert(&mut known, &advert(few + 1, 0, 9, true), 1));
        assert_eq!((known.len, of(&known, few + 1)), (ADVERTS, 1));
        assert!((1..=few).all(|account| of(&known, account) >= many - 1));
        assert!(
            insert(&mut known, &advert(few + 2, 0, 30, false), 10),
            "all expired"
        );
        assert_eq!((known.len, known.iter().count()), (1, 1));
    }

    #[test]
    fn pages_go_on_behind_a_place() {
        let mut known = Known::default();
        for account in 1..4 {
            for n in 0..3 {
                insert(&mut known, &advert(account, n, 9, true), 1);
            }
        }
        let places: Vec<Place> = known
            .iter()
            .map(|s| (s.advert.account, s.advert.node))
            .collect();
        assert!(places.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(known.after(None).count(), 9);
        for (at, place) in places.iter().enumerate() {
            assert_eq!(known.after(Some(*place)).count(), 8 - at);
        }
    }
}
