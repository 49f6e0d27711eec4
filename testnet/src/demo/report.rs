//! The report at the end: a table of orders, a table of accounts, one line per check; the same as
//! JSON.

use super::check::Check;
use super::evidence::Evidence;
use super::order::Order;
use super::scene;
use super::statement::Statement;
use crate::say;
use anyhow::Context as _;
use gridbay_node::api::types::Signed;
use gridbay_node::ui::Table;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Seconds from the start to the report.
    seconds: f64,
    /// Orders, as they were sent.
    orders: Vec<OrderLine>,
    /// Statements of all accounts.
    accounts: Vec<Statement>,
    /// Checks.
    checks: Vec<Check>,
}

/// One order.
#[derive(Clone, Debug, Serialize)]
struct OrderLine {
    order: &'static str,
    buyer: &'static str,
    class: &'static str,
    kind: &'static str,
    nodes: u32,
    max_price: Option<Signed>,
    most: Signed,
    price: Option<Signed>,
    paid: Signed,
    to_running_ms: Option<u64>,
    preemptions: u32,
    state: &'static str,
    result: String,
}

impl OrderLine {
    fn of(order: &Order) -> OrderLine {
        let record = &order.record;
        let result = if order.outputs.is_empty() {
            let reason = order.loss_reasons().first().map_or("", |r| r.name());
            format!("{} {reason}", record.state.name())
                .trim_end()
                .to_owned()
        } else {
            let judged = order.wish.work.judge(&order.outputs);
            judged.unwrap_or_else(|wrong| format!("WRONG: {wrong}"))
        };
        OrderLine {
            order: order.wish.name,
            buyer: order.wish.buyer,
            class: order.wish.class,
            kind: order.kind(),
            nodes: order.wish.nodes,
            max_price: order.wish.max_price.map(Signed::from),
            most: record.budget.into(),
            price: record.price.map(Signed::from),
            paid: record.paid.into(),
            to_running_ms: order.to_running_ms(),
            preemptions: record.preemptions,
            state: record.state.name(),
            result,
        }
    }
}

fn or_dash(amount: Option<Signed>) -> String {
    amount.map_or("-".to_owned(), |amount| amount.to_string())
}

impl Report {
    /// Judges the evidence.
    pub(super) fn new(evidence: &Evidence) -> Report {
        Report {
            seconds: 0.0,
            orders: evidence.orders.iter().map(OrderLine::of).collect(),
            accounts: evidence.accounts.iter().map(Statement::of).collect(),
            checks: scene::judge(evidence),
        }
    }
    /// Adds a check of what happened after the evidence was gathered.
    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }
    /// Notes when it ended.
    pub(super) fn end(&mut self, seconds: f64) {
        self.seconds = (seconds * 10.0).round() / 10.0;
    }
    /// Whether all checks hold.
    pub(crate) fn ok(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.ok)
    }
    /// Prints it.
    pub(crate) fn show(&self) {
        say::line(&format!("\n{}", self.orders_table()));
        say::line(&self.accounts_table());
        for check in &self.checks {
            let verdict = if check.ok { "ok    " } else { "FAILED" };
            say::line(&format!("{verdict}  {}: {}", check.name, check.detail));
        }
        let failed = self.checks.iter().filter(|check| !check.ok).count();
        let (checks, seconds) = (self.checks.len(), self.seconds);
        say::line(&match failed {
            0 => format!("\nall {checks} checks ok after {seconds} s"),
            n => format!("\n{n} of {checks} checks FAILED after {seconds} s"),
        });
    }
    /// Writes it as JSON.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(self)?;
        fs::write(path, format!("{json}\n"))
            .with_context(|| format!("cannot write {}", path.display()))
    }
    fn orders_table(&self) -> String {
        let mut table = Table::new(&[
            "ORDER",
            "BUYER",
            "CLASS",
            "KIND",
            ">NODES",
            ">BID/H",
            ">AT MOST",
            ">PRICE/H",
            ">PAID",
            ">TO RUNNING",
            "RESULT",
        ]);
        for line in &self.orders {
            let running = line.to_running_ms;
            table.row([
                line.order.to_owned(),
                line.buyer.to_owned(),
                line.class.to_owned(),
                line.kind.to_owned(),
                line.nodes.to_string(),
                or_dash(line.max_price),
                line.most.to_string(),
                or_dash(line.price),
                line.paid.to_string(),
                running.map_or("-".to_owned(), |ms| format!("{:.2} s", ms as f64 / 1e3)),
                match line.preemptions {
                    0 => line.result.clone(),
                    n => format!("{}, preempted {n}x", line.result),
                },
            ]);
        }
        table.render()
    }
    fn accounts_table(&self) -> String {
        let mut table = Table::new(&[
            "ACCOUNT",
            ">START",
            ">RECEIVED",
            ">PAID",
            ">EARNED",
            ">REFUNDS",
            ">END",
        ]);
        for s in &self.accounts {
            let figures = [s.start, s.received, s.paid, s.earned, s.refunds, s.end];
            let figures = figures.iter().map(Signed::to_string);
            table.row([s.account.clone()].into_iter().chain(figures));
        }
        table.render()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn one_failed_check_fails_the_report() {
        let mut report = Report::new(&sample::good());
        assert!(report.ok());
        report.add(Check::new("last", Err("no".into())));
        assert!(!report.ok());
    }

    #[test]
    fn orders_and_checks_are_in_table_and_json() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        let report = Report::new(&sample::good());
        report.write(&path).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!(json["orders"][0]["to_running_ms"], 1_500);
        assert_eq!(json["checks"][0]["ok"], true);
        assert_eq!(json["accounts"][0]["earned"], "0.00062");
        let table = report.orders_table();
        assert!(
            table.contains("1.50 s") && table.contains("cancelled outbid"),
            "{table}"
        );
    }
}
