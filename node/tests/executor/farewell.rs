//! Jobs that keep their progress: told of their end, and begun again where they were.

use std::fs;
use std::time::Duration;

use gridbay_node::executor::{Executor, Exit, Farewell, KillReason};

use super::bench::{Bench, PATIENCE, in_each_tier, until};

/// Counts, and keeps the count when it is told to end. Leaves with zero, as a program may that has
/// saved its work.
const COUNT: &str = r#"
    save() { echo $n > "$GRIDBAY_CHECKPOINT/count.tmp"
        mv "$GRIDBAY_CHECKPOINT/count.tmp" "$GRIDBAY_CHECKPOINT/count"; }
    trap 'save; cat "$GRIDBAY_NOTICE"; exit 0' TERM
    n=0; test -f ckpt/count && n=$(cat ckpt/count)
    echo from $n
    while :; do n=$((n + 1)); sleep 0.01; test $n -lt 1000 || exit 5; done"#;

fn count(bench: &Bench, name: &str) -> u32 {
    let kept = fs::read_to_string(bench.work_of(name).join("ckpt/count"));
    kept.unwrap().trim().parse().unwrap()
}

#[test]
fn a_count_goes_on_where_it_was_when_its_job_was_told_to_end() {
    in_each_tier(|bench| {
        let mut from = 0;
        for name in ["first", "second", "third"] {
            let mut spec = bench.shell(name, COUNT);
            spec.farewell = Some(Farewell {
                folder: "ckpt".into(),
                grace: PATIENCE,
            });
            let work = bench.work(name);
            if from > 0 {
                fs::create_dir(work.join("ckpt")).unwrap();
                fs::write(work.join("ckpt/count"), from.to_string()).unwrap();
            }
            bench.start(&spec);
            let begun = format!("from {from}\n");
            until("it counts", || bench.stdout(name) == begun);
            bench.executor.stop(&spec.job, PATIENCE).unwrap();
            // It is not done, though it left with zero.
            let stopped = Exit::Killed {
                reason: KillReason::Stopped,
            };
            assert_eq!(bench.wait(&spec.job).exit, stopped);
            let said = bench.stdout(name);
            let notice: Vec<&str> = said.lines().skip(1).collect();
            assert_eq!(notice[..2], ["reason=stopped", "seconds=60"], "{said}");
            let until_ms = notice[2].strip_prefix("until_ms=").unwrap();
            assert!(until_ms.parse::<u64>().unwrap() > 60_000);
            let now = count(bench, name);
            assert!(now >= from, "{now} after {from}");
            // So that the next one has something to go on from.
            from = now.max(1);
        }
    });
}

#[test]
fn a_lease_that_nobody_renews_ends_with_the_grace_that_was_declared() {
    in_each_tier(|bench| {
        let mut spec = bench.shell("lease", COUNT);
        spec.limits.lease = Some(Duration::from_millis(300));
        spec.farewell = Some(Farewell {
            folder: "ckpt".into(),
            grace: PATIENCE,
        });
        bench.start(&spec);
        let ended = Exit::Killed {
            reason: KillReason::Lease,
        };
        assert_eq!(bench.wait(&spec.job).exit, ended);
        assert!(bench.stdout("lease").contains("reason=lease\nseconds=60\n"));
        assert!(count(bench, "lease") < 1_000);
    });
}

#[test]
fn a_job_that_ends_by_itself_has_its_own_code() {
    in_each_tier(|bench| {
        let mut spec = bench.shell("own", "test -d ckpt && exit 4");
        spec.farewell = Some(Farewell {
            folder: "ckpt".into(),
            grace: PATIENCE,
        });
        assert_eq!(bench.run(&spec).exit, Exit::Exited(4));
    });
}
