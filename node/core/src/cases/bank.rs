//! Cases of the bank: a list of operations on books that are empty at first.
//!
//! Input: `ops`, each an object with its name under `op`. Result: the outcome of each operation,
//! and the books after it.

use super::form::{CaseError, Money, read};
use gridbay_ledger::bank::{Bank, BankError, Revenue, Winner};
use gridbay_protocol::bank::Redistribution;
use serde::Deserialize;
use serde_json::{Value, json};

/// Name of its cases: the bank is policy, no mechanism.
pub(super) const NAME: &str = "bank";

/// Most balances that a result lists: one for each account after each operation.
const BALANCES: usize = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    ops: Vec<Op>,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    Open {
        id: u64,
        base: Money,
        shares: Money,
    },
    Bid {
        bid: u64,
        account: u64,
        amount: Money,
    },
    Cancel {
        bid: u64,
    },
    Clear {
        winners: Vec<(u64, Money)>,
        mode: Mode,
        #[serde(default)]
        keep_losers: bool,
        #[serde(default)]
        owners: Vec<(u64, Vec<(u64, Money)>)>,
    },
    Tax {
        ppm: u32,
        mode: Redistribution,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Shares,
    Owners,
}

impl Op {
    fn apply(self, bank: &mut Bank) -> Result<(), BankError> {
        match self {
            Op::Open { id, base, shares } => bank.open(id, base.0, shares.0),
            Op::Bid {
                bid,
                account,
                amount,
            } => bank.bid(bid, account, amount.0),
            Op::Cancel { bid } => bank.cancel(bid),
            Op::Clear {
                winners,
                mode,
                keep_losers,
                owners,
            } => {
                let winner = |(bid, price): (u64, Money)| Winner {
                    bid,
                    price: price.0,
                };
                let winners: Vec<Winner> = winners.into_iter().map(winner).collect();
                let weighed = |(account, weight): (u64, Money)| (account, weight.0);
                let owners = owners
                    .into_iter()
                    .map(|(bid, owners)| (bid, owners.into_iter().map(weighed).collect()))
                    .collect();
                let revenue = match mode {
                    Mode::Shares => Revenue::Shares,
                    Mode::Owners => Revenue::Owners(&owners),
                };
                bank.clear(&winners, revenue, keep_losers)
            }
            Op::Tax { ppm, mode } => bank.tax(ppm, mode),
        }
    }
}

/// A refusal as results spell it, if they do.
fn spell(error: BankError) -> Result<&'static str, CaseError> {
    match error {
        BankError::AccountExists(_) | BankError::BidExists(_) => Ok("exists"),
        BankError::NoAccount(_) => Ok("no_account"),
        BankError::NoBid(_) => Ok("no_bid"),
        BankError::Insufficient { .. } => Ok("insufficient"),
        BankError::BadWinner(_) => Ok("bad_winner"),
        BankError::BadOwner(_) | BankError::Rate(_) | BankError::Overflow(_) | BankError::Full => {
            Err(refused(error.to_string()))
        }
    }
}

fn refused(reason: String) -> CaseError {
    CaseError::Refused {
        mechanism: NAME,
        reason,
    }
}

/// The books as results spell them.
fn books(bank: &Bank) -> Value {
    let account = |(id, account): (u64, &gridbay_ledger::bank::Account)| {
        let (available, frozen) = (account.available, account.frozen);
        json!([id, available.to_string(), frozen.to_string()])
    };
    json!({
        "pool": bank.treasury().to_string(),
        "minted": bank.minted().to_string(),
        "accounts": bank.accounts().map(account).collect::<Vec<Value>>(),
    })
}

/// The result of an input.
pub(super) fn solve(input: Value) -> Result<Value, CaseError> {
    let input: Input = read(NAME, input)?;
    let mut bank = Bank::default();
    let (mut results, mut trace) = (Vec::new(), Vec::new());
    let mut balances = 0;
    for op in input.ops {
        results.push(match op.apply(&mut bank) {
            Ok(()) => "ok",
            Err(error) => spell(error)?,
        });
        balances += bank.accounts().len();
        if balances > BALANCES {
            return Err(refused(format!("more than {BALANCES} balances to list")));
        }
        trace.push(books(&bank));
    }
    Ok(json!({ "results": results, "trace": trace }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ops(ops: Value) -> Result<Value, CaseError> {
        solve(json!({ "ops": ops }))
    }

    #[test]
    fn what_results_have_no_word_for_is_refused() {
        let open = json!({"op": "open", "id": 1, "base": "9223372036854775807", "shares": "1"});
        let over = json!({"op": "open", "id": 2, "base": "1", "shares": "1"});
        let bid = json!({"op": "bid", "bid": 1, "account": 1, "amount": "5"});
        let clear = json!({"op": "clear", "winners": [[1, "5"]], "mode": "owners", "owners": [[1, [[9, "1"]]]]});
        let tax = json!({"op": "tax", "ppm": 1_000_001, "mode": "all"});
        for bad in [json!([open, over]), json!([open, bid, clear]), json!([tax])] {
            assert!(matches!(ops(bad), Err(CaseError::Refused { .. })));
        }
        let cancel = json!({"op": "cancel", "bid": 1, "account": 1});
        assert!(matches!(ops(json!([cancel])), Err(CaseError::Shape { .. })));
    }

    #[test]
    fn results_are_bounded() {
        let open = |id: u32| json!({"op": "open", "id": id, "base": "1", "shares": "1"});
        let many: Vec<Value> = (0..1_500).map(open).collect();
        assert!(matches!(ops(many.into()), Err(CaseError::Refused { .. })));
    }
}
