//! Statements of accounts: what a machine's node tells, and whether the founders' nodes agree.

use super::super::bench::Bench;
use super::super::shell::Shell;
use super::pair::json;
use anyhow::{bail, ensure};
use gridbay_node::api::types::{Balance, JobRecord, Movement};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::Reason;
use std::time::{Duration, Instant};

/// Lines of a statement that are asked for; an account in a trial has fewer.
const LINES: usize = 1_000;
/// For a founder to be as far as a machine, and for the last earnings to be paid: a slot, another
/// one for which they are held, and some.
const SETTLED: Duration = Duration::from_secs(240);
/// Between two looks.
const LOOK: Duration = Duration::from_secs(2);

/// An account as one node tells of it.
pub(super) struct Statement {
    pub(super) balance: Balance,
    /// Up to the balance's height, oldest first.
    pub(super) movements: Vec<Movement>,
}

impl Statement {
    /// Of a machine's own account, by its own node.
    ///
    /// # Errors
    /// The node does not tell, or the lines do not make the balance.
    pub(super) async fn of(shell: &mut Shell) -> anyhow::Result<Statement> {
        let balance: Balance = json(shell, "ledger balance").await?;
        let movements = json(shell, &format!("ledger history --limit {LINES}")).await?;
        Statement::new(balance, movements)
    }

    fn new(balance: Balance, newest_first: Vec<Movement>) -> anyhow::Result<Statement> {
        ensure!(newest_first.len() < LINES, "the statement is too long");
        let mut movements = newest_first;
        movements.retain(|line| line.height <= balance.height);
        movements.reverse();
        let sum: i64 = movements.iter().map(|line| line.amount.0).sum();
        ensure!(
            sum == balance.balance.0,
            "the lines of a statement make {sum}, its balance is {}",
            balance.balance
        );
        Ok(Statement { balance, movements })
    }

    /// Whether every line of an earlier one stands in this one as it was.
    ///
    /// # Errors
    /// One does not.
    pub(super) fn continues(&self, earlier: &Statement) -> anyhow::Result<()> {
        let (now, then) = (self.balance.height, earlier.balance.height);
        ensure!(now >= then, "height {then} was shown, and then {now}");
        ensure!(
            self.movements.starts_with(&earlier.movements),
            "lines of a statement that was shown are gone"
        );
        Ok(())
    }

    /// Whether a founder's node tells the same of the same blocks.
    ///
    /// # Errors
    /// It does not, or does not come so far.
    pub(super) async fn is_known(&self, bench: &Bench) -> anyhow::Result<()> {
        let (account, height) = (self.balance.account, self.balance.height);
        let mut theirs = founders(bench, account).await?;
        let began = Instant::now();
        while theirs.balance.height < height {
            ensure!(
                began.elapsed() < SETTLED,
                "no founder comes to height {height}"
            );
            tokio::time::sleep(LOOK).await;
            theirs = founders(bench, account).await?;
        }
        theirs.movements.retain(|line| line.height <= height);
        ensure!(
            theirs.movements == self.movements,
            "by a founder's node the account moved {:?}, by its own {:?}",
            theirs.movements,
            self.movements
        );
        Ok(())
    }

    /// Micro-credits that came in as earnings.
    fn earned(&self) -> i64 {
        let earning = self
            .movements
            .iter()
            .filter(|line| line.reason == Reason::Earning);
        earning.map(|line| line.amount.0).sum()
    }
}

/// An account by a founder's node.
async fn founders(bench: &Bench, account: AccountId) -> anyhow::Result<Statement> {
    let of = ["--account", &account.to_hex()].map(str::to_owned);
    let ask = async |words: &[&str]| {
        let words = words.iter().copied().chain(of.iter().map(String::as_str));
        let words: Vec<&str> = words.chain(["-o", "json"]).collect();
        bench.cli("v1", &words).await
    };
    let balance = serde_json::from_str(&ask(&["ledger", "balance"]).await?)?;
    let limit = LINES.to_string();
    let lines = ask(&["ledger", "history", "--limit", &limit]).await?;
    Statement::new(balance, serde_json::from_str(&lines)?)
}

/// Waits until all that a seller earned of a buyer's jobs is in its account and is what they paid,
/// and until the buyer's money is free; what it earned, in micro-credits. Nobody else buys there.
///
/// # Errors
/// It never is, or a founder's node tells otherwise.
pub(super) async fn earned(
    bench: &Bench,
    seller: &mut Shell,
    buyer: &mut Shell,
) -> anyhow::Result<i64> {
    let began = Instant::now();
    loop {
        let jobs: Vec<JobRecord> = super::pair::jobs(buyer).await?;
        let paid: u64 = jobs.iter().map(|job| job.paid.micros()).sum();
        let (sells, buys) = (Statement::of(seller).await?, Statement::of(buyer).await?);
        let open = [
            &buys.balance.held,
            &buys.balance.in_use,
            &sells.balance.retained,
        ]
        .iter()
        .any(|sum| sum.micros() > 0);
        if !open && i64::try_from(paid) == Ok(sells.earned()) {
            sells.is_known(bench).await?;
            buys.is_known(bench).await?;
            return Ok(sells.earned());
        }
        if began.elapsed() > SETTLED {
            bail!(
                "jobs paid {paid} micro-credits, the seller earned {} and has {} retained; of the \
                 buyer's {} are held and {} in use",
                sells.earned(),
                sells.balance.retained,
                buys.balance.held,
                buys.balance.in_use
            );
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_node::api::types::{Entries, Signed};
    use gridbay_protocol::units::Credits;

    fn statement(height: u64, sum: i64, lines: &[(u64, i64)]) -> anyhow::Result<Statement> {
        let line = |&(height, amount): &(u64, i64)| Movement {
            height,
            time_ms: 0,
            amount: Signed(amount),
            reason: Reason::Earning,
            other: String::new(),
            order: None,
        };
        let balance = Balance {
            account: AccountId([1; 32]),
            balance: Signed(sum),
            held: Credits::ZERO,
            staked: Credits::ZERO,
            retained: Credits::ZERO,
            in_use: Credits::ZERO,
            arrears: Credits::ZERO,
            credit_line: Credits::ZERO,
            height,
            stale: None,
            entries: Entries {
                spent: 0,
                budget: 1,
                spent_bytes: 0,
                budget_bytes: 1,
            },
        };
        Statement::new(balance, lines.iter().map(line).collect())
    }

    #[test]
    fn lines_make_the_balance_of_their_height() {
        // Newest first, as a node tells them; the newest came after the balance was told.
        let told = statement(5, 7, &[(6, 1), (5, 4), (2, 3)]).unwrap();
        assert_eq!(told.movements.len(), 2);
        assert_eq!(told.earned(), 7);
        assert!(statement(5, 8, &[(5, 4), (2, 3)]).is_err());
    }

    #[test]
    fn a_statement_that_forgot_or_changed_a_line_is_found() {
        let earlier = statement(5, 7, &[(5, 4), (2, 3)]).unwrap();
        let whole = statement(6, 8, &[(6, 1), (5, 4), (2, 3)]).unwrap();
        assert!(whole.continues(&earlier).is_ok());
        let forgot = statement(6, 4, &[(6, 1), (2, 3)]).unwrap();
        assert!(forgot.continues(&earlier).is_err());
        let changed = statement(6, 7, &[(5, 5), (2, 2)]).unwrap();
        assert!(changed.continues(&earlier).is_err());
        let back = statement(4, 3, &[(2, 3)]).unwrap();
        assert!(back.continues(&earlier).is_err());
    }
}
