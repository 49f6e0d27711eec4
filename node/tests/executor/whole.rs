//! The bounds of a job as a whole, by control groups or by looks, and a job's attempts against
//! them.

use gridbay_node::executor::{Executor, Exit, KillReason, Stream, Support};

use super::bench::{in_each_tier, is_there};

#[test]
fn memory_of_a_tree_is_bounded_or_watched() {
    in_each_tier(|bench| {
        // Four that each hold 64 MB until somebody reads it, which nobody does: each stays within
        // its bound.
        let script = "for i in 1 2 3 4; do
                head -c 64000000 /dev/zero | (tail -c 63999999; echo $? >&2) | sleep 20 &
            done; wait; exit 0";
        let mut spec = bench.shell("tree", script);
        spec.limits.memory_bytes = 128 << 20;
        let end = bench.run(&spec);
        let killed = bench.read("tree", Stream::Stderr).contains("137");
        match bench.executor.probe().unwrap().tree_memory {
            Support::Enforced => assert!(killed || end.exit != Exit::Exited(0)),
            Support::Watched => {
                let reason = KillReason::Memory;
                assert_eq!(end.exit, Exit::Killed { reason });
            }
            other => panic!("a job's memory is {other:?}"),
        }
    });
}

#[test]
fn processor_time_of_a_tree_is_bounded_or_watched() {
    in_each_tier(|bench| {
        let script = "for i in 1 2 3 4; do (i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done) & done; wait; exit 0";
        let mut spec = bench.shell("busy", script);
        spec.limits.processors = 1;
        spec.limits.cpu_seconds = 2;
        let found = bench.executor.probe().unwrap();
        let end = bench.run(&spec);
        if found.processors == Support::Watched {
            let reason = KillReason::Processor;
            assert_eq!(end.exit, Exit::Killed { reason });
        } else {
            assert_eq!(found.processors, Support::Enforced);
            // Each within its own bound; all of them on one processor.
            let wall = end.usage.wall_ns as f64;
            assert!(end.usage.cpu_ns as f64 <= wall * 1.5, "{:?}", end.usage);
        }
    });
}

#[test]
fn children_that_nobody_waits_for_count_too() {
    // Ignored, as Perl ignores it, their end is told to nobody, and neither is what they used.
    let script = "$SIG{CHLD} = 'IGNORE';
        for (1 .. 40) {
            for (1 .. 2) {
                next if fork;
                my $used = 0;
                while ($used < 0.2) { $used = (times)[0] + (times)[1] }
                exit 0;
            }
            wait;
        }";
    if !is_there("perl") {
        return;
    }
    in_each_tier(|bench| {
        let mut spec = bench.shell("heirless", "");
        spec.argv = ["perl", "-e", script].map(str::to_owned).into();
        spec.limits.processors = 1;
        spec.limits.cpu_seconds = 5;
        let found = bench.executor.probe().unwrap();
        let end = bench.run(&spec);
        if found.processors == Support::Watched {
            let reason = KillReason::Processor;
            assert_eq!(end.exit, Exit::Killed { reason }, "{:?}", end.usage);
            assert!(end.usage.cpu_ns > 4_000_000_000, "{:?}", end.usage);
            // Not long before or after it was beyond its bound.
            assert!(end.usage.cpu_ns < 15_000_000_000, "{:?}", end.usage);
        } else {
            assert_eq!(found.processors, Support::Enforced);
        }
    });
}

#[test]
fn a_job_ends_before_its_node_and_cannot_take_that_back() {
    in_each_tier(|bench| {
        let script = "cat /proc/self/oom_score_adj; echo 0 > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj";
        bench.sh("order", script);
        let own = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        let own: i32 = own.trim().parse().unwrap();
        let expected = (own + 500).min(1_000).to_string();
        let said = bench.stdout("order");
        assert_eq!(said.lines().collect::<Vec<_>>(), [&*expected, &*expected]);
    });
}

#[test]
fn a_script_beyond_its_number_of_processes_is_stopped() {
    in_each_tier(|bench| {
        let script = "i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i+1)); done; sleep 20; exit 0";
        let mut spec = bench.shell("many", script);
        spec.limits.processes = 16;
        let end = bench.run(&spec);
        assert_ne!(end.exit, Exit::Exited(0), "{:?}", bench.tier());
    });
}
