use super::*;
use gridbay_protocol::job::content_id;
use std::os::unix::fs::{PermissionsExt as _, symlink};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("work/ckpt")).unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        Place(dir)
    }
    fn file(&self, path: &str) -> PathBuf {
        self.0.path().join("work/ckpt").join(path)
    }
    fn take(&self) -> Result<Taken, SnapshotError> {
        let (work, kept) = (self.0.path().join("work"), self.0.path().join("kept"));
        take(&work, "ckpt", &kept, u64::MAX, |_| true)
    }
    fn kept(&self) -> usize {
        fs::read_dir(self.0.path().join("kept")).unwrap().count()
    }
}

fn paths(taken: &Taken) -> Vec<&str> {
    let files = taken.manifest.files.iter();
    files.map(|f| f.path.as_str()).collect()
}

#[test]
fn what_is_whole_is_copied_once_and_what_is_gone_is_dropped() {
    let place = Place::new();
    assert!(matches!(place.take(), Err(SnapshotError::Nothing)));
    fs::create_dir(place.file("deep")).unwrap();
    for name in ["b", "a", "deep/c", ".hidden", "half.tmp"] {
        fs::write(place.file(name), name).unwrap();
    }
    fs::create_dir(place.file("half-folder.tmp")).unwrap();
    fs::write(place.file("half-folder.tmp/d"), "d").unwrap();
    fs::set_permissions(place.file("a"), fs::Permissions::from_mode(0o755)).unwrap();
    let taken = place.take().unwrap();
    assert_eq!(paths(&taken), ["a", "b", "deep/c"]);
    let first = &taken.manifest.files[0];
    assert_eq!((first.content, first.bytes), (content_id(b"a"), 1));
    assert!(first.executable && !taken.manifest.files[1].executable);
    let copy = place.0.path().join("kept").join(first.content.to_hex());
    assert_eq!(fs::read(&copy).unwrap(), b"a");
    let made = fs::metadata(&copy).unwrap().modified().unwrap();
    // Nothing changed: the same manifest, and the copies are those that were there.
    assert_eq!(place.take().unwrap().manifest, taken.manifest);
    assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), made);
    fs::rename(place.file("half.tmp"), place.file("b")).unwrap();
    let next = place.take().unwrap();
    assert_eq!(next.manifest.files[1].content, content_id(b"half.tmp"));
    assert_eq!(place.kept(), 3, "the old b is dropped");
    assert!(next.written <= SystemTime::now());
}

#[test]
fn no_link_is_followed_and_no_pipe_waited_for() {
    let place = Place::new();
    let outside = place.0.path().to_path_buf();
    symlink(outside.join("secret"), place.file("link")).unwrap();
    symlink(&outside, place.file("up")).unwrap();
    let pipe = place.file("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(place.take(), Err(SnapshotError::Nothing)));
    fs::write(place.file("fine"), "f").unwrap();
    assert_eq!(paths(&place.take().unwrap()), ["fine"]);
    // The folder itself may be one.
    let work = outside.join("work");
    fs::rename(work.join("ckpt"), work.join("real")).unwrap();
    symlink(&outside, work.join("ckpt")).unwrap();
    assert!(matches!(place.take(), Err(SnapshotError::Disk(_))));
}

#[test]
fn a_folder_without_end_is_refused() {
    let place = Place::new();
    for n in 0..=CHECKPOINT_FILES {
        fs::write(place.file(&n.to_string()), "").unwrap();
    }
    let many = place.take();
    assert!(matches!(
        many,
        Err(SnapshotError::TooMuch("too many files"))
    ));
    let place = Place::new();
    let large = File::create(place.file("large")).unwrap();
    large.set_len(CHECKPOINT_BYTES + 1).unwrap();
    let large = place.take();
    assert!(matches!(
        large,
        Err(SnapshotError::TooMuch("too many bytes"))
    ));
    let place = Place::new();
    fs::create_dir_all(place.file(&["d"; MANIFEST_DEPTH + 1].join("/"))).unwrap();
    assert!(matches!(place.take(), Err(SnapshotError::TooMuch(_))));
    let place = Place::new();
    fs::write(place.file("a"), "a").unwrap();
    let (work, kept) = (place.0.path().join("work"), place.0.path().join("kept"));
    let full = take(&work, "ckpt", &kept, 1, |_| false);
    assert!(matches!(full, Err(SnapshotError::NoRoom)));
    let beyond = take(&work, "ckpt", &kept, 0, |_| true);
    assert!(matches!(
        beyond,
        Err(SnapshotError::TooMuch("too many bytes"))
    ));
}

#[test]
fn of_a_folder_that_never_keeps_still_no_copy_stays() {
    let place = Place::new();
    let (work, kept) = (place.0.path().join("work"), place.0.path().join("kept"));
    fs::write(place.file("a"), "whole").unwrap();
    let whole = place.take().unwrap().manifest;
    // Each look finds a content to copy, and the folder changed after that.
    let rewrite = |_| {
        let next = format!("{:?}", std::time::Instant::now());
        fs::write(place.file("b"), next).unwrap();
        true
    };
    for name in ["a", "b"] {
        fs::write(place.file(name), name).unwrap();
    }
    let restless = take(&work, "ckpt", &kept, u64::MAX, rewrite);
    assert!(matches!(restless, Err(SnapshotError::Restless)));
    let left = names(&kept).unwrap();
    let last = kept.join(whole.files[0].content.to_hex());
    assert_eq!(left, BTreeSet::from([last]), "the last copy stays");
    assert!(!kept.join(COPY).exists());
}

#[test]
fn a_file_that_changes_while_it_is_read_makes_no_copy() {
    let place = Place::new();
    fs::write(place.file("a"), "a").unwrap();
    let root = File::open(place.file("")).unwrap();
    let seen = list(&root, u64::MAX).unwrap();
    let stamp = seen["a"];
    let mut grown = OpenOptions::new()
        .append(true)
        .open(place.file("a"))
        .unwrap();
    let read_now = |stamp: &Stamp| read(&root, "a", stamp, |_| Ok(()));
    assert!(read_now(&stamp).is_ok());
    grown.write_all(b"b").unwrap();
    assert!(matches!(read_now(&stamp), Err(SnapshotError::Restless)));
    // It grows between its pieces.
    let stamp = list(&root, u64::MAX).unwrap()["a"];
    let growing = read(&root, "a", &stamp, |_| grown.write_all(b"c"));
    assert!(matches!(growing, Err(SnapshotError::Restless)));
    assert_ne!(list(&root, u64::MAX).unwrap(), seen);
    // Renamed into its place is another file.
    fs::write(place.file("a.tmp"), "abc").unwrap();
    fs::rename(place.file("a.tmp"), place.file("a")).unwrap();
    assert!(matches!(read_now(&stamp), Err(SnapshotError::Restless)));
}
