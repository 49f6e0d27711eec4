//! The parts of a buy, class by class, and the outcomes that only buys can have.

use crate::api::types::{JobReason, JobState, WhyCheck};
use crate::buy::way::{Asks, Standing, Words};
use crate::market::{Market, class_name, held};
use gridbay_core::buy::BuyTerms;
use gridbay_protocol::units::{Credits, Price};

/// Nodes of one class of several.
struct Part {
    class: String,
    nodes: u32,
    offered: u32,
    free: u32,
    /// The sellers' price per slot for all of them.
    asked: Option<Credits>,
}

/// The nodes of each class, if they are several.
fn parts(terms: &BuyTerms, at: &Standing<'_>) -> Vec<Part> {
    if terms.parts.len() < 2 {
        return Vec::new();
    }
    let held = held(at.state);
    let part = |part: &gridbay_protocol::order::BuyPart| {
        let market = Market::of(at.state, at.state.class(&part.class)?, &held);
        Some(Part {
            class: market.name.clone(),
            nodes: part.units,
            offered: market.supply(),
            free: market.can_be_bought(),
            asked: market.asked(part.units),
        })
    };
    terms.parts.iter().filter_map(part).collect()
}

/// A buy is limited by what it may cost a slot.
pub(super) fn asks(terms: &BuyTerms, slots: u32, at: &Standing<'_>) -> Asks {
    let units: u32 = terms.parts.iter().map(|part| part.units).sum();
    let parts = parts(terms, at);
    let (asked, offered, free) = match &parts[..] {
        [] => (at.market.asked(units), at.market.supply(), at.market.free()),
        parts => {
            let asked = parts.iter().map(|part| part.asked);
            let asked = asked.collect::<Option<Vec<_>>>();
            (
                asked.and_then(Credits::sum),
                parts.iter().map(|p| p.offered.min(p.nodes)).sum(),
                parts.iter().map(|p| p.free.min(p.nodes)).sum(),
            )
        }
    };
    let most = terms.limit.checked_mul(u64::from(slots) + 1);
    let most = most.unwrap_or(Credits::MAX);
    let per_unit = |sum: Credits| Price(sum.micros() / u64::from(units).max(1));
    Asks {
        prepaid: true,
        fewest: units,
        limit: per_unit(terms.limit),
        needed: most,
        budget: most,
        price: asked.map(per_unit),
        offered,
        free,
    }
}

/// The outcomes that only buys can have.
pub(super) fn words(terms: &BuyTerms, at: &Standing<'_>) -> Words {
    let short = short(at);
    let parts = parts(terms, at);
    Words {
        sentence: sentence(at.judged, short.as_deref(), waits_until(at)),
        units: (!parts.is_empty()).then(|| {
            let checks = parts.iter().map(|part| check(part, short.as_deref()));
            checks.collect()
        }),
        remedies: (at.judged == (JobState::Expired, Some(JobReason::NoUnits))).then(|| {
            let again = match terms.patience {
                0 => "submit it again to wait for units: --buy --wait 10m",
                _ => "submit it again to wait for longer: --buy --wait",
            };
            vec![
                again.to_owned(),
                "or bid for them: leave out --buy".to_owned(),
            ]
        }),
        ..Words::default()
    }
}

fn sentence(
    judged: (JobState, Option<JobReason>),
    short: Option<&str>,
    waits_until: Option<u64>,
) -> Option<String> {
    match (judged, short, waits_until) {
        ((JobState::Expired, Some(JobReason::NoUnits)), Some(short), _) => Some(format!(
            "Class {short} had too few units for it, so it took none of its other classes either."
        )),
        ((_, Some(JobReason::NoUnits)), _, _) => None,
        ((JobState::Bidding, _), short, Some(until)) => {
            let class = short.map_or(String::new(), |class| format!(" in class {class}"));
            Some(format!(
                "There is no room for it{class} yet; it waits for some until height {until}."
            ))
        }
        _ => None,
    }
}

fn check(part: &Part, short: Option<&str>) -> WhyCheck {
    let is_short = short == Some(&part.class);
    let mut figures = format!(
        "{} offered, {} free to be bought, {} wanted with all the others or none",
        part.offered, part.free, part.nodes
    );
    if is_short {
        figures += "; too few when it was last decided on";
    }
    WhyCheck {
        condition: format!("units of class {}", part.class),
        met: part.offered >= part.nodes && !is_short,
        figures,
    }
}

/// Of which class it found too few units: when it ended, or as it waits.
fn short(at: &Standing<'_>) -> Option<String> {
    let waits = |id| at.state.order(&id)?.buy()?.short;
    let class = at.agent.short().or(at.agent.id.and_then(waits))?;
    Some(class_name(at.state, &class))
}

/// Last height at which it may be served, if it waits for units.
fn waits_until(at: &Standing<'_>) -> Option<u64> {
    let buy = at.state.order(&at.agent.id?)?.buy()?;
    buy.waits.then_some(buy.buy.stands_until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_says_which_class_is_short() {
        let part = |class: &str| Part {
            class: class.into(),
            nodes: 2,
            offered: 4,
            free: 1,
            asked: None,
        };
        let large = check(&part("large"), Some("large"));
        assert!(!large.met && large.figures.contains("1 free to be bought, 2 wanted"));
        assert!(check(&part("small"), Some("large")).met);
        let waits = sentence((JobState::Bidding, None), Some("large"), Some(40)).unwrap();
        assert!(waits.contains("in class large yet; it waits for some until height 40"));
        let ended = (JobState::Expired, Some(JobReason::NoUnits));
        let ended = sentence(ended, Some("large"), None).unwrap();
        assert!(ended.starts_with("Class large had too few units"));
        let few = (JobState::Bidding, Some(JobReason::NoUnits));
        assert_eq!(sentence(few, None, Some(40)), None, "as any order");
    }
}
