//! I14: same seed, same trace.
//!
//! Nothing in one world can show this; a batch runs some of its seeds twice and compares the two.

use super::Broken;
use crate::run::Outcome;

/// Compares two runs of one plan.
///
/// # Errors
/// The breach: they differ in what happened, or in where they broke.
pub fn same(first: &Outcome, second: &Outcome) -> Result<(), Broken> {
    let differ = |what: String| Err(Broken::new("I14", 0, what));
    if first.broken != second.broken {
        return differ(format!("{:?}, then {:?}", first.broken, second.broken));
    }
    if first.trace != second.trace || first.yields != second.yields {
        return differ(format!(
            "trace {} with {:?}, then {} with {:?}",
            first.trace, first.yields, second.trace, second.yields
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover::Cover;
    use crate::plan::Plan;
    use crate::run::Yields;

    #[test]
    fn two_different_runs_are_reported() {
        let run = |trace: &str| Outcome {
            plan: Plan::calm(1, 4),
            broken: None,
            trace: trace.to_owned(),
            cover: Cover::default(),
            yields: Yields::default(),
        };
        assert_eq!(same(&run("a"), &run("a")), Ok(()));
        assert!(same(&run("a"), &run("b")).is_err());
        let broken = Outcome {
            broken: Some(Broken::new("I1", 5, "money".to_owned())),
            ..run("a")
        };
        assert!(same(&run("a"), &broken).is_err());
    }
}
