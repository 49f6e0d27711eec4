//! No supervisor and no process of a job was alive once all orders had ended.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    match evidence.leftovers.as_slice() {
        [] => Ok("none alive after the last order's end".to_owned()),
        left => Err(left.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_process_left_is_found() {
        let mut bad = sample::good();
        bad.leftovers.push("12 sleep 60".into());
        assert_eq!(judge(&bad), Err("12 sleep 60".into()));
    }
}
