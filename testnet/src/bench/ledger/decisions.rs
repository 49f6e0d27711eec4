//! How long blocks take from their proposal to their decision, as a node counts them.

/// The lines of the node's metrics that tell it.
const BUCKET: &str = "gridbay_ledger_block_decision_seconds_bucket{le=\"";

/// Decisions by upper bounds, each count holding those before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decisions(Vec<(f64, u64)>);

impl Decisions {
    /// Those until now, by the metrics of a node.
    pub(crate) fn read(metrics: &str) -> Decisions {
        let bucket = |line: &str| {
            let (bound, count) = line.strip_prefix(BUCKET)?.split_once("\"} ")?;
            // The last bound is "+Inf", which is a number too.
            Some((bound.parse().ok()?, count.parse().ok()?))
        };
        Decisions(metrics.lines().filter_map(bucket).collect())
    }

    /// Milliseconds that a part of the decisions since `before` took at the most; as if they were
    /// spread evenly between two bounds. `None` without any, or beyond the last bound.
    pub(crate) fn percentile(&self, before: &Decisions, percent: u64) -> Option<u64> {
        let earlier = |n: usize| before.0.get(n).map_or(0, |(_, count)| *count);
        let counts = self.0.iter().enumerate();
        let counts = counts.map(|(n, (bound, count))| (*bound, count.saturating_sub(earlier(n))));
        let counts: Vec<(f64, u64)> = counts.collect();
        let all = counts
            .last()
            .map(|(_, count)| *count)
            .filter(|all| *all > 0)?;
        let wanted = (all * percent).div_ceil(100);
        let (mut low, mut below) = (0.0, 0);
        for (bound, count) in counts {
            if count >= wanted {
                let part = (wanted - below) as f64 / (count - below) as f64;
                let seconds = low + (bound - low) * part;
                return seconds
                    .is_finite()
                    .then_some((seconds * 1_000.0).round() as u64);
            }
            (low, below) = (bound, count);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_the_bounds() {
        let text = |counts: [u64; 3]| {
            let [low, mid, all] = counts;
            format!(
                "{BUCKET}0.02\"}} {low}\n{BUCKET}0.04\"}} {mid}\n{BUCKET}+Inf\"}} {all}\nother 5\n"
            )
        };
        let before = Decisions::read(&text([5, 5, 5]));
        let after = Decisions::read(&text([5, 15, 16]));
        assert_eq!(after.percentile(&before, 50), Some(32));
        assert_eq!(after.percentile(&before, 5), Some(22));
        assert_eq!(after.percentile(&before, 95), None, "beyond the last bound");
        assert_eq!(before.percentile(&before, 50), None);
        assert_eq!(Decisions::read("").percentile(&before, 50), None);
    }
}
