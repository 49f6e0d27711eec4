//! Charts of time: rows of bars over slots, as SVG. Places are in per cent of the width, so that
//! text keeps the page's size; a table beside the chart has the same figures.

use super::chart::{Place, Scale};
use super::figures::{count, short};
use maud::{Markup, html};

/// Height of a row, and of the bar in it, in pixels.
const ROW: usize = 36;
const BAR: usize = 24;
/// Steps of the axis at the most.
const STEPS: u64 = 6;
/// Characters of a row's name, and of a bar's text, at the most.
const NAME: usize = 10;
const TEXT: usize = 40;

/// How a bar or a mark is drawn; the legend says what that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Taken for good.
    Firm,
    /// By a deadline or a contract.
    Planned,
    /// Free, or not begun.
    Open,
    /// Of this node.
    Own,
    /// Of others.
    Others,
    /// A moment that is good to meet.
    Soft,
    /// A moment that must be met.
    Hard,
}

impl Look {
    fn class(self) -> &'static str {
        match self {
            Look::Firm => "bar soft c3",
            Look::Planned => "bar soft c4",
            Look::Open => "bar open c5",
            Look::Own => "bar soft c1",
            Look::Others => "bar soft c5",
            Look::Soft => "due dash c4",
            Look::Hard => "due c4",
        }
    }
}

/// Something that lasts from one slot to another one, both included.
pub(super) struct Bar {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) look: Look,
    pub(super) text: String,
}

/// A row with its name, its bars, and moments at the ends of slots.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) bars: Vec<Bar>,
    pub(super) marks: Vec<(u64, Look)>,
}

/// Rows over the slots from `first` on.
pub(super) struct Gantt<'a> {
    pub(super) first: u64,
    pub(super) slots: u64,
    pub(super) rows: &'a [Row],
    /// The result in a sentence, for those who do not see it.
    pub(super) says: &'a str,
}

impl Gantt<'_> {
    /// The chart.
    pub(super) fn draw(&self) -> Markup {
        let height = self.rows.len() * ROW;
        let scale = Scale::of(self.slots, STEPS);
        let steps = scale.marks().filter(|mark| *mark <= self.slots);
        html! {
            div.chart.rows {
                svg height=(height) role="img" aria-label=(self.says) {
                    @for (n, mark) in steps.enumerate() {
                        @let at = Place::of(mark, self.slots);
                        line.grid x1={ (at) "%" } x2={ (at) "%" } y1="0" y2=(height) {}
                        text class={ "x" (if n % 2 == 0 { "" } else { " opt" }) } x={ (at) "%" }
                            y=(height) dy="18" { (count(self.first.saturating_add(mark))) }
                    }
                    @for (n, row) in self.rows.iter().enumerate() { (self.row(n * ROW, row)) }
                }
            }
        }
    }

    fn row(&self, top: usize, row: &Row) -> Markup {
        html! {
            text.name x="0" y=(top + ROW / 2) dx="-10" dy="4" { (short(&row.name, NAME)) }
            @for bar in &row.bars {
                @let (from, to) = (self.begin(bar.first), self.end(bar.last));
                rect class=(bar.look.class()) x={ (from) "%" } y=(top + (ROW - BAR) / 2)
                    width={ (from.to(to)) "%" } height=(BAR) rx="4" {
                    title { (short(&bar.text, TEXT)) }
                }
                svg x={ (from) "%" } y=(top) width={ (from.to(to)) "%" } height=(ROW) {
                    text.on x="8" y=(ROW / 2) dy="4" { (short(&bar.text, TEXT)) }
                }
            }
            @for (slot, look) in &row.marks {
                @let at = self.end(*slot);
                line class=(look.class()) x1={ (at) "%" } x2={ (at) "%" } y1=(top + 2)
                    y2=(top + ROW - 2) {}
            }
        }
    }

    /// The place at which a slot begins; the left end for one before the chart.
    fn begin(&self, slot: u64) -> Place {
        Place::of(slot.saturating_sub(self.first), self.slots)
    }

    /// The place at which a slot ends; the right end for one behind the chart.
    fn end(&self, slot: u64) -> Place {
        let after = slot.saturating_add(1).saturating_sub(self.first);
        Place::of(after, self.slots)
    }
}

/// The meaning of the looks.
pub(super) fn legend(looks: &[(Look, &str)]) -> Markup {
    html! {
        ul.legend {
            @for (look, word) in looks {
                li {
                    svg viewBox="0 0 20 12" aria-hidden="true" {
                        @if matches!(look, Look::Soft | Look::Hard) {
                            line class=(look.class()) x1="10" x2="10" y1="0" y2="12" {}
                        } @else {
                            rect class=(look.class()) x=".5" y="1.5" width="19" height="9" rx="2" {}
                        }
                    }
                    (word)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::samples::HOSTILE;

    fn drawn(first: u64, last: u64) -> String {
        let rows = [Row {
            name: HOSTILE.to_owned(),
            bars: vec![Bar {
                first,
                last,
                look: Look::Firm,
                text: HOSTILE.to_owned(),
            }],
            marks: vec![(14, Look::Hard)],
        }];
        let gantt = Gantt {
            first: 10,
            slots: 10,
            rows: &rows,
            says: HOSTILE,
        };
        gantt.draw().into_string()
    }

    #[test]
    fn bars_lie_at_their_slots_and_within_the_chart() {
        let inside = drawn(12, 14);
        assert!(
            inside.contains("x=\"20%\" y=\"6\" width=\"30%\""),
            "{inside}"
        );
        assert!(inside.contains("x1=\"50%\" x2=\"50%\""), "{inside}");
        assert!(drawn(1, 99).contains("x=\"0%\" y=\"6\" width=\"100%\""));
        assert!(drawn(30, u64::MAX).contains("x=\"100%\" y=\"6\" width=\"0%\""));
    }

    #[test]
    fn names_and_texts_are_text() {
        let all = drawn(12, 14) + &legend(&[(Look::Soft, HOSTILE)]).into_string();
        assert!(
            !all.contains("<script") && all.contains("&lt;script"),
            "{all}"
        );
    }

    #[test]
    fn an_axis_names_round_slots() {
        let page = drawn(12, 14);
        for slot in ["10", "12", "20"] {
            assert!(
                page.contains(&format!("dy=\"18\">{slot}</text>")),
                "{slot}: {page}"
            );
        }
    }
}
