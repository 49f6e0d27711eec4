use super::*;

fn action(what: &str) -> Action {
    Action {
        who: Who::Token {
            name: None,
            scope: None,
        },
        what: what.to_owned(),
        place: None,
        detail: BTreeMap::new(),
        outcome: Outcome::Done,
        status: Some(200),
    }
}

fn whole(home: &Path) -> Vec<Line> {
    let read = read_log(home, 0).unwrap().unwrap();
    assert_eq!(read.broken, None);
    read.lines
}

#[test]
fn lines_follow_one_another_across_starts_and_files() {
    let dir = tempfile::tempdir().unwrap();
    assert!(read_log(dir.path(), 0).unwrap().is_none());
    for start in 0..3u64 {
        let mut log = Files::with_bytes(dir.path(), 2_000).unwrap();
        for _ in 0..20 {
            log.write([action("POST /jobs")]);
        }
        let lines = whole(dir.path());
        assert_eq!(lines.len() as u64, (start + 1) * 21);
        let begins = lines.iter().filter(|line| line.who == Who::Node);
        assert!(begins.clone().all(|line| line.detail["log"] == "whole"));
        assert_eq!(begins.count() as u64, start + 1);
    }
    let files = files(&dir.path().join("audit")).unwrap();
    assert!(files.len() > 3, "{files:?}");
    for (_, path) in files {
        use std::os::unix::fs::PermissionsExt as _;
        let meta = fs::metadata(path).unwrap();
        assert!(meta.len() < 2_500 && meta.permissions().mode() & 0o777 == 0o600);
    }
}

#[test]
fn the_oldest_files_go_and_what_is_left_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::with_bytes(dir.path(), 1).unwrap();
    for _ in 0..30 {
        log.write([action("POST /jobs")]);
    }
    let lines = whole(dir.path());
    assert_eq!((lines.len(), lines[0].seq), (FILES, 31 - FILES as u64 + 1));
    let last = lines.last().unwrap().time_ms;
    let late = read_log(dir.path(), last + 1).unwrap().unwrap();
    assert!(late.lines.is_empty() && late.broken.is_none());
}

#[test]
fn a_line_that_was_half_written_is_no_break() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::open(dir.path()).unwrap();
    log.write([action("POST /jobs")]);
    drop(log);
    let (_, path) = files(&dir.path().join("audit")).unwrap().pop().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{}", &text[..40])).unwrap();
    drop(Files::open(dir.path()).unwrap());
    let lines = whole(dir.path());
    assert_eq!((lines.len(), &lines[2].detail["log"][..]), (3, "whole"));
}

#[test]
fn a_cut_is_seen_wherever_it_is_and_stays() {
    for cut in ["line", "end", "file", "half"] {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Files::with_bytes(dir.path(), 1_000).unwrap();
        for _ in 0..12 {
            log.write([action("POST /ledger/transfer")]);
        }
        drop(log);
        let files = files(&dir.path().join("audit")).unwrap();
        let (_, middle) = &files[files.len() / 2];
        let text = fs::read_to_string(middle).unwrap();
        match cut {
            "line" => fs::write(middle, text.split_once('\n').unwrap().1).unwrap(),
            "file" => fs::remove_file(middle).unwrap(),
            "half" => fs::write(middle, &text[..text.len() / 2]).unwrap(),
            _ => {
                for (_, path) in &files[files.len() / 2..] {
                    fs::remove_file(path).unwrap();
                }
            }
        }
        let read = read_log(dir.path(), 0).unwrap().unwrap();
        let broken = read.broken.unwrap_or_else(|| panic!("{cut}"));
        assert_eq!(cut == "end", matches!(broken, Break::End(..)), "{broken:?}");
        // The node begins all the same, tells it, and no later line hides it.
        let mut log = Files::with_bytes(dir.path(), 1_000).unwrap();
        log.write([action("POST /jobs")]);
        let read = read_log(dir.path(), 0).unwrap().unwrap();
        assert!(read.broken.is_some(), "{cut}");
        let all = files_text(&dir.path().join("audit"));
        let begins = all.lines().rev().find(|l| l.contains("node begins"));
        assert!(!begins.unwrap().contains("\"log\":\"whole\""), "{cut}");
    }
}

fn files_text(folder: &Path) -> String {
    let files = files(folder).unwrap().into_iter();
    files
        .map(|(_, path)| fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn lines_that_come_together_are_whole_across_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::with_bytes(dir.path(), 2_000).unwrap();
    log.write((0..80).map(|_| action("POST /ledger/transfer")));
    let lines = whole(dir.path());
    assert_eq!(
        lines.len(),
        81,
        "one of the node that begins, and all of the others"
    );
    let named = head(&log.folder).unwrap();
    assert_eq!(named.map(|(seq, _)| seq), Some(81));
    assert_eq!((log.added, log.lost), (0, 0));
}

/// A file that takes lines and cannot be synced.
fn never_safe() -> File {
    let file = File::options().append(true).open("/dev/null").unwrap();
    assert!((&file).write_all(b"x").is_ok() && file.sync_data().is_err());
    file
}

#[test]
fn lines_whose_sync_fails_are_lost_and_not_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::open(dir.path()).unwrap();
    log.open = Some((never_safe(), 0));
    log.write([action("POST /jobs"), action("POST /offers")]);
    assert!(log.open.is_none(), "no other line goes into that file");
    let named = || head(&dir.path().join("audit")).unwrap().unwrap().0;
    assert_eq!((log.lost, named()), (2, 1));
    log.open = Some((never_safe(), 0));
    log.write([action("POST /jobs")]);
    assert_eq!(
        (log.lost, named()),
        (3, 1),
        "the line that told of two is lost too"
    );
    log.open = Some((File::options().append(true).open("/dev/full").unwrap(), 0));
    log.write([action("POST /jobs")]);
    assert_eq!((log.lost, named()), (4, 1));
    log.write([action("POST /bids")]);
    assert_eq!((log.lost, named()), (0, 5));
    let text = files_text(&log.folder);
    assert!(
        text.lines()
            .last()
            .unwrap()
            .contains("\"lines_lost_before\":\"4\"")
    );
}

#[test]
fn a_sync_that_fails_as_the_next_file_begins_loses_what_it_was_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::open(dir.path()).unwrap();
    log.open = Some((never_safe(), 0));
    log.add(action("POST /jobs")).unwrap();
    log.open = Some((never_safe(), FILE_BYTES));
    assert!(
        log.add(action("POST /jobs")).is_err(),
        "the file is full and cannot be made safe"
    );
    assert_eq!((log.lost, log.added), (1, 0));
    log.write([action("POST /jobs")]);
    assert_eq!((log.lost, log.added), (0, 0));
}

#[test]
fn the_head_is_replaced_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::open(dir.path()).unwrap();
    let path = log.folder.join(HEAD);
    let before = fs::read_to_string(&path).unwrap();
    let opened = File::open(&path).unwrap();
    log.write([action("POST /jobs")]);
    assert_eq!(io::read_to_string(opened).unwrap(), before);
    assert_ne!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_write_that_fails_halfway_breaks_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::open(dir.path()).unwrap();
    let (_, path) = files(&log.folder).unwrap().pop().unwrap();
    let before = fs::read(&path).unwrap();
    let file = File::options().append(true).open(&path).unwrap();
    let half = || (&file).write_all(&before[..40]);
    let failed = append(&file, before.len() as u64, || {
        half()?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read(&path).unwrap(), before);
    // Not even that can be taken away at once.
    half().unwrap();
    log.open = None;
    log.write([action("POST /jobs")]);
    assert_eq!(whole(dir.path()).len(), 2);
}

#[test]
fn a_full_disk_loses_lines_and_says_how_many() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Files::open(dir.path()).unwrap();
    let full = File::options().append(true).open("/dev/full").unwrap();
    log.open = Some((full, 0));
    log.write([action("POST /jobs")]);
    assert_eq!((log.lost, log.added), (1, 0));
    log.write([action("POST /jobs")]);
    let lines = whole(dir.path());
    assert_eq!(lines.last().unwrap().detail["lines_lost_before"], "1");
}
