//! Words about a project that its pages share.

use crate::api::types::ProjectRecord;
use crate::web::command::command;
use crate::web::figures::count;

/// Address of a project. Its name has no character that an address gives a meaning.
pub(super) fn place(name: &str) -> String {
    format!("/projects/{name}")
}

/// The command about a project, with further words.
pub(super) fn about(name: &str, before: &[&str], behind: &[&str]) -> String {
    let words = ["gridbay"]
        .iter()
        .chain(before)
        .chain(std::iter::once(&name));
    command(words.chain(behind).copied())
}

/// How much of its budget a project has taken, in per cent.
pub(super) fn percent(one: &ProjectRecord) -> Option<u32> {
    let budget = u128::from(one.limits.budget?.micros());
    let taken = u128::from(one.spent.micros()) + u128::from(one.reserved.micros());
    let percent = (taken * 100).checked_div(budget).unwrap_or(100);
    // More than all of it, after the budget was lowered.
    Some(u32::try_from(percent.min(100)).unwrap_or(100))
}

/// A use of a bound, as in `3 of 10`.
pub(super) fn of(used: u32, bound: Option<u32>) -> String {
    match bound {
        Some(bound) => format!("{} of {}", count(used), count(bound)),
        None => count(used),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn a_budget_that_is_used_up_or_lowered_is_full() {
        let with = |budget: Option<&str>| {
            let mut one = samples::project("bio");
            one.limits.budget = budget.map(|text| text.parse().unwrap());
            percent(&one)
        };
        // It has spent 2 and reserved 3.
        assert_eq!(with(Some("20")), Some(25));
        assert_eq!([with(Some("5")), with(Some("1"))], [Some(100), Some(100)]);
        assert_eq!([with(Some("0")), with(None)], [Some(100), None]);
    }
}
