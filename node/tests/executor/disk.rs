//! The disk is a limit like memory, and a job's end does not hang on the node.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use gridbay_node::executor::{Executor, Exit, JobSpec, KillReason, Stream, Support};

use super::bench::{
    Bench, PATIENCE, id, in_each_tier, is_there, odd_seconds, processes_with, until,
    with_namespaces,
};

const MIB: u64 = 1 << 20;
const DISK: Exit = Exit::Killed {
    reason: KillReason::Disk,
};

/// Bytes of the files that are left of a job.
fn left(bench: &Bench, job: &str) -> usize {
    fs::read_dir(bench.work_of(job)).unwrap().count()
}

/// Ways to fill a disk: a name, the largest file in MiB, a script.
const HOGS: [(&str, u64, &str); 6] = [
    (
        "many",
        1_024,
        "while :; do i=$((i+1)); head -c 1048576 /dev/zero > f$i; done",
    ),
    (
        "tmp",
        1_024,
        "while :; do i=$((i+1)); head -c 1048576 /dev/zero > $TMPDIR/f$i; done",
    ),
    (
        "home",
        8,
        "cd $HOME; while :; do i=$((i+1)); cat /dev/zero > f$i; done",
    ),
    (
        "nameless",
        1_024,
        "exec 3> f; rm f; while :; do head -c 1048576 /dev/zero >&3; done",
    ),
    (
        "hidden",
        1_024,
        "mkdir a; exec 3> a/f; chmod 000 a; while :; do head -c 1048576 /dev/zero >&3; done",
    ),
    (
        "files",
        1_024,
        "while :; do i=$((i+1)); mkdir d$i; for n in $(seq 1 400); do : > d$i/$n; done; done",
    ),
];

/// Calls that no shell has, for Perl: maps a file, sends one in a message; by number, so it needs
/// no module.
const PERL: &str = r#"
my %calls = (x86_64 => [9, 46], aarch64 => [222, 211]);
my ($map, $send) = @{$calls{(split " ", `uname -m`)[0]}};
my $piece = "x" x (1 << 20);
sub written {
    my ($name) = @_;
    open my $file, "+>", $name or die;
    for (1 .. 4) { syswrite $file, $piece or die; }
    return $file;
}
sub mapped {
    my $file = written($_[0]);
    syscall($map, 0, 4 << 20, 1, 1, fileno $file, 0) > 0 or die "mmap: $!";
    unlink $_[0];
}
sub sent {
    my ($name, $socket) = @_;
    my $file = written($name);
    unlink $name;
    my $vector = pack "P Q", "x", 1;
    my $control = pack "Q l l l x4", 20, 1, 1, fileno $file;
    my $message = pack "Q L x4 P Q P Q l x4", 0, 0, $vector, 1, $control, 24, 0;
    syscall($send, fileno $socket, $message, 0) == 1 or die "sendmsg: $!";
}
"#;

/// Where there is Perl: one more hog, of files that are mapped, unlinked and closed. Thirty, then
/// it waits.
const MAPPED: &str = r#"mapped("f$_") for 1 .. 30; sleep 1 while 1;"#;

#[test]
fn files_that_are_only_mapped_count() {
    if !is_there("perl") {
        return;
    }
    in_each_tier(|bench| {
        let mut spec = bench.shell("mapped", "");
        spec.argv = ["perl", "-e", &format!("{PERL}{MAPPED}")]
            .map(str::to_owned)
            .to_vec();
        spec.limits.disk_bytes = 24 * MIB;
        let end = bench.run(&spec);
        let said = bench.read("mapped", Stream::Stderr);
        assert_eq!(end.exit, DISK, "{said}");
        assert_eq!(left(bench, "mapped"), 0);
    });
}

/// Nobody can count a file that waits in a message: its job goes first when the machine is short
/// of room, and one that keeps within its limit stays.
#[test]
fn who_hides_what_it_took_ends_before_who_is_within_its_limit() {
    if !is_there("perl") {
        return;
    }
    with_namespaces(|bench| {
        let free = nix::sys::statvfs::statvfs(bench.dir.path()).unwrap();
        let free = free.blocks_available() * free.fragment_size();
        // As if there were a little less than the floor.
        let executor = bench.with_floor(free / 8 * 9);
        let start = |mut spec: JobSpec| {
            spec.limits.disk_bytes = 24 * MIB;
            executor.prepare(&spec.job, spec.limits.disk_bytes).unwrap();
            executor.start(&spec).unwrap();
        };
        let honest =
            "head -c 8388608 /dev/zero > out; echo up; while [ ! -e go ]; do sleep 0.05; done";
        start(bench.shell("honest", honest));
        until("the honest job holds its part", || {
            bench.stdout("honest") == "up\n"
        });
        let hide = r#"
            socketpair(my $one, my $other, 1, 1, 0) or die;
            for (1 .. 16) { sent("f", $one); select undef, undef, undef, 0.1; }
            sleep 1 while 1;"#;
        let mut hog = bench.shell("hog", "");
        hog.argv = ["perl", "-e", &format!("{PERL}{hide}")]
            .map(str::to_owned)
            .to_vec();
        start(hog);
        let end = bench.wait(&id("hog"));
        let reason = KillReason::NoRoom;
        let said = bench.read("hog", Stream::Stderr);
        assert_eq!(end.exit, Exit::Killed { reason }, "{said}");
        fs::write(bench.work_of("honest").join("go"), "").unwrap();
        assert_eq!(bench.wait(&id("honest")).exit, Exit::Exited(0));
    });
}

#[test]
fn a_job_that_fills_the_disk_is_ended_and_gives_it_back() {
    in_each_tier(|bench| {
        assert_eq!(bench.executor.probe().unwrap().disk, Support::Watched);
        for (name, largest, script) in HOGS {
            let mut spec = bench.shell(name, script);
            spec.limits.disk_bytes = 24 * MIB;
            spec.limits.file_bytes = largest * MIB;
            let end = bench.run(&spec);
            let said = bench.read(name, Stream::Stderr);
            assert_eq!(end.exit, DISK, "{name}: {said}");
            assert_eq!(left(bench, name), 0, "{name}");
            bench.executor.cleanup(&spec.job).unwrap();
        }
    });
}

#[test]
fn a_job_within_its_disk_ends_by_itself_and_keeps_its_files() {
    in_each_tier(|bench| {
        let mut spec = bench.shell(
            "fits",
            "head -c 8388608 /dev/zero > out; rm -f out; head -c 8388608 /dev/zero > out; cp out $TMPDIR/o",
        );
        spec.limits.disk_bytes = 24 * MIB;
        assert_eq!(bench.run(&spec).exit, Exit::Exited(0));
        assert_eq!(
            fs::metadata(bench.work_of("fits").join("out"))
                .unwrap()
                .len(),
            8 * MIB
        );
        let tmp = bench.work_of("fits").parent().unwrap().join("tmp");
        assert!(!tmp.exists(), "what is in /tmp ends with the job");
    });
}

#[test]
fn what_is_written_just_before_the_end_counts_too() {
    in_each_tier(|bench| {
        let mut spec = bench.shell(
            "late",
            "for i in 1 2 3 4 5 6; do head -c 8388608 /dev/zero > f$i; done",
        );
        spec.limits.disk_bytes = 40 * MIB;
        assert_eq!(bench.run(&spec).exit, DISK);
        assert_eq!(left(bench, "late"), 0);
    });
}

#[test]
fn a_job_that_ends_before_it_is_looked_at_is_counted_and_not_killed() {
    in_each_tier(|bench| {
        let script = "until test -e go; do sleep 0.01; done; head -c 50331648 /dev/zero > f";
        let mut spec = bench.shell("unseen", script);
        spec.limits.disk_bytes = 40 * MIB;
        bench.start(&spec);
        let started = bench.started(&spec.job);
        let supervisor = Pid::from_raw(started.supervisor);
        kill(supervisor, Signal::SIGSTOP).unwrap();
        fs::write(bench.work_of("unseen").join("go"), "").unwrap();
        until("the sandbox has ended", || has_ended(started.pid));
        // The supervisor's next look is due when it goes on.
        thread::sleep(Duration::from_secs(1));
        kill(supervisor, Signal::SIGCONT).unwrap();
        assert_eq!(bench.wait(&spec.job).exit, DISK);
        assert_eq!(left(bench, "unseen"), 0);
    });
}

/// Whether nobody but its parent knows of a process any more.
fn has_ended(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().is_some_and(|s| s.starts_with('Z'))
}

#[test]
fn jobs_end_while_the_machine_still_has_room() {
    let dir = tempfile::tempdir().unwrap();
    let free = nix::sys::statvfs::statvfs(dir.path()).unwrap();
    let free = free.blocks_available() * free.fragment_size();
    // The floor is far above what is free: as if others had filled the disk.
    in_each_tier(|bench| {
        let executor = bench.with_floor(free.saturating_mul(4));
        let spec = bench.shell("room", "sleep 1000");
        executor.prepare(&spec.job, spec.limits.disk_bytes).unwrap();
        executor.start(&spec).unwrap();
        let reason = KillReason::NoRoom;
        assert_eq!(bench.wait(&spec.job).exit, Exit::Killed { reason });
    });
}

/// Folders inside one another: more than a count looks at, and than a path can name.
const DEEP: u32 = 3_000;
/// Of these, so many are nested at a time: few enough for any count.
const PIECE: u32 = 50;

#[test]
fn a_job_that_nests_too_deep_is_ended_and_its_tree_removed_whole() {
    if !is_there("perl") {
        return;
    }
    // Pieces that no count minds are put into one another by a rename each, the last ones first.
    let (pieces, inner) = (DEEP / PIECE, PIECE - 1);
    let script = format!(
        r#"$| = 1;
        for $n (1 .. {pieces}) {{
            for $i (0 .. {inner}) {{ mkdir "c$n" . "/d" x $i or die $!; }}
        }}
        for $n (reverse 2 .. {pieces}) {{
            rename "c$n", "c" . ($n - 1) . "/d" x {PIECE} or die $!;
        }}
        print "nested\n"; sleep 1 while 1;"#
    );
    in_each_tier(|bench| {
        // A count that comes between two renames ends it early: then another one tries.
        let reaches_the_bottom = |name: String| {
            let mut spec = bench.shell(&name, "");
            spec.argv = ["perl", "-e", &script].map(str::to_owned).to_vec();
            let end = bench.run(&spec);
            let said = bench.read(&name, Stream::Stderr);
            assert_eq!(end.exit, DISK, "{said}");
            assert_eq!(left(bench, &name), 0);
            let nested = bench.stdout(&name) == "nested\n";
            bench.executor.cleanup(&spec.job).unwrap();
            assert!(!bench.work_of(&name).parent().unwrap().exists());
            nested
        };
        let reached = (1..=5).any(|n| reaches_the_bottom(format!("deep{n}")));
        assert!(reached, "no job reached the depth of {DEEP}");
    });
}

#[test]
fn a_job_ends_with_its_lease_although_nobody_says_so() {
    in_each_tier(|bench| {
        let mark = odd_seconds(31);
        let mut spec = bench.shell(
            "lease",
            &format!("trap '' TERM; echo up; sleep {mark}; sleep {mark}"),
        );
        spec.limits.lease = Some(Duration::from_secs(1));
        let end = bench.run(&spec);
        let reason = KillReason::Lease;
        assert_eq!(end.exit, Exit::Killed { reason });
        assert_eq!(processes_with(&mark), Vec::<String>::new());
    });
}

#[test]
fn a_lease_is_renewed_and_shortened() {
    in_each_tier(|bench| {
        let mark = odd_seconds(32);
        let mut spec = bench.shell("renew", &format!("echo up; exec sleep {mark}"));
        spec.limits.lease = Some(PATIENCE);
        bench.start(&spec);
        until("the job runs", || bench.stdout("renew") == "up\n");
        let begin = Instant::now();
        bench.executor.renew(&spec.job, 2 * PATIENCE).unwrap();
        bench
            .executor
            .renew(&spec.job, Duration::from_millis(10))
            .unwrap();
        let reason = KillReason::Lease;
        assert_eq!(bench.wait(&spec.job).exit, Exit::Killed { reason });
        assert!(begin.elapsed() < PATIENCE);
        bench.executor.renew(&spec.job, PATIENCE).unwrap();
    });
}
