//! A line of prices in a table's cell.

use gridbay_protocol::units::Credits;
use maud::{Markup, html};

/// The prices of one hour, oldest first, drawn between their least and their greatest; nothing for
/// fewer than two.
pub(super) fn spark(class: &str, prices: &[Credits]) -> Markup {
    let Some(line) = line(prices) else {
        return html! { span.faint { "–" } };
    };
    let area = format!("{line} V100 H0Z");
    html! {
        svg.spark.c1 viewBox="0 0 100 100" preserveAspectRatio="none" role="img"
            aria-label={ (class) ": price of the last hour" } {
            path.area d=(area) {}
            path.line d=(line) {}
        }
    }
}

fn line(prices: &[Credits]) -> Option<String> {
    let steps = prices.len().checked_sub(1).filter(|steps| *steps > 0)?;
    let micros = || prices.iter().map(|price| price.micros());
    let (low, high) = (micros().min()?, micros().max()?);
    let mut line = String::new();
    for (at, price) in micros().enumerate() {
        // From 90 for the least to 10 for the greatest; a price that stands lies in the middle.
        let rise = u128::from(price - low) * 80;
        let y = rise
            .checked_div(u128::from(high - low))
            .map_or(50, |rise| 90 - rise);
        let word = if at == 0 { 'M' } else { 'L' };
        line.push_str(&format!("{word}{} {y} ", at * 100 / steps));
    }
    line.pop();
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_prices() {
        let of = |prices: &[&str]| {
            let prices: Vec<Credits> = prices.iter().map(|p| p.parse().unwrap()).collect();
            line(&prices)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["1"]), None);
        assert_eq!(of(&["1", "3", "2"]).unwrap(), "M0 90 L50 10 L100 50");
        assert_eq!(of(&["2", "2"]).unwrap(), "M0 50 L100 50");
        let most = [Credits::ZERO, Credits::MAX];
        assert_eq!(line(&most).unwrap(), "M0 90 L100 10");
    }
}
