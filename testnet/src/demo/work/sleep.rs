//! A job that lasts: counts seconds. Long enough to be preempted, or to see its host's node die.

use super::Output;

/// The job. It ends at once on SIGTERM, which it is sent when it must stop.
pub(super) const SCRIPT: &str = r#"# Counts seconds.
set -eu
trap 'echo "rank $GRIDBAY_RANK stopped after $i"; exit 3' TERM
i=0
echo "rank $GRIDBAY_RANK of $GRIDBAY_SIZE"
while [ "$i" -lt "$1" ]; do
    sleep 1
    i=$((i + 1))
done
echo "rank $GRIDBAY_RANK slept $i"
"#;

/// Every rank's last line tells that it slept to the end.
pub(super) fn judge(seconds: u32, outputs: &[Output]) -> Result<String, String> {
    if outputs.is_empty() {
        return Err("no rank printed anything".to_owned());
    }
    for (rank, output) in outputs.iter().enumerate() {
        let expected = format!("rank {rank} slept {seconds}");
        let found = output.stdout.lines().last().unwrap_or_default();
        if found != expected {
            return Err(format!("rank {rank}: `{found}` instead of `{expected}`"));
        }
    }
    Ok(format!("{} s to the end", seconds))
}

#[cfg(test)]
mod tests {
    use super::super::{Work, run_here};
    use super::*;

    #[test]
    fn only_a_whole_sleep_is_right() {
        let whole = run_here(Work::Sleep(1), 0, 1);
        assert!(judge(1, std::slice::from_ref(&whole)).is_ok());
        assert!(judge(2, std::slice::from_ref(&whole)).is_err());
        let half = Output {
            stdout: "rank 0 of 1\nrank 0 stopped after 0\n".into(),
            ..Output::default()
        };
        assert!(judge(1, &[half]).is_err());
        assert!(judge(1, &[]).is_err());
    }
}
