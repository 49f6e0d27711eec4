//! Output that was dropped: how much, why, and what to do.

use super::types::RankExit;
use crate::executor::Limits;

/// What to do about it.
pub(crate) const REMEDY: &str =
    "write large output into a file and name that with --output: a file comes back whole";

/// How much of all ranks' output was dropped, if any was, and why.
pub(crate) fn in_words(exits: &[RankExit]) -> Option<String> {
    let dropped = exits.iter().map(|exit| exit.dropped);
    let dropped = dropped.fold(0, u64::saturating_add);
    let kept = Limits::default().output_bytes >> 20;
    (dropped > 0).then(|| {
        format!(
            "{dropped} bytes of the output were dropped: of each stream a seller keeps {kept} MiB, \
             and this node limits.output"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::job::JobExit;

    #[test]
    fn what_was_dropped_is_summed_over_the_ranks() {
        let exit = |rank, dropped| RankExit {
            rank,
            exit: JobExit::Code(0),
            dropped,
        };
        assert_eq!(in_words(&[exit(0, 0), exit(1, 0)]), None);
        let said = in_words(&[exit(0, 40), exit(1, 2)]).unwrap();
        assert!(
            said.starts_with("42 bytes of the output were dropped"),
            "{said}"
        );
        assert!(said.contains("16 MiB"), "{said}");
        assert!(in_words(&[exit(0, u64::MAX), exit(1, 2)]).is_some());
    }
}
