//! Why a job is in its state: every condition with its figures, one sentence, and what would help.
//!
//! The figures are those of the ledger at this moment: they say what the next clearing will find, not
//! what the last one found.

mod words;

use super::job::{find, situation};
use super::ledger::spendable;
use super::market::{Market, class_named, held};
use super::order::job_id;
use super::price::limit_hourly;
use super::{Answer, NodeBackend};
use crate::api::ApiError;
use crate::api::types::{JobId, JobReason, JobState, Why, WhyCheck};
use gridbay_core::Core;
use gridbay_core::agent::Phase;
use gridbay_core::buyer::order::{OrderAgent, Seen};
use gridbay_core::buyer::{NewOrder, OrderKey, Terms};
use gridbay_protocol::order::entry_of;
use gridbay_protocol::units::{Credits, Price};
use words::{remedies, summary};

/// What an explanation is made from.
#[derive(Clone, Debug)]
struct Facts {
    state: JobState,
    reason: Option<JobReason>,
    class: String,
    /// Nodes asked for, and the fewest that are of use.
    nodes: u32,
    fewest: u32,
    offered: u32,
    free: u32,
    is_buy: bool,
    /// Per node-hour: the order's limit, what the sellers ask of it, the last clearing's mean.
    limit: Credits,
    asked: Option<Credits>,
    last: Option<Credits>,
    /// What the next slot (or the whole buy) locks, what is locked, what can be spent.
    needed: Credits,
    locked: Credits,
    spendable: Credits,
    /// What was paid, and the most that may be.
    paid: Credits,
    budget: Credits,
    height: u64,
    round: u64,
    slot: u64,
    sealed_in: Option<u64>,
    /// Validators that acknowledged the entry it waits for, and all of them.
    acknowledged: Option<(usize, usize)>,
    closes_at: u64,
    /// Ranks: all, begun, done.
    ranks: (u32, usize, usize),
}

impl NodeBackend {
    pub(super) async fn explain(&self, id: JobId) -> Answer<Why> {
        let looked = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            let (facts, class) = facts(core, agent)?;
            Ok::<(OrderKey, Facts, _), ApiError>((key, facts, class))
        });
        let (key, mut facts, class) = looked.await??;
        facts.last = self.board.last(&class).map(|last| last.price);
        Ok(Why {
            id: job_id(&key),
            state: facts.state,
            reason: facts.reason,
            summary: summary(&facts),
            checks: checks(&facts),
            remedies: remedies(&facts),
        })
    }
}

/// What the order itself says, in the ledger's units.
struct Asks {
    is_buy: bool,
    fewest: u32,
    limit: Price,
    needed: Credits,
    budget: Credits,
    /// What sellers ask of it.
    price: Option<Price>,
}

fn asks(order: &NewOrder, market: &Market) -> Asks {
    match &order.terms {
        Terms::Sealed {
            steps, min, budget, ..
        } => {
            let parts = steps.iter().map(|s| s.price.times(u64::from(s.units)));
            let slot = parts.collect::<Option<Vec<_>>>().and_then(Credits::sum);
            Asks {
                is_buy: false,
                fewest: *min,
                limit: steps.iter().map(|s| s.price).max().unwrap_or_default(),
                needed: slot.unwrap_or(Credits::MAX),
                budget: *budget,
                price: market.reserve_of(*min),
            }
        }
        Terms::Buy { units, limit, .. } => {
            let most = limit.checked_mul(u64::from(order.slots) + 1);
            let most = most.unwrap_or(Credits::MAX);
            let per_unit = |sum: Credits| Price(sum.micros() / u64::from(*units).max(1));
            Asks {
                is_buy: true,
                fewest: *units,
                limit: per_unit(*limit),
                needed: most,
                budget: most,
                price: market.asked(*units).map(per_unit),
            }
        }
        // A claim states no price: what the reserve asks of its rate is in the quote.
        Terms::Share { rate, budget, .. } => Asks {
            is_buy: false,
            fewest: 1,
            limit: Price(rate.micros()),
            needed: *rate,
            budget: *budget,
            price: None,
        },
    }
}

fn facts(core: &Core, agent: &OrderAgent) -> Answer<(Facts, gridbay_protocol::ids::ClassId)> {
    let (state, order) = (core.state(), agent.order());
    let name = super::market::class_name(state, &order.class);
    let class = class_named(state, Some(&name))?;
    let market = Market::of(state, class, &held(state));
    let (policy, height) = (state.policy(), state.height());
    let slot_ms = policy.slot_ms();
    let asks = asks(order, &market);
    let (now, reason) = situation(state, agent).judge();
    let begun = |p: Phase| matches!(p, Phase::Running { .. } | Phase::Ended { .. });
    let round = policy.calendar.round(height.saturating_add(1));
    let facts = Facts {
        state: now,
        reason,
        class: name,
        nodes: order.tasks,
        fewest: asks.fewest,
        offered: market.supply(),
        free: market.free(),
        is_buy: asks.is_buy,
        limit: limit_hourly(asks.limit, slot_ms),
        asked: asks.price.map(|price| limit_hourly(price, slot_ms)),
        last: None,
        needed: asks.needed,
        locked: agent.id.map_or(Credits::ZERO, |id| state.escrow(&id)),
        spendable: core
            .account()
            .map_or(Credits::ZERO, |account| spendable(state, &account)),
        paid: agent.paid(),
        budget: asks.budget,
        height,
        round,
        slot: policy.calendar.slot(height.saturating_add(1)),
        sealed_in: match agent.seen {
            Seen::Sealed(round) => Some(round),
            _ => None,
        },
        acknowledged: acknowledged(core, agent),
        closes_at: policy.calendar.last_of_round(round),
        ranks: (
            order.tasks,
            agent.tasks.runs.values().filter(|r| begun(r.phase)).count(),
            agent
                .tasks
                .records
                .iter()
                .filter(|t| t.done.is_some())
                .count(),
        ),
    };
    Ok((facts, order.class))
}

/// Validators that acknowledged the entry that the order waits for, and all of them; `None` if it waits for none.
fn acknowledged(core: &Core, agent: &OrderAgent) -> Option<(usize, usize)> {
    if agent.finish().is_some() {
        return None;
    }
    let entry = match agent.seen {
        Seen::Absent => entry_of(&agent.id?),
        Seen::Sealed(_) => agent.sent_opening()?.entry,
        Seen::Unopened | Seen::Standing | Seen::Running(_) => return None,
    };
    let all = core.state().validators().members().len();
    Some((core.host().receipts(&entry).len(), all))
}

fn check(condition: String, met: bool, figures: String) -> WhyCheck {
    WhyCheck {
        condition,
        met,
        figures,
    }
}

fn checks(f: &Facts) -> Vec<WhyCheck> {
    let mut checks = checks_of_terms(f);
    checks.extend(checks_of_progress(f));
    checks
}

/// Whether what the order asks for is there, and paid for.
fn checks_of_terms(f: &Facts) -> Vec<WhyCheck> {
    let or_none = |price: Option<Credits>| price.map_or("none".to_owned(), |p| p.to_string());
    let missing = f.needed.saturating_sub(f.locked);
    vec![
        check(
            format!("units of class {}", f.class),
            f.offered >= f.fewest,
            format!(
                "{} offered, {} free, {} wanted, {} at least",
                f.offered, f.free, f.nodes, f.fewest
            ),
        ),
        check(
            "price per node-hour".into(),
            f.asked.is_none_or(|asked| asked <= f.limit)
                && f.last
                    .filter(|_| !f.is_buy)
                    .is_none_or(|last| last <= f.limit),
            format!(
                "limit {}, sellers ask {}, last clearing {}",
                f.limit,
                or_none(f.asked),
                or_none(f.last)
            ),
        ),
        check(
            if f.is_buy {
                "funds for all of it"
            } else {
                "funds for the next slot"
            }
            .into(),
            missing <= f.spendable || f.state == JobState::Running,
            format!(
                "{} needed, {} locked, {} to spend",
                f.needed, f.locked, f.spendable
            ),
        ),
        check(
            "budget".into(),
            f.is_buy || f.needed <= f.budget.saturating_sub(f.paid),
            format!("{} of {} paid", f.paid, f.budget),
        ),
    ]
}

/// How far the order has come.
fn checks_of_progress(f: &Facts) -> Vec<WhyCheck> {
    let (ranks, begun, done) = f.ranks;
    let sealed = f
        .sealed_in
        .map_or(String::new(), |r| format!(", sealed in round {r}"));
    let mut checks = vec![check(
        "its round has closed".into(),
        !matches!(f.state, JobState::Queued | JobState::Bidding),
        format!(
            "height {}, round {} closes at height {}, slot {}{sealed}",
            f.height, f.round, f.closes_at, f.slot
        ),
    )];
    if let Some((by, all)) = f.acknowledged {
        checks.push(check(
            "its entry is acknowledged".into(),
            by * 3 > all * 2,
            format!("by {by} of {all} validators"),
        ));
    }
    checks.push(check(
        "ranks at work".into(),
        begun + done == ranks as usize,
        format!("{ranks} ranks, {begun} begun, {done} done"),
    ));
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credits(text: &str) -> Credits {
        text.parse().unwrap()
    }
    fn standing() -> Facts {
        Facts {
            state: JobState::Bidding,
            reason: Some(JobReason::Outbid),
            class: "small".into(),
            nodes: 4,
            fewest: 4,
            offered: 8,
            free: 2,
            is_buy: false,
            limit: credits("10"),
            asked: Some(credits("5")),
            last: Some(credits("12")),
            needed: credits("1"),
            locked: credits("1"),
            spendable: Credits::ZERO,
            paid: Credits::ZERO,
            budget: credits("40"),
            height: 17,
            round: 4,
            slot: 2,
            sealed_in: None,
            acknowledged: None,
            closes_at: 20,
            ranks: (4, 0, 0),
        }
    }
    fn unmet(facts: &Facts) -> Vec<String> {
        let unmet = checks(facts).into_iter().filter(|c| !c.met);
        unmet.map(|c| c.condition).collect()
    }

    #[test]
    fn outbid() {
        let facts = standing();
        assert_eq!(
            unmet(&facts),
            [
                "price per node-hour",
                "its round has closed",
                "ranks at work"
            ]
        );
        assert!(summary(&facts).contains("10 per node-hour"));
        assert!(
            remedies(&facts)[0].contains("above 12"),
            "{:?}",
            remedies(&facts)
        );
    }

    #[test]
    fn an_entry_that_few_have_acknowledged() {
        let waiting = |by| Facts {
            acknowledged: Some((by, 4)),
            ..standing()
        };
        assert!(unmet(&waiting(2)).contains(&"its entry is acknowledged".to_owned()));
        assert!(!unmet(&waiting(3)).contains(&"its entry is acknowledged".to_owned()));
        let figures = checks(&waiting(2)).into_iter().map(|c| c.figures);
        assert!(figures.into_iter().any(|f| f == "by 2 of 4 validators"));
    }

    #[test]
    fn too_few_units() {
        let facts = Facts {
            offered: 3,
            reason: Some(JobReason::NoUnits),
            last: None,
            ..standing()
        };
        assert_eq!(unmet(&facts)[0], "units of class small");
        let figures = &checks(&facts)[0].figures;
        assert_eq!(figures, "3 offered, 2 free, 4 wanted, 4 at least");
        assert!(remedies(&facts)[0].contains("at most 3 nodes"));
        assert!(remedies(&facts)[1].contains("divisible"));
    }

    #[test]
    fn money() {
        let poor = Facts {
            locked: Credits::ZERO,
            last: None,
            ..standing()
        };
        assert_eq!(unmet(&poor)[0], "funds for the next slot");
        let spent = Facts {
            paid: credits("39.5"),
            last: None,
            ..standing()
        };
        assert_eq!(unmet(&spent)[0], "budget");
        assert!(
            remedies(&spent)
                .iter()
                .any(|r| r.contains("raise the budget"))
        );
    }

    #[test]
    fn every_state_has_a_sentence() {
        for state in JobState::ALL {
            for reason in [None, Some(JobReason::Sealed), Some(JobReason::Lost)] {
                let sentence = summary(&Facts {
                    state,
                    reason,
                    ..standing()
                });
                assert!(
                    sentence.ends_with('.') && sentence.len() > 8,
                    "{state:?}: {sentence}"
                );
            }
        }
        let done = Facts {
            state: JobState::Done,
            reason: None,
            ranks: (4, 0, 4),
            ..standing()
        };
        assert!(remedies(&done).is_empty());
    }
}
