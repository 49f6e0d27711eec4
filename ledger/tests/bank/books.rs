//! Random operations on the books, each compared with the model.

use super::model::{Clear, Model, Op};
use gridbay_ledger::bank::{Bank, BankError, Revenue, Winner};
use gridbay_protocol::bank::Redistribution;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Small amounts, usual ones, and ones at the end of the range.
fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..20u64,
        0..2_000_000_000u64,
        (0..1u64 << 63),
        Just((1 << 63) - 1)
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let (account, bid) = (0..6u64, 0..8u64);
    let list = vec((account.clone(), 0..5u64), 0..4);
    let owners = proptest::option::of(btree_map(bid.clone(), list, 0..6));
    // Prices of small bids are often in range, others seldom.
    let winners = vec((bid.clone(), amount()), 0..4);
    let clear = (winners, owners, any::<bool>()).prop_map(|(winners, owners, keep_losers)| {
        Op::Clear(Clear {
            winners,
            owners,
            keep_losers,
        })
    });
    let rate = prop_oneof![Just(0), Just(1), Just(50_000), 0..=1_000_000u32];
    prop_oneof![
        3 => (account.clone(), amount(), amount())
            .prop_map(|(id, base, shares)| Op::Open { id, base, shares }),
        4 => (bid.clone(), account, amount())
            .prop_map(|(bid, account, amount)| Op::Bid { bid, account, amount }),
        1 => bid.prop_map(|bid| Op::Cancel { bid }),
        4 => clear,
        3 => (rate, any::<bool>()).prop_map(|(ppm, deficit)| Op::Tax { ppm, deficit }),
    ]
}

fn apply(bank: &mut Bank, op: &Op) -> Result<(), BankError> {
    match op {
        Op::Open { id, base, shares } => bank.open(*id, *base, *shares),
        Op::Bid {
            bid,
            account,
            amount,
        } => bank.bid(*bid, *account, *amount),
        Op::Cancel { bid } => bank.cancel(*bid),
        Op::Clear(clear) => {
            let winner = |&(bid, price): &(u64, u64)| Winner { bid, price };
            let winners: Vec<Winner> = clear.winners.iter().map(winner).collect();
            let revenue = clear
                .owners
                .as_ref()
                .map_or(Revenue::Shares, Revenue::Owners);
            bank.clear(&winners, revenue, clear.keep_losers)
        }
        Op::Tax { ppm, deficit: true } => bank.tax(*ppm, Redistribution::Deficit),
        Op::Tax { ppm, .. } => bank.tax(*ppm, Redistribution::All),
    }
}

/// The refusal that the rules have and the model has not: one owner listed twice for a bid.
fn is_ambiguous(op: &Op) -> bool {
    let Op::Clear(Clear {
        owners: Some(owners),
        ..
    }) = op
    else {
        return false;
    };
    owners.values().any(|list| {
        let mut ids: Vec<u64> = list.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.windows(2).any(|w| w[0] == w[1])
    })
}

fn assert_same(bank: &Bank, model: &Model) {
    assert_eq!(i128::from(bank.treasury()), model.treasury);
    assert_eq!(i128::from(bank.minted()), model.minted);
    assert_eq!(bank.accounts().len(), model.accounts.len());
    for ((id, account), (other, expect)) in bank.accounts().zip(&model.accounts) {
        assert_eq!(id, *other);
        let found = [
            account.base,
            account.shares,
            account.available,
            account.frozen,
        ];
        let expect = [expect.base, expect.shares, expect.available, expect.frozen];
        assert_eq!(found.map(i128::from), expect, "account {id}");
    }
    let bids: Vec<_> = bank
        .bids()
        .map(|(id, bid)| (id, bid.account, bid.amount))
        .collect();
    let expect = model
        .bids
        .iter()
        .map(|(id, (account, amount))| (*id, *account, *amount as u64));
    assert_eq!(bids, expect.collect::<Vec<_>>());
}

/// Conservation, and frozen money that is exactly the bids'.
fn assert_sound(bank: &Bank) {
    let held = |(_, a): (u64, &gridbay_ledger::bank::Account)| {
        u128::from(a.available) + u128::from(a.frozen)
    };
    let sum: u128 = bank.accounts().map(held).sum();
    assert_eq!(sum + u128::from(bank.treasury()), u128::from(bank.minted()));
    for (id, account) in bank.accounts() {
        let bids = bank.bids().filter(|(_, bid)| bid.account == id);
        let frozen: u128 = bids.map(|(_, bid)| u128::from(bid.amount)).sum();
        assert_eq!(u128::from(account.frozen), frozen);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_operation_does_what_the_model_does(ops in vec(op(), 1..40)) {
        let (mut bank, mut model) = (Bank::default(), Model::default());
        for op in ops {
            let before = bank.clone();
            let result = apply(&mut bank, &op);
            if result.is_err() {
                prop_assert_eq!(&bank, &before, "a failed operation changed something");
            }
            if matches!(result, Err(BankError::BadOwner(_))) && is_ambiguous(&op) {
                continue;
            }
            prop_assert_eq!(result.is_ok(), model.apply(&op), "{:?}: {:?}", op, result);
            assert_same(&bank, &model);
            assert_sound(&bank);
        }
    }

    #[test]
    fn the_order_of_winners_and_owners_is_of_no_effect(
        amounts in vec((0..5u64, 0..1_000u64, 0..1_000u64), 1..8),
        weights in vec((0..5u64, 0..9u64), 0..5),
        shares in any::<bool>(),
    ) {
        let mut bank = Bank::default();
        (0..5).for_each(|id| bank.open(id, 10_000, id).unwrap());
        let mut winners = Vec::new();
        for (bid, (account, price, above)) in (0..).zip(amounts) {
            bank.bid(bid, account, price + above).unwrap();
            winners.push(Winner { bid, price });
        }
        let weights: std::collections::BTreeMap<u64, u64> = weights.into_iter().collect();
        let list: Vec<(u64, u64)> = weights.into_iter().collect();
        let backwards: Vec<(u64, u64)> = list.iter().rev().copied().collect();
        let mut other = bank.clone();
        for (bank, list) in [(&mut bank, list), (&mut other, backwards)] {
            let owners = winners.iter().map(|w| (w.bid, list.clone())).collect();
            let revenue = if shares { Revenue::Shares } else { Revenue::Owners(&owners) };
            bank.clear(&winners, revenue, false).unwrap();
            winners.reverse();
        }
        prop_assert_eq!(bank, other);
    }
}

#[test]
fn refusals_name_what_they_refuse() {
    let mut bank = Bank::default();
    bank.open(1, 100, 1).unwrap();
    bank.bid(7, 1, 40).unwrap();
    let insufficient = BankError::Insufficient {
        account: 1,
        needed: 61,
        available: 60,
    };
    assert_eq!(bank.open(1, 0, 0), Err(BankError::AccountExists(1)));
    assert_eq!(bank.open(2, u64::MAX, 0), Err(BankError::Overflow(2)));
    assert_eq!(bank.open(2, 1 << 63, 0), Err(BankError::Overflow(2)));
    assert_eq!(bank.bid(7, 3, 0), Err(BankError::NoAccount(3)));
    assert_eq!(bank.bid(7, 1, 100), Err(BankError::BidExists(7)));
    assert_eq!(bank.bid(8, 1, 61), Err(insufficient));
    assert_eq!(bank.cancel(8), Err(BankError::NoBid(8)));
    let all = Redistribution::All;
    assert_eq!(bank.tax(1_000_001, all), Err(BankError::Rate(1_000_001)));
    let win = |price| [Winner { bid: 7, price }; 2];
    let clear = |winners: &[Winner]| bank.clone().clear(winners, Revenue::Shares, false);
    assert_eq!(clear(&win(40)), Err(BankError::BadWinner(7)));
    assert_eq!(clear(&win(41)[..1]), Err(BankError::BadWinner(7)));
    assert_eq!(clear(&win(40)[..1]), Ok(()));
    let owners = [(7, vec![(1, 1), (9, 1)])].into();
    let result = bank.clear(&win(40)[..1], Revenue::Owners(&owners), false);
    assert_eq!(result, Err(BankError::BadOwner(9)));
}

#[test]
fn the_books_are_bounded() {
    let mut bank = Bank::default();
    for id in 0..Bank::ACCOUNTS as u64 {
        bank.open(id, 1, 1).unwrap();
        bank.bid(id, id, 1).unwrap();
    }
    assert_eq!(bank.open(u64::MAX, 1, 1), Err(BankError::Full));
    assert_eq!(bank.bid(u64::MAX, 0, 0), Err(BankError::Full));
}
