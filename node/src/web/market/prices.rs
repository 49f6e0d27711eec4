//! The prices of a class over time, as a chart.

use super::{DAY, OfClass};
use crate::api::types::{AuctionKind, AuctionSummary};
use crate::backend::NodeBackend;
use crate::cli::text;
use crate::web::chart::{Place, Scale, below, chart, grid, point, stretched};
use crate::web::command::{address, command};
use crate::web::figures::{change, count, money};
use crate::web::parts::{Panel, cli, column, table};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};

/// Columns of the chart at the most, each the mean of its clearings.
const COLUMNS: u64 = 60;
/// Steps of the price at the most.
const STEPS: u64 = 4;
/// Columns told as a table, the newest.
const ROWS: usize = 12;

/// Clearings of one part of the time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    /// Height of the last of them.
    height: u64,
    /// Mean price of the units sold.
    price: Credits,
    /// Units sold.
    sold: u64,
}

/// The clearings of some time that sold something.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Heights shown.
    from: u64,
    to: u64,
    /// Oldest first.
    columns: Vec<Column>,
    /// Ledger times of the first and the last height shown, where their blocks are kept.
    times: [Option<u64>; 2],
}

impl History {
    /// Of the clearings among `lines` (newest first) of the last heights.
    pub(super) async fn of(node: &NodeBackend, lines: &[AuctionSummary], heights: u64) -> History {
        let mut history = History::over(lines, heights);
        let ends = [history.from, history.to];
        let heights = ends.into_iter().filter(|height| *height > 0);
        let times = node.block_times(heights).await.unwrap_or_default();
        history.times = ends.map(|height| times.get(&height).copied());
        history
    }

    fn over(lines: &[AuctionSummary], heights: u64) -> History {
        let cleared = |line: &&AuctionSummary| {
            matches!(line.kind, AuctionKind::Boundary | AuctionKind::Free) && line.price.is_some()
        };
        let Some(to) = lines.iter().find(cleared).map(|line| line.height) else {
            return History::default();
        };
        let earliest = to.saturating_sub(heights);
        let fresh = lines.iter().filter(|line| line.height >= earliest);
        let mut lines: Vec<&AuctionSummary> = fresh.filter(cleared).collect();
        lines.reverse();
        let from = lines.first().map_or(to, |line| line.height);
        let wide = (to - from).div_ceil(COLUMNS).max(1);
        let parts = lines.chunk_by(|a, b| (a.height - from) / wide == (b.height - from) / wide);
        History {
            from,
            to,
            columns: parts.filter_map(column_of).collect(),
            times: [None; 2],
        }
    }

    /// How far the price moved from the first column to the last.
    pub(super) fn moved(&self) -> Option<String> {
        let [first, .., last] = &self.columns[..] else {
            return None;
        };
        change(first.price, last.price)
    }

    /// The panel, with links to the other spans.
    pub(super) fn panel(&self, of: &OfClass, span: &str) -> Markup {
        let class = of.price.class.as_str();
        let link = |span: &str| address("/market", &[("class", class), ("span", span)]);
        let day = span == DAY;
        let panel = Panel {
            id: "hist",
            title: "Price",
            meta: Some(html! { "Mean price per clearing, credits per node-hour" }),
            more: Some(html! {
                nav.seg aria-label="Span" {
                    a href=(link("")) aria-current=[(!day).then_some("true")] { "1 h" }
                    a href=(link(DAY)) aria-current=[day.then_some("true")] { "1 d" }
                }
            }),
            body: html! {
                div.panel-body id="price" data-live="replace" { (self.shown(of)) }
            },
            foot: Some(cli(
                "cli-hist",
                &command(["gridbay", "auction", "list", "--class", class]),
            )),
        };
        html! { (panel) }
    }

    /// The chart, and its last columns as a table.
    pub(super) fn shown(&self, of: &OfClass) -> Markup {
        let prices = || self.columns.iter().map(|column| column.price);
        let last = self.columns.last().map(|column| column.price);
        let (Some(low), Some(high), Some(last)) = (prices().min(), prices().max(), last) else {
            return html! { p.muted { "No clearing sold anything in this time." } };
        };
        let class = crate::web::figures::short(&of.price.class, 40);
        let reserve = of.price.reserve;
        let mut says = format!(
            "Mean price of class {class} in {} clearings or groups of them, between {} and {} \
             credits per node-hour, now {}.",
            self.columns.len(),
            money(low),
            money(high),
            money(last)
        );
        if let Some(reserve) = reserve {
            says.push_str(&format!(" The lowest reserve is {}.", money(reserve)));
        }
        let most = high.max(reserve.unwrap_or(Credits::ZERO));
        // The figure of the last price stands above it.
        let scale = Scale::of(most.micros().saturating_add(most.micros() / 8), STEPS);
        html! {
            (chart(&says, &self.drawn(&scale, reserve, last)))
            details {
                summary { "The last of them as a table" }
                (self.table())
            }
        }
    }

    fn drawn(&self, scale: &Scale, reserve: Option<Credits>, last: Credits) -> Markup {
        let y = |price: Credits| scale.height(price.micros());
        let line = self.line(scale);
        let (first, end) = (self.place(self.first()), self.place(self.to));
        let floor = reserve.map(|reserve| (y(reserve), reserve));
        html! {
            (grid(scale, |micros| Credits::from_micros(micros).unwrap_or_default().to_string()))
            (stretched(&html! {
                path.area.c1 d={ (line) "V100H" (first) "Z" } {}
                @if let Some((at, _)) = floor { path.line.dash.thin.c5 d={ "M0 " (at) "H100" } {} }
                path.line.c1 d=(line) {}
                (point("c1", end, y(last)))
            }))
            @if let Some((at, reserve)) = floor {
                text.unit x="0" y={ (at) "%" } dx="6" dy="15" {
                    "Lowest reserve " (money(reserve))
                }
            }
            text.say.end x="100%" y={ (y(last)) "%" } dx="-4" dy="-12" { (money(last)) }
            @for ((at, class), time) in [(first, ""), (end, "end")].into_iter().zip(self.times) {
                (below(at, &time.map(hour).unwrap_or_default(), class))
            }
            @for (index, column) in self.columns.iter().enumerate() {
                (self.hit(index, column))
            }
        }
    }

    fn first(&self) -> u64 {
        self.columns.first().map_or(self.to, |column| column.height)
    }

    /// The place of a height; of a single one, the right end.
    fn place(&self, height: u64) -> Place {
        match self.to - self.from {
            0 => Place::of(1, 1),
            all => Place::of(height.saturating_sub(self.from), all),
        }
    }

    fn line(&self, scale: &Scale) -> String {
        let mut line = String::new();
        for (n, column) in self.columns.iter().enumerate() {
            let (x, y) = (
                self.place(column.height),
                scale.height(column.price.micros()),
            );
            line.push_str(&format!("{}{x} {y}", if n == 0 { "M" } else { "L" }));
        }
        line
    }

    /// The place under the pointer that tells a column.
    fn hit(&self, index: usize, column: &Column) -> Markup {
        let before = index.checked_sub(1).and_then(|n| self.columns.get(n));
        let from = before.map_or(Place::of(0, 1), |before| self.place(before.height));
        let wide = from.to(self.place(column.height));
        html! {
            g.hit {
                rect x={ (from) "%" } y="0" width={ (wide) "%" } height="100%" {}
                title {
                    "Height " (count(column.height)) ": " (money(column.price)) ", "
                    (count(column.sold)) " units"
                }
            }
        }
    }

    fn table(&self) -> Markup {
        let rows = html! {
            @for column in self.columns.iter().rev().take(ROWS) {
                tr {
                    th scope="row" { (count(column.height)) }
                    td.num { (count(column.sold)) }
                    td.num { (money(column.price)) }
                }
            }
        };
        let columns = [
            column("Height", ""),
            column("Units sold", "num"),
            column("Price/h", "num"),
        ];
        table("Last clearings that sold something", &columns, rows)
    }
}

/// Clearings that follow one another, oldest first, as one column; `None` if they sold nothing.
fn column_of(lines: &[&AuctionSummary]) -> Option<Column> {
    let sold: u64 = lines.iter().map(|line| u64::from(line.sold)).sum();
    let worth = lines.iter().filter_map(|line| {
        let price = u128::from(line.price?.micros());
        Some(price * u128::from(line.sold))
    });
    let mean = worth.sum::<u128>().checked_div(u128::from(sold))?;
    Some(Column {
        height: lines.last()?.height,
        price: Credits::from_wide(mean)?,
        sold,
    })
}

/// A time of the day in UTC.
fn hour(ms: u64) -> String {
    let text = text::time(ms);
    text.get(11..16).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::samples::auction;

    #[test]
    fn clearings_of_the_time_become_columns_and_other_sales_do_not() {
        let lines = [
            auction("buy", 900, 1, Some("50")),
            auction("boundary", 800, 0, None),
            auction("boundary", 700, 2, Some("4")),
            auction("free", 400, 1, Some("1")),
            auction("boundary", 100, 1, Some("9")),
        ];
        let history = History::over(&lines, 500);
        assert_eq!((history.from, history.to), (400, 700));
        let prices: Vec<_> = history
            .columns
            .iter()
            .map(|c| c.price.to_string())
            .collect();
        assert_eq!(prices, ["1", "4"], "oldest first");
        assert_eq!(history.moved().unwrap(), "+300 %");
        let line = history.line(&Scale::of(4_000_000, 4));
        assert_eq!(line, "M0 75L100 0");
    }

    #[test]
    fn many_clearings_become_few_columns_of_their_mean() {
        let of = |n: u64| auction("boundary", 1_000 - n, if n == 0 { 3 } else { 1 }, Some("2"));
        let lines: Vec<_> = (0..1_000).map(of).collect();
        let history = History::over(&lines, 10_000);
        assert!(
            history.columns.len() as u64 <= COLUMNS + 1,
            "{}",
            history.columns.len()
        );
        let sold: u64 = history.columns.iter().map(|column| column.sold).sum();
        assert_eq!(sold, 1_002, "each counts once");
        let two = [
            auction("boundary", 9, 3, Some("1")),
            auction("free", 9, 1, Some("5")),
        ];
        let mean = History::over(&two, 10).columns;
        assert_eq!(mean[0].price.to_string(), "2", "by the units sold");
    }

    #[test]
    fn nothing_sold_and_one_clearing() {
        assert!(
            History::over(&[auction("boundary", 1, 0, None)], 9)
                .columns
                .is_empty()
        );
        let one = History::over(&[auction("boundary", 5, 1, Some("1"))], 9);
        assert_eq!(one.place(5), Place::of(1, 1));
        assert_eq!(one.moved(), None);
    }
}
