//! `ledger statement|invoice`.

use super::of;
use crate::api::client::Client;
use crate::api::types::{Bought, Money, Signed, Statement};
use crate::cli::context::{Context, Format};
use crate::cli::error::{CliError, During as _};
use crate::cli::meant::Meant;
use crate::cli::moment::Moment;
use crate::cli::text;
use crate::ledger::statement::csv;
use crate::ui::{self, Table};
use gridbay_protocol::units::Credits;

/// Whose statement, and of which time.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PeriodArgs {
    /// Account, or name of a founding member [default: this node's]
    #[arg(long)]
    account: Option<Meant>,
    /// From when on: a day or a minute in UTC, as in 2026-01-31 or 2026-01-31T12:30, or how long
    /// ago, as in 30d [default: the ledger's beginning]
    #[arg(long, value_name = "TIME")]
    from: Option<Moment>,
    /// Until when, itself left out [default: now]
    #[arg(long, value_name = "TIME")]
    to: Option<Moment>,
    /// The orders of a project alone
    #[arg(long, conflicts_with = "account")]
    project: Option<Meant>,
}

impl PeriodArgs {
    async fn ask(&self, client: &Client) -> Result<Statement, CliError> {
        let mut path = format!("/ledger/statement{}", of(self.account.clone(), '?'));
        for (name, moment) in [("from_ms", &self.from), ("to_ms", &self.to)] {
            if let Some(moment) = moment {
                let mark = if path.contains('?') { '&' } else { '?' };
                path += &format!("{mark}{name}={}", moment.ms());
            }
        }
        if let Some(project) = &self.project {
            let mark = if path.contains('?') { '&' } else { '?' };
            path += &format!("{mark}project={project}");
        }
        client.get(&path).await.during("no statement")
    }
}

pub(super) async fn statement(
    at: &Context,
    client: &Client,
    args: &PeriodArgs,
) -> Result<(), CliError> {
    let statement = args.ask(client).await?;
    match at.format {
        Format::Csv => Ok(ui::out(csv::file(statement.movements.iter()).as_bytes())?),
        _ => at.show(&statement, listed),
    }
}

pub(super) async fn invoice(
    at: &Context,
    client: &Client,
    args: &PeriodArgs,
) -> Result<(), CliError> {
    let statement = args.ask(client).await?;
    match at.format {
        Format::Csv => Ok(ui::out(csv::invoice(&statement).as_bytes())?),
        _ => at.tell(&statement, printed),
    }
}

/// The movements, between the balances.
fn listed(statement: &Statement) -> String {
    let line = |money: &Money| {
        let Money {
            balance,
            held,
            retained,
            total,
        } = money;
        format!("{balance} free, {held} held, {retained} retained: {total} credits")
    };
    let movements = Table::of(
        &statement.movements,
        &[
            (">HEIGHT", &|l| l.movement.height.to_string()),
            ("TIME", &|l| text::zoned(l.movement.time_ms)),
            (">AMOUNT", &|l| l.movement.amount.to_string()),
            (">BALANCE", &|l| l.balance.to_string()),
            ("REASON", &|l| csv::word(l.movement.reason)),
            ("ORDER", &|l| text::or_dash(l.movement.order)),
            ("OTHER SIDE", &|l| l.movement.other.clone()),
        ],
    );
    let (opening, closing) = (line(&statement.opening), line(&statement.closing));
    let before = ui::prose(format!("before: {opening}\n"));
    before + &movements + &ui::prose(format!("after: {closing}\n"))
}

/// The invoice, for paper.
fn printed(statement: &Statement) -> String {
    let from = match statement.from_ms {
        0 => "the beginning".to_owned(),
        ms => format!("{} UTC", text::time(ms)),
    };
    let Money { total: before, .. } = statement.opening;
    let Money { total: after, .. } = statement.closing;
    let mut head = vec![
        ("network", statement.network.clone()),
        ("account", statement.account.to_hex()),
        ("name", text::or_dash(statement.name.clone())),
        ("from", from),
        ("to", format!("{} UTC", text::time(statement.to_ms))),
        ("last block", statement.height.to_string()),
    ];
    if let Some(project) = &statement.project {
        head.insert(3, ("project", project.clone()));
    }
    let mut page = text::fields(&head);
    page += &format!("\nBOUGHT\n{}", bought(&statement.bought));
    page += &format!("\nSOLD\n{}", sold(statement));
    if !statement.other.is_empty() {
        page += &format!("\nOTHER\n{}", other(statement));
    }
    page += &format!("\nBY DAY (UTC)\n{}", days(statement));
    let change = Signed(after.0.saturating_sub(before.0));
    page += &format!(
        "\n{}",
        text::fields(&[
            ("before", before.to_string()),
            ("change", change.to_string()),
            ("after", after.to_string()),
        ])
    );
    page + "Credits, with what is held for orders and what buyers may still dispute.\n"
}

/// A row of sums below others.
fn sum(values: impl Iterator<Item = i64>) -> String {
    Signed(values.fold(0, i64::saturating_add)).to_string()
}

fn micros(credits: Credits) -> i64 {
    Signed::from(credits).0
}

fn bought(lines: &[Bought]) -> String {
    let mut table = Table::new(&["JOB", "NAME", "ORDER", ">PAID", ">RETURNED", ">COST"]);
    for line in lines {
        table.row([
            text::or_dash(line.job.clone()),
            text::or_dash(line.name.clone()),
            line.order.to_hex(),
            line.paid.to_string(),
            line.returned.to_string(),
            line.cost.to_string(),
        ]);
    }
    let (paid, returned) = (|l: &Bought| micros(l.paid), |l: &Bought| micros(l.returned));
    table.row([
        "sum".to_owned(),
        String::new(),
        String::new(),
        sum(lines.iter().map(paid)),
        sum(lines.iter().map(returned)),
        sum(lines.iter().map(|l| l.cost.0)),
    ]);
    table.render()
}

fn sold(statement: &Statement) -> String {
    let mut table = Table::new(&["OF", ">EARNED", ">RETURNED", ">INCOME"]);
    let lines = &statement.sold;
    for line in lines {
        let (earned, returned) = (line.earned.to_string(), line.returned.to_string());
        table.row([line.of.clone(), earned, returned, line.income.to_string()]);
    }
    table.row([
        "sum".to_owned(),
        sum(lines.iter().map(|l| micros(l.earned))),
        sum(lines.iter().map(|l| micros(l.returned))),
        sum(lines.iter().map(|l| l.income.0)),
    ]);
    table.render()
}

fn other(statement: &Statement) -> String {
    Table::of(
        &statement.other,
        &[
            ("REASON", &|l| csv::word(l.reason)),
            (">RECEIVED", &|l| l.received.to_string()),
            (">SPENT", &|l| l.spent.to_string()),
        ],
    )
}

fn days(statement: &Statement) -> String {
    let mut table = Table::new(&["DAY", ">COST", ">INCOME", ">OTHER", ">CHANGE"]);
    let lines = &statement.days;
    for line in lines {
        let amounts = [line.cost, line.income, line.other, line.change];
        let amounts = amounts.iter().map(ToString::to_string);
        table.row(std::iter::once(line.day.clone()).chain(amounts));
    }
    table.row([
        "sum".to_owned(),
        sum(lines.iter().map(|l| l.cost.0)),
        sum(lines.iter().map(|l| l.income.0)),
        sum(lines.iter().map(|l| l.other.0)),
        sum(lines.iter().map(|l| l.change.0)),
    ]);
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::{Day, Sold};
    use gridbay_protocol::ids::{AccountId, OrderId};

    fn sample() -> Statement {
        let credits = |text: &str| text.parse::<Credits>().expect("an amount");
        let order = OrderId([7; 32]);
        let money = |micros| Money {
            balance: Signed(micros),
            total: Signed(micros),
            ..Money::default()
        };
        let bought = |paid, returned, cost| Bought {
            order,
            job: None,
            name: Some("sweep".to_owned()),
            paid: credits(paid),
            returned: credits(returned),
            cost: Signed(cost),
        };
        Statement {
            project: None,
            network: "grid".to_owned(),
            account: AccountId([1; 32]),
            name: None,
            from_ms: 0,
            to_ms: 86_400_000,
            height: 9,
            opening: money(5_000_000),
            closing: money(4_000_001),
            bought: vec![bought("3", "1", 2_000_000), bought("1", "0", 1_000_000)],
            sold: vec![Sold {
                of: "class small".to_owned(),
                earned: credits("2.000001"),
                returned: credits("0"),
                income: Signed(2_000_001),
            }],
            other: Vec::new(),
            days: vec![Day {
                day: "1970-01-01".to_owned(),
                cost: Signed(3_000_000),
                income: Signed(2_000_001),
                other: Signed(0),
                change: Signed(-999_999),
            }],
            movements: Vec::new(),
        }
    }

    #[test]
    fn an_invoice_has_its_sums_and_ends_with_the_change() {
        let page = printed(&sample());
        let row = |begin: &str| {
            let rows = page.lines().filter(|line| line.starts_with(begin));
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
            rows.map(words).collect::<Vec<Vec<String>>>()
        };
        let sums = row("sum");
        assert_eq!(sums[0], ["sum", "4", "1", "3"], "{page}");
        assert_eq!(sums[1], ["sum", "2.000001", "0", "2.000001"], "{page}");
        assert_eq!(
            sums[2],
            ["sum", "3", "2.000001", "0", "-0.999999"],
            "{page}"
        );
        assert_eq!(row("change"), [["change", "-0.999999"]], "{page}");
        assert_eq!(row("after")[0], ["after", "4.000001"], "{page}");
    }
}
