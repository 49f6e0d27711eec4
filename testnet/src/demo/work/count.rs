//! A job that keeps its progress: counts tenths of seconds, and goes on where it was when it is
//! moved.

use super::Output;
use gridbay_protocol::checkpoint::Checkpoint;

/// The job.
pub(super) const SCRIPT: &str = r#"# Counts tenths of seconds, and keeps the count.
set -eu
cd "$GRIDBAY_CHECKPOINT"
save() { echo "$i" > count.tmp; mv count.tmp count; }
trap 'save; exit 0' TERM
i=$(cat count 2> /dev/null || echo 0)
echo "rank $GRIDBAY_RANK from $i"
while [ "$i" -lt "$1" ]; do
    sleep 0.1
    i=$((i + 1))
    [ $((i % 10)) -gt 0 ] || save
done
echo "rank $GRIDBAY_RANK counted $i"
"#;

/// How it keeps its progress.
pub(super) fn checkpoint() -> Checkpoint {
    Checkpoint {
        folder: "ckpt".to_owned(),
        grace_seconds: 10,
        every_seconds: 2,
    }
}

/// Where a rank began, by the first line of its last attempt.
pub(crate) fn began(rank: u32, output: &Output) -> Option<u32> {
    let first = output.stdout.lines().next()?;
    let number = first.strip_prefix(&format!("rank {rank} from "))?;
    number.parse().ok()
}

/// Every rank's last line tells that it counted to the end.
pub(super) fn judge(tenths: u32, outputs: &[Output]) -> Result<String, String> {
    if outputs.is_empty() {
        return Err("no rank printed anything".to_owned());
    }
    for (rank, output) in outputs.iter().enumerate() {
        let expected = format!("rank {rank} counted {tenths}");
        let found = output.stdout.lines().last().unwrap_or_default();
        if found != expected {
            return Err(format!("rank {rank}: `{found}` instead of `{expected}`"));
        }
    }
    Ok(format!("counted to {tenths}"))
}

#[cfg(test)]
mod tests {
    use super::super::{Work, run_here};
    use super::*;

    #[test]
    fn only_a_whole_count_is_right() {
        let whole = run_here(Work::Count(3), 0, 1);
        assert_eq!(began(0, &whole), Some(0));
        assert!(judge(3, std::slice::from_ref(&whole)).is_ok());
        assert!(judge(4, std::slice::from_ref(&whole)).is_err());
        let half = Output {
            stdout: "rank 0 from 2\n".into(),
            ..Output::default()
        };
        assert_eq!(began(0, &half), Some(2));
        assert!(judge(3, &[half]).is_err());
        assert!(judge(3, &[]).is_err());
        assert_eq!(began(0, &Output::default()), None);
    }
}
