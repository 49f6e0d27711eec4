//! Explanations of orders in every state.

use super::super::Defeat;
use super::super::words::{remedies, summary};
use super::*;
use crate::buy::way::Words;
use gridbay_protocol::mechanism::ausubel::Rule;

fn credits(text: &str) -> Credits {
    text.parse().unwrap()
}
fn standing() -> Facts {
    Facts {
        job: "0123456789abcdef".into(),
        state: JobState::Bidding,
        reason: Some(JobReason::Outbid),
        class: "small".into(),
        nodes: 4,
        fewest: 4,
        offered: 8,
        free: 2,
        prepaid: false,
        booked_from: None,
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
        closes_ms: 750,
        ranks: (4, 0, 0),
        collecting: 0,
        dropped: 0,
        refusal: None,
        lost: None,
        words: Words::default(),
        amendable: None,
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
    let paid = "Outbid: others paid 12 per node-hour, and it bids 10.";
    assert_eq!(summary(&facts), paid);
    let asked = Facts {
        asked: Some(credits("12.5")),
        ..facts.clone()
    };
    let ask = "Sellers ask 12.5 per node-hour, and it bids 10.";
    assert_eq!(summary(&asked), ask);
    let full = Facts {
        last: None,
        ..facts.clone()
    };
    assert!(summary(&full).contains("others took the units"));
    assert!(
        remedies(&facts)[0].contains("of 13.2 or more: --max-price"),
        "{:?}",
        remedies(&facts)
    );
    let asked = Facts {
        amendable: Some("0123456789abcdef".into()),
        ..asked
    };
    let meets = "raise its bid: gridbay bid amend 0123456789abcdef --max-price 13.2";
    assert_eq!(remedies(&asked), [meets], "more than others paid");
    let alone = Facts {
        last: None,
        ..asked.clone()
    };
    let meets = "raise its bid: gridbay bid amend 0123456789abcdef --max-price 12.5";
    assert_eq!(remedies(&alone), [meets], "as much as sellers ask");
    let unknown = Facts {
        asked: None,
        ..alone
    };
    let advice = "see what would have won: gridbay bid suggest --class small -n 4";
    assert_eq!(remedies(&unknown), [advice]);
}

#[test]
fn a_bid_that_was_passed_over() {
    let defeat = Defeat {
        height: 12,
        rule: Rule::Exact,
        bid: credits("19"),
        least: 6,
        passed_over: Some(credits("16")),
        would_win: Some(credits("20")),
    };
    let facts = Facts {
        lost: Some(defeat),
        ..standing()
    };
    let found = checks(&facts);
    let found = found.iter().find(|c| c.condition == "the last clearing");
    assert_eq!(
        found.unwrap().figures,
        "height 12, rule exact, it bid 19 for 6 nodes or none; passed over for a bid of 16 that \
         filled more nodes; 20 would have won"
    );
    assert!(remedies(&facts)[0].contains("20 or more"));
    let won = "Outbid: 20 per node-hour would have won, and it bids 10.";
    assert_eq!(summary(&facts), won);
    let standing = Facts {
        amendable: Some("0123456789abcdef".into()),
        ..facts
    };
    let amend = "raise its bid: gridbay bid amend 0123456789abcdef --max-price 20";
    assert_eq!(remedies(&standing), [amend]);
}

#[test]
fn nothing_is_said_of_clearings_that_are_not_its_own_any_more() {
    let all = |state, reason| {
        let facts = Facts {
            state,
            reason,
            ranks: (4, 4, 0),
            ..standing()
        };
        let all = checks(&facts).into_iter().map(|c| (c.condition, c.met));
        all.collect::<Vec<_>>()
    };
    let met = |names: &[&str]| {
        names
            .iter()
            .map(|n| ((*n).into(), true))
            .collect::<Vec<_>>()
    };
    let running = all(JobState::Running, None);
    assert_eq!(
        running,
        met(&["funds for the next slot", "budget", "ranks at work"])
    );
    for (state, reason) in [
        (JobState::Done, None),
        (JobState::Failed, Some(JobReason::ExitCode)),
        (JobState::Cancelled, Some(JobReason::Cancelled)),
    ] {
        assert_eq!(all(state, reason), met(&["ranks at work"]));
    }
    let expired = all(JobState::Expired, Some(JobReason::TimedOut));
    assert!(
        expired.contains(&("price per node-hour".into(), false)),
        "{expired:?}"
    );
}

#[test]
fn words_of_its_way_go_first() {
    let own = check("units of class large".into(), false, "1 free".into());
    let words = Words {
        sentence: Some("There is no room for it yet.".into()),
        units: Some(vec![own]),
        remedies: Some(vec!["wait".into()]),
        ..Words::default()
    };
    let facts = Facts {
        words,
        ..standing()
    };
    let unmet = unmet(&facts);
    assert!(unmet.contains(&"units of class large".to_owned()));
    assert!(!unmet.contains(&"units of class small".to_owned()));
    assert_eq!(summary(&facts), "There is no room for it yet.");
    assert_eq!(remedies(&facts), ["wait"]);
    let told = |reason| {
        summary(&Facts {
            state: JobState::Expired,
            reason: Some(reason),
            ..standing()
        })
    };
    assert!(told(JobReason::Disputed).contains("complained of was paid back"));
    assert!(told(JobReason::Undelivered).contains("did not deliver"));
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
    assert!(remedies(&facts)[1].ends_with("--array 4 for -n 4"));
}

#[test]
fn units_that_others_held() {
    let facts = Facts {
        state: JobState::Expired,
        reason: Some(JobReason::NoUnits),
        free: 0,
        last: None,
        ..standing()
    };
    assert_eq!(
        summary(&facts),
        "It needed 4 units of small at least, and too few were free: of 8 offered, none is \
         free now."
    );
    assert_eq!(unmet(&facts)[0], "units of class small");
    let figures = &checks(&facts)[0].figures;
    assert!(
        figures.ends_with("too few when it was decided on"),
        "{figures}"
    );
    assert!(remedies(&facts)[0].contains("when more is free"));
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
            .any(|r| r.ends_with("submit it again with --budget 40.5 or more"))
    );
    let amendable = Facts {
        amendable: Some("0123456789abcdef".into()),
        ..spent
    };
    let command = "gridbay bid amend 0123456789abcdef --max-price 10 --budget 40.5";
    assert!(remedies(&amendable).iter().any(|r| r.ends_with(command)));
    let failed = Facts {
        state: JobState::Failed,
        reason: Some(JobReason::ExitCode),
        ..standing()
    };
    let read = "read its logs: gridbay job logs 0123456789abcdef";
    assert_eq!(remedies(&failed)[0], read);
}

#[test]
fn booked_ahead() {
    let facts = Facts {
        state: JobState::Won,
        reason: Some(JobReason::Booked),
        prepaid: true,
        booked_from: Some(40),
        locked: Credits::ZERO,
        last: None,
        ..standing()
    };
    assert_eq!(unmet(&facts), ["ranks at work"]);
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
    let dropped = Facts { dropped: 7, ..done };
    assert_eq!(unmet(&dropped), ["all output is kept"]);
    assert!(remedies(&dropped)[0].contains("--output"));
}
