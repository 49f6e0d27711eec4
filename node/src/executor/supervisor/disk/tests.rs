//! Tests of counts, looks, and the order in which jobs end.

use super::super::odd;
use super::super::walk::DEPTH;
use super::*;
use std::fs::File;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// A bound on waits that measure nothing.
const PATIENCE: Duration = Duration::from_secs(20);
const MIB: usize = 1 << 20;

fn held(root: &Path, bytes: u64, files: u64) -> Held {
    let mut count = Count::within(bytes, files);
    count.folder(root).unwrap();
    count.held
}

#[test]
fn bytes_count_once_and_holes_and_links_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::write(root.join("file"), vec![1; MIB]).unwrap();
    fs::hard_link(root.join("file"), root.join("again")).unwrap();
    symlink("/usr", root.join("usr")).unwrap();
    let hole = File::create(root.join("hole")).unwrap();
    hole.set_len(1 << 40).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), vec![1; MIB]).unwrap();
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    let found = held(root, u64::MAX, u64::MAX);
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!((found.files, found.too_deep), (7, false));
    let about = 2 * MIB as u64..=2 * MIB as u64 + 256 * 1024;
    assert!(about.contains(&found.bytes), "{found:?}");
}

#[test]
fn a_file_that_only_a_process_holds_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let script = "exec 3>file && rm file && head -c 4194304 /dev/zero >&3 && echo done && cat";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(dir.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 5];
    io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert!(!path.exists());
    let roots = [dir.path().to_path_buf()];
    let found = Count::within(u64::MAX, u64::MAX).all(&roots, None).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(found.bytes >= 4 << 20, "{found:?}");
}

#[test]
fn counting_ends_beyond_the_bounds_and_at_a_depth() {
    let dir = tempfile::tempdir().unwrap();
    for name in 0..50 {
        fs::write(dir.path().join(name.to_string()), vec![1; 8192]).unwrap();
    }
    let few = held(dir.path(), u64::MAX, 9);
    assert_eq!(few.files, 10);
    let small = held(dir.path(), 40_000, u64::MAX);
    assert!(small.files < 50 && small.bytes > 40_000, "{small:?}");
    let deep = dir.path().join("d/".repeat(DEPTH + 1));
    fs::create_dir_all(deep).unwrap();
    assert!(held(dir.path(), u64::MAX, u64::MAX).too_deep);
}

#[test]
fn the_less_room_the_sooner_the_next_look() {
    let dir = tempfile::tempdir().unwrap();
    let wait = |bytes| {
        let roots = [dir.path().to_path_buf(), dir.path().to_path_buf()];
        let mut disk = Disk::new(dir.path(), roots, bytes, 0, None);
        assert_eq!(disk.look(Instant::now()).unwrap(), None);
        disk.next() - Instant::now()
    };
    assert!(wait(64 << 20) <= Duration::from_millis(16));
    assert!(wait(1 << 30) > Duration::from_millis(100));
}

fn disk_with(bytes: u64, held: u64, suspected: u64) -> Disk {
    let roots = [PathBuf::new(), PathBuf::new()];
    let mut disk = Disk::new(Path::new(""), roots, bytes, 800, None);
    disk.held.bytes = held;
    disk.suspected = suspected;
    disk
}

#[test]
fn who_took_the_room_ends_before_who_is_within_its_limit() {
    let gone = |free: u64, held, suspected| {
        let verdict = disk_with(1_000, held, suspected).verdict(free);
        assert!(
            verdict
                .as_ref()
                .is_none_or(|why| *why == KillReason::NoRoom)
        );
        verdict.is_some()
    };
    // A job that may hold more than was counted goes at the floor, and not before.
    assert!(!gone(800, 0, 5_000) && gone(799, 0, 5_000));
    // An eighth of the limit, or all of it, is no reason yet: there is room again.
    for held in [0, 125, 500, 1_000] {
        assert!(!gone(799, held, 0) && !gone(600, held, 0), "{held}");
    }
    // Then by their part of what they were sold, counted or suspected.
    assert!(gone(599, 1_000, 0) && gone(599, 500, 500) && !gone(599, 900, 0));
    assert!(gone(449, 500, 0) && !gone(450, 500, 0) && !gone(449, 400, 0));
    assert!(gone(299, 0, 0) && !gone(300, 0, 0));
    let roots = [PathBuf::new(), PathBuf::new()];
    let none = Disk::new(Path::new(""), roots, 1_000, 0, None);
    assert_eq!(none.verdict(0), None);
    assert_eq!(
        disk_with(1_000, 1_001, 0).verdict(9_999),
        Some(KillReason::Disk)
    );
}

#[test]
fn only_who_cannot_be_seen_through_is_suspected_of_what_the_disk_lost() {
    let mut disk = disk_with(1_000, 0, 0);
    let held = |bytes, blind| Held {
        bytes,
        blind,
        ..Held::default()
    };
    disk.take(held(100, false), (10_000, 0));
    // Others took 4,000, this one 200.
    disk.take(held(300, false), (5_800, 0));
    assert_eq!(disk.suspected, 0);
    disk.take(held(400, true), (5_000, 0));
    assert_eq!(disk.suspected, 700);
    // Others clear nothing by what they give back, a count that sees all does.
    disk.take(held(400, true), (9_000, 0));
    assert_eq!(disk.suspected, 700);
    disk.take(held(500, true), (8_000, 0));
    assert_eq!(
        (disk.suspected, disk.verdict(799)),
        (1_600, Some(KillReason::NoRoom))
    );
    // Nor does one that broke off.
    let cut = Held {
        cut: true,
        ..held(0, false)
    };
    disk.take(cut, (8_000, 0));
    assert_eq!(disk.suspected, 1_600);
    disk.take(held(500, false), (8_000, 0));
    assert_eq!(disk.suspected, 0);
}

#[test]
fn a_quota_tells_what_a_count_missed() {
    let counted = Held {
        bytes: 100,
        files: 7,
        too_deep: true,
        blind: true,
        ..Held::default()
    };
    let used = |bytes, files| counted.by_quota(Size { bytes, files });
    let seen = |bytes, files| Held {
        bytes,
        files,
        blind: false,
        ..counted
    };
    assert_eq!(used(500, 9), seen(500, 9));
    // A job may write between its count and the quota's.
    assert_eq!(used(90, 3), seen(100, 7));
}

#[test]
fn a_count_without_rest_settles_nothing_and_who_never_rests_hides() {
    let mut disk = disk_with(1_000, 0, 0);
    disk.doubt = 500;
    let none = Held::default();
    let blind = Held {
        blind: true,
        ..none
    };
    // A busy machine is no fault of the job's.
    for _ in 0..=TRIES {
        assert_eq!(disk.judge(none, Rest::Late), blind);
    }
    for _ in 1..TRIES {
        assert_eq!(disk.judge(none, Rest::Broken), blind);
    }
    assert_eq!(disk.doubt, 500);
    assert_eq!(disk.judge(none, Rest::Whole), none);
    assert_eq!(disk.doubt, 0);
    for _ in 1..TRIES {
        assert!(!disk.judge(none, Rest::Broken).hidden);
    }
    assert!(disk.judge(none, Rest::Broken).hidden);
}

#[test]
fn a_job_that_never_rests_is_ended() {
    let _alone = odd::alone();
    let _child = odd::Child::that_goes_on();
    let dir = tempfile::tempdir().unwrap();
    let roots = [dir.path().to_path_buf(), dir.path().to_path_buf()];
    let mut disk = Disk::new(dir.path(), roots, 1 << 20, 0, None);
    let (began, mut counts) = (Instant::now(), 1);
    // On a busy machine a count may fall between two of the child's timers: that one is whole.
    while !disk.measure_at_rest().unwrap().hidden {
        assert!(began.elapsed() < PATIENCE, "{counts} counts");
        counts += 1;
    }
    assert!(counts >= TRIES);
}

#[test]
fn a_job_rests_a_tenth_of_the_time_at_the_most() {
    let mut disk = disk_with(1_000, 0, 0);
    let none = Held::default();
    let second = Duration::from_secs(1);
    for (long, since, rests) in [
        (second, 9, false),
        (second, 11, true),
        (10 * second, 99, false),
        (10 * second, 101, true),
        (second / 100, 2, true),
    ] {
        // Others took much meanwhile.
        disk.doubt = 900;
        disk.rested = (Instant::now().checked_sub(since * second).unwrap(), long);
        for short in [false, true] {
            assert_eq!(disk.doubts(&none, (0, 0), short), rests, "{long:?} {since}");
        }
    }
}

#[test]
fn the_longer_a_count_takes_the_later_is_the_next_one() {
    let after = |millis| pause_after(Duration::from_millis(millis)).as_millis();
    assert_eq!(
        (after(10), after(1_000), after(20_000)),
        (100, 5_000, 60_000)
    );
}
