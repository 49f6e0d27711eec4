//! The bank's operations written as the rules tell them, in signed wide numbers, knowing nothing of
//! the ledger's code.

use std::collections::BTreeMap;

/// An operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Open { id: u64, base: u64, shares: u64 },
    Bid { bid: u64, account: u64, amount: u64 },
    Cancel { bid: u64 },
    Clear(Clear),
    Tax { ppm: u32, deficit: bool },
}

/// The clearing of bids.
#[derive(Clone, Debug)]
pub(crate) struct Clear {
    pub(crate) winners: Vec<(u64, u64)>,
    pub(crate) owners: Option<BTreeMap<u64, Vec<(u64, u64)>>>,
    pub(crate) keep_losers: bool,
}

/// An account: base, shares, available, frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) base: i128,
    pub(crate) shares: i128,
    pub(crate) available: i128,
    pub(crate) frozen: i128,
}

/// The books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) accounts: BTreeMap<u64, Account>,
    pub(crate) bids: BTreeMap<u64, (u64, i128)>,
    pub(crate) treasury: i128,
    pub(crate) minted: i128,
}

/// Floors, then one by one to the account furthest below its exact part.
pub(crate) fn apportion(total: i128, weights: &[i128]) -> Vec<i128> {
    let sum: i128 = weights.iter().sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let mut parts: Vec<i128> = weights.iter().map(|w| total * w / sum).collect();
    let mut rests: Vec<i128> = weights.iter().map(|w| total * w % sum).collect();
    while parts.iter().sum::<i128>() < total {
        let most = *rests.iter().max().unwrap();
        let first = rests.iter().position(|r| *r == most).unwrap();
        parts[first] += 1;
        rests[first] = -1;
    }
    parts
}

impl Model {
    /// Whether the operation is accepted.
    pub(crate) fn apply(&mut self, op: &Op) -> bool {
        let mut after = self.clone();
        let done = after.try_apply(op).is_some();
        if done {
            *self = after;
        }
        done
    }

    fn try_apply(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Open { id, base, shares } => {
                let base = i128::from(*base);
                self.minted += base;
                let account = Account {
                    base,
                    shares: i128::from(*shares),
                    available: base,
                    frozen: 0,
                };
                let new = self.accounts.insert(*id, account).is_none();
                (new && self.minted < 1 << 63).then_some(())
            }
            Op::Bid {
                bid,
                account,
                amount,
            } => {
                let amount = i128::from(*amount);
                let holder = self.accounts.get_mut(account)?;
                holder.available -= amount;
                holder.frozen += amount;
                let funded = holder.available >= 0;
                let new = self.bids.insert(*bid, (*account, amount)).is_none();
                (funded && new).then_some(())
            }
            Op::Cancel { bid } => self.thaw(*bid, 0),
            Op::Clear(clear) => self.clear(clear),
            Op::Tax { ppm, deficit } => {
                self.tax(*ppm, *deficit);
                Some(())
            }
        }
    }

    fn thaw(&mut self, bid: u64, price: i128) -> Option<()> {
        let (account, amount) = self.bids.remove(&bid)?;
        let holder = self.accounts.get_mut(&account)?;
        holder.frozen -= amount;
        holder.available += amount - price;
        (price <= amount).then_some(())
    }

    fn clear(&mut self, clear: &Clear) -> Option<()> {
        for (bid, price) in &clear.winners {
            let price = i128::from(*price);
            self.thaw(*bid, price)?;
            let owners = clear.owners.as_ref().and_then(|o| o.get(bid));
            let owners: BTreeMap<u64, u64> = owners.into_iter().flatten().copied().collect();
            let weights: Vec<i128> = owners.values().map(|w| i128::from(*w)).collect();
            let mut left = price;
            for (owner, part) in owners.keys().zip(apportion(price, &weights)) {
                self.accounts.get_mut(owner)?.available += part;
                left -= part;
            }
            self.treasury += left;
        }
        if !clear.keep_losers {
            let losers: Vec<u64> = self.bids.keys().copied().collect();
            losers.into_iter().try_for_each(|bid| self.thaw(bid, 0))?;
        }
        if clear.owners.is_none() {
            self.share(|_| true, |_| i128::MAX);
        }
        Some(())
    }

    fn tax(&mut self, ppm: u32, deficit: bool) {
        for account in self.accounts.values_mut() {
            let excess = (account.available + account.frozen - account.base).max(0);
            let tax = (excess * i128::from(ppm) / 1_000_000).min(account.available);
            account.available -= tax;
            self.treasury += tax;
        }
        if !deficit {
            self.share(|_| true, |_| i128::MAX);
            return;
        }
        let gap = |a: &Account| a.base - a.available - a.frozen;
        while self.share(|a| gap(a) > 0, gap) {}
    }

    /// Shares the treasury out once; whether anything moved.
    fn share(&mut self, who: impl Fn(&Account) -> bool, most: impl Fn(&Account) -> i128) -> bool {
        let weight = |a: &Account| if who(a) { a.shares } else { 0 };
        let weights: Vec<i128> = self.accounts.values().map(weight).collect();
        let before = self.treasury;
        let cuts = apportion(before, &weights);
        for (account, cut) in self.accounts.values_mut().zip(cuts) {
            let amount = cut.min(most(account)).max(0);
            account.available += amount;
            self.treasury -= amount;
        }
        self.treasury != before
    }
}
