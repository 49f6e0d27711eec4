//! Charts as SVG. Places are in per cent of the sides, so that text keeps the page's size at any
//! width; lines are drawn in an inner SVG of 100 by 100 that is stretched, and their strokes are
//! not.

use maud::{Markup, html};
use std::fmt;

/// All of a side, in hundredths of a per cent.
const WHOLE: u32 = 10_000;

/// A place on a side, in hundredths of a per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

impl Place {
    /// Of so much of the side's whole; beyond it, the side's end.
    pub fn of(part: u64, whole: u64) -> Place {
        let wide = u128::from(part) * u128::from(WHOLE);
        let place = wide.checked_div(u128::from(whole)).unwrap_or(0);
        Place(u32::try_from(place).unwrap_or(WHOLE).min(WHOLE))
    }
    /// The same, counted from the other end.
    pub fn opposite(self) -> Place {
        Place(WHOLE - self.0)
    }
    /// From here to a place further on.
    pub fn to(self, end: Place) -> Place {
        Place(end.0.saturating_sub(self.0))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 100, self.0 % 100) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, part) => write!(f, "{whole}.{part:02}"),
        }
    }
}

/// A side that begins at zero and is divided into round steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    step: u64,
    steps: u64,
}

impl Scale {
    /// The shortest that reaches `greatest` in at most `most` steps.
    pub fn of(greatest: u64, most: u64) -> Scale {
        let (greatest, most) = (greatest.max(1), most.max(1));
        let mut unit = 1u64;
        loop {
            for factor in [1, 2, 5] {
                let step = unit.saturating_mul(factor);
                let steps = greatest.div_ceil(step);
                if steps <= most {
                    return Scale { step, steps };
                }
            }
            unit = unit.saturating_mul(10);
        }
    }
    /// Its end.
    pub fn end(&self) -> u64 {
        self.step.saturating_mul(self.steps)
    }
    /// Zero and the end of each step.
    pub fn marks(&self) -> impl Iterator<Item = u64> {
        let Scale { step, steps } = *self;
        (0..=steps).map(move |n| step.saturating_mul(n))
    }
    /// The place of a value.
    pub fn place(&self, value: u64) -> Place {
        Place::of(value, self.end())
    }
    /// The same from the top.
    pub fn height(&self, value: u64) -> Place {
        self.place(value).opposite()
    }
}

/// A chart; `says` is its result in a sentence, for those who do not see it.
pub fn chart(says: &str, body: &Markup) -> Markup {
    html! { div.chart { svg role="img" aria-label=(says) { (body) } } }
}

/// Lines across the chart, each with its value at the left.
pub fn grid(scale: &Scale, name: impl Fn(u64) -> String) -> Markup {
    html! {
        @for mark in scale.marks() {
            @let at = scale.height(mark);
            line.grid x1="0" x2="100%" y1={ (at) "%" } y2={ (at) "%" } {}
            text.y x="0" y={ (at) "%" } dx="-8" dy="4" { (name(mark)) }
        }
    }
}

/// The inner SVG for lines.
pub fn stretched(lines: &Markup) -> Markup {
    html! {
        svg viewBox="0 0 100 100" preserveAspectRatio="none" x="0" y="0" width="100%" height="100%"
            overflow="visible" { (lines) }
    }
}

/// A word below the chart; `class` may be `opt`, for one that a phone has no room for.
pub fn below(at: Place, word: &str, class: &str) -> Markup {
    html! { text class={ "x " (class) } x={ (at) "%" } y="100%" dy="20" { (word) } }
}

/// A round point.
pub fn point(class: &str, at: Place, height: Place) -> Markup {
    html! { path class={ "point " (class) } d={ "M" (at) " " (height) "h.01" } {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let shown = |part, whole| Place::of(part, whole).to_string();
        assert_eq!(shown(1, 3), "33.33");
        assert_eq!(shown(1, 2), "50");
        assert_eq!(shown(1, 20_000), "0", "below what is told");
        assert_eq!(shown(9, 3), "100");
        assert_eq!(shown(1, 0), "0");
        assert_eq!(shown(u64::MAX, u64::MAX), "100");
        assert_eq!(Place::of(1, 4).opposite().to_string(), "75");
        let width = Place::of(1, 4).to(Place::of(1, 2));
        assert_eq!(width.to_string(), "25");
    }

    #[test]
    fn scales_reach_the_greatest_value_in_few_round_steps() {
        let marks = |greatest, most| Scale::of(greatest, most).marks().collect::<Vec<_>>();
        assert_eq!(
            marks(6_600_000, 4),
            [0, 2_000_000, 4_000_000, 6_000_000, 8_000_000]
        );
        assert_eq!(marks(24, 6), [0, 5, 10, 15, 20, 25]);
        assert_eq!(marks(0, 4), [0, 1]);
        assert_eq!(marks(4, 4), [0, 1, 2, 3, 4]);
        for greatest in [1, 7, 999, 1_000_001, u64::MAX / 3, u64::MAX] {
            let scale = Scale::of(greatest, 4);
            assert!(
                scale.end() >= greatest && scale.marks().count() <= 5,
                "{greatest}"
            );
            assert!(
                scale.height(greatest) <= scale.height(greatest / 2),
                "{greatest}"
            );
        }
    }
}
