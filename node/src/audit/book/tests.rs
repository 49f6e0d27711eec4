use super::*;
use crate::audit::Pending;
use std::sync::mpsc;
use std::time::Duration;
use tokio::runtime::Builder;

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
        let book = Book::with_bytes(dir.path(), 2_000).unwrap();
        for _ in 0..20 {
            book.write(action("POST /jobs"));
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
    let book = Book::with_bytes(dir.path(), 1).unwrap();
    for _ in 0..30 {
        book.write(action("POST /jobs"));
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
    let book = Book::open(dir.path()).unwrap();
    book.write(action("POST /jobs"));
    drop(book);
    let (_, path) = files(&dir.path().join("audit")).unwrap().pop().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{}", &text[..40])).unwrap();
    drop(Book::open(dir.path()).unwrap());
    let lines = whole(dir.path());
    assert_eq!((lines.len(), &lines[2].detail["log"][..]), (3, "whole"));
}

#[test]
fn a_cut_is_seen_wherever_it_is_and_stays() {
    for cut in ["line", "end", "file", "half"] {
        let dir = tempfile::tempdir().unwrap();
        let book = Book::with_bytes(dir.path(), 1_000).unwrap();
        for _ in 0..12 {
            book.write(action("POST /ledger/transfer"));
        }
        drop(book);
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
        let book = Book::with_bytes(dir.path(), 1_000).unwrap();
        book.write(action("POST /jobs"));
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
fn actions_at_the_same_time_make_one_whole_log() {
    let dir = tempfile::tempdir().unwrap();
    // Small files: the next one begins while others wait for the last one to be safe.
    let book = Book::with_bytes(dir.path(), 2_000).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..10).for_each(|_| book.write(action("POST /ledger/transfer"))));
        }
    });
    let lines = whole(dir.path());
    assert_eq!(
        lines.len(),
        81,
        "one of the node that begins, and all of the others"
    );
    let named = head(&dir.path().join("audit")).unwrap();
    assert_eq!(named.map(|(seq, _)| seq), Some(81));
}

#[test]
fn a_line_whose_file_was_given_up_is_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::with_bytes(dir.path(), 2_000).unwrap();
    book.write(action("POST /jobs"));
    let head = || fs::read_to_string(book.folder.join(HEAD)).unwrap();
    let before = head();
    let seq = book.inner().add(&book.folder, action("POST /offers"));
    // Another action's write fails now.
    book.inner().give_up();
    assert!(book.make_safe(seq.unwrap()).is_err());
    assert_eq!(head(), before, "the head names what is safe alone");
}

/// A file that takes lines and cannot be synced.
fn never_safe() -> Arc<File> {
    let file = File::options().append(true).open("/dev/null").unwrap();
    assert!((&file).write_all(b"x").is_ok() && file.sync_data().is_err());
    Arc::new(file)
}

#[test]
fn a_failed_sync_is_told_to_all_whose_lines_it_was_for() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let add = || book.inner().add(&book.folder, action("POST /jobs"));
    let head = || head(&book.folder).unwrap().unwrap().0;
    book.inner().open = Some((never_safe(), 0));
    let (one, two) = (add().unwrap(), add().unwrap());
    assert!(book.make_safe(two).is_err());
    assert!(book.inner().open.is_none(), "no other syncs that file");
    assert!(book.make_safe(one).is_err());
    assert_eq!(head(), 1);
    // A third action opens a file in between.
    let three = add().unwrap();
    assert!(book.make_safe(one).is_err());
    book.make_safe(three).unwrap();
    assert!(book.make_safe(one).is_err() && book.make_safe(two).is_err());
    assert_eq!(head(), three);
}

#[test]
fn a_sync_that_fails_as_the_next_file_begins_is_told_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let add = || book.inner().add(&book.folder, action("POST /jobs"));
    book.inner().open = Some((never_safe(), 0));
    let one = add().unwrap();
    book.inner().open = Some((never_safe(), FILE_BYTES));
    assert!(add().is_err(), "the file is full and cannot be made safe");
    let two = add().unwrap();
    assert!(book.make_safe(one).is_err());
    book.make_safe(two).unwrap();
    assert!(book.make_safe(one).is_err());
}

#[test]
fn the_head_is_replaced_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let path = book.folder.join(HEAD);
    let before = fs::read_to_string(&path).unwrap();
    let opened = File::open(&path).unwrap();
    book.write(action("POST /jobs"));
    assert_eq!(io::read_to_string(opened).unwrap(), before);
    assert_ne!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_write_that_fails_halfway_breaks_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let (_, path) = files(&book.folder).unwrap().pop().unwrap();
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
    book.inner().open = None;
    book.write(action("POST /jobs"));
    assert_eq!(whole(dir.path()).len(), 2);
}

#[tokio::test]
async fn a_line_that_nobody_waits_for_does_not_hold_up_its_thread() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let (held, hold) = mpsc::channel();
    let (go, going) = mpsc::channel();
    let slow = book.clone();
    // A disk that takes its time.
    let disk = std::thread::spawn(move || {
        let _safe = slow.safe.lock().unwrap();
        held.send(()).unwrap();
        going.recv_timeout(Duration::from_secs(10)).is_ok()
    });
    hold.recv().unwrap();
    drop(Pending::new(book.clone(), action("POST /jobs")));
    let _late = go.send(());
    assert!(disk.join().unwrap(), "the thread went on");
    book.settled().await;
    assert_eq!(whole(dir.path()).len(), 2);
}

#[test]
fn a_line_is_not_lost_with_its_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let mut one_thread = Builder::new_current_thread();
    let runtime = one_thread.max_blocking_threads(1).build().unwrap();
    let (go, going) = mpsc::channel::<()>();
    runtime.block_on(async {
        drop(tokio::task::spawn_blocking(move || going.recv()));
        drop(Pending::new(book.clone(), action("POST /jobs")));
    });
    runtime.shutdown_background();
    drop(go);
    futures::executor::block_on(book.settled());
    assert_eq!(whole(dir.path()).len(), 2);
    // Without a runtime it is written at once.
    drop(Pending::new(book, action("POST /jobs")));
    assert_eq!(whole(dir.path()).len(), 3);
}
