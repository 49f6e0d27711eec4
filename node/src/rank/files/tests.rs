//! Files between two folders, over a buffer that ends anywhere.

use super::*;
use crate::rank::wire::read_into;
use std::os::unix::fs::{PermissionsExt, symlink};

const ID: Id = Id([7; 16]);

/// Takes all frames that are whole; true at the end.
fn receive(from: &mut &[u8], to: &mut Receiver) -> io::Result<bool> {
    let mut bytes = Vec::new();
    loop {
        match read_into(&mut *from, &mut bytes) {
            Ok(Kind::Item) => to.begin(serde_json::from_slice(&bytes)?)?,
            Ok(Kind::Data) => to.data(&bytes)?,
            Ok(_) => return to.finish().map(|()| true),
            Err(_) => return Ok(false),
        }
    }
}

fn item(path: &str, bytes: Option<u64>) -> Item {
    Item {
        path: path.to_owned(),
        mode: 0o644,
        bytes,
        changed: 0,
        from: 0,
    }
}

fn source(dir: &Path) -> PathBuf {
    let from = dir.join("from");
    fs::create_dir_all(from.join("deep/empty")).unwrap();
    let pattern: Vec<u8> = (0..DATA * 3 + 17).map(|n| (n % 251) as u8).collect();
    fs::write(from.join("deep/large"), pattern).unwrap();
    fs::write(from.join("nothing"), "").unwrap();
    fs::write(from.join("run"), "#!/bin/sh\n").unwrap();
    let mode = |path: &str, mode| {
        fs::set_permissions(from.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("run", 0o750);
    mode("deep/empty", 0o500);
    symlink("/etc/passwd", from.join("link")).unwrap();
    from
}

#[test]
fn a_folder_arrives_whole_whatever_the_cuts() {
    let dir = tempfile::tempdir().unwrap();
    let from = source(dir.path());
    let (entries, left) = list(&from, "from").unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    let to = dir.path().join("to");
    let mut receiver = Receiver::new(&to, Some("new".to_owned()), ID).unwrap();
    let mut cuts = [3, 40, 300, DATA, DATA + 1, DATA * 2 + 100, usize::MAX].into_iter();
    loop {
        let (whole, part) = receiver.has();
        let part = part.map(|(item, bytes)| (item.clone(), bytes));
        let part = part.as_ref().map(|(item, bytes)| (item, *bytes));
        let mut stream = Vec::new();
        send(&mut stream, &entries, whole, part, |_, _| ()).unwrap();
        stream.truncate(cuts.next().unwrap());
        if receive(&mut stream.as_slice(), &mut receiver).unwrap() {
            break;
        }
    }
    let new = to.join("new");
    let read = |folder: &Path| fs::read(folder.join("deep/large")).unwrap();
    assert!(read(&new) == read(&from));
    let mode = |path: &str| fs::metadata(new.join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("run"), mode("deep/empty")), (0o750, 0o500));
    let (there, left) = list(&new, "from").unwrap();
    let names = |all: &[Entry]| all.iter().map(|e| e.path.clone()).collect::<Vec<_>>();
    assert_eq!((names(&there), left), (names(&entries), vec![]));
}

#[test]
fn a_file_that_changed_meanwhile_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("f");
    fs::write(&place, vec![1; DATA * 2]).unwrap();
    let (entries, _) = list(&place, "f").unwrap();
    let mut stream = Vec::new();
    send(&mut stream, &entries, 0, None, |_, _| ()).unwrap();
    stream.truncate(DATA + 500);
    let to = dir.path().join("to");
    let mut receiver = Receiver::new(&to, None, ID).unwrap();
    assert!(!receive(&mut stream.as_slice(), &mut receiver).unwrap());
    fs::write(&place, vec![2; DATA * 2 + 1]).unwrap();
    let (whole, part) = receiver.has();
    let part = part.map(|(item, bytes)| (item.clone(), bytes)).unwrap();
    assert_eq!(whole, 0);
    let mut stream = Vec::new();
    send(&mut stream, &entries, 0, Some((&part.0, part.1)), |_, _| ()).unwrap();
    assert!(receive(&mut stream.as_slice(), &mut receiver).unwrap());
    assert_eq!(fs::read(to.join("f")).unwrap(), vec![2; DATA * 2 + 1]);
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (to, outside) = (dir.path().join("to"), dir.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    fs::create_dir(&to).unwrap();
    symlink(&outside, to.join("away")).unwrap();
    symlink(outside.join("file"), to.join("file")).unwrap();
    let mut receiver = Receiver::new(&to, None, ID).unwrap();
    for path in [
        "../x",
        "/etc/x",
        "a/../../x",
        "",
        ".",
        "a//b",
        "away/x",
        "away",
    ] {
        for bytes in [Some(1), None] {
            let begun = receiver.begin(item(path, bytes));
            let is_file = path == "away" && bytes.is_some();
            assert!(begun.is_err() || is_file, "{path}");
        }
    }
    // In a link's place, and not through it.
    receiver.begin(item("file", Some(1))).unwrap();
    receiver.data(b"x").unwrap();
    assert!(!to.join("file").is_symlink() && !outside.join("file").exists());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn what_was_not_announced_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut receiver = Receiver::new(dir.path(), None, ID).unwrap();
    assert!(receiver.data(b"x").is_err(), "before an item");
    receiver.begin(item("f", Some(2))).unwrap();
    assert!(receiver.data(b"xyz").is_err());
    assert!(receiver.finish().is_err(), "not whole");
    let further = Item {
        from: 9,
        ..item("f", Some(20))
    };
    assert!(receiver.begin(further).is_err());
    drop(receiver);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn nothing_is_written_that_was_not_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let asked = |paths: &[&str], most| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Receiver::asked(dir.path(), &paths, ID, most)
    };
    fs::create_dir(dir.path().join("old")).unwrap();
    let mode = |path: &str| fs::metadata(dir.path().join(path)).unwrap().mode() & 0o777;
    let before = mode("old");
    let mut receiver = asked(&["in/out.txt", "/tmp/new/", "old/."], 4).unwrap();
    for path in [".bashrc", ".ssh/authorized_keys", "in/out.txt", "tmp"] {
        for bytes in [Some(0), None] {
            assert!(receiver.begin(item(path, bytes)).is_err(), "{path}");
        }
    }
    let folder = |path| Item {
        mode: 0o700,
        ..item(path, None)
    };
    receiver.begin(folder("new")).unwrap();
    receiver.begin(folder("old")).unwrap();
    receiver.begin(item("new/a", Some(3))).unwrap();
    receiver.data(b"abc").unwrap();
    receiver.begin(item("out.txt", Some(2))).unwrap();
    assert!(receiver.data(b"ab").is_err(), "more than is wanted in all");
    drop(receiver);
    let mut receiver = asked(&["x", "old"], 4).unwrap();
    receiver.begin(folder("old")).unwrap();
    receiver.begin(folder("x")).unwrap();
    receiver.finish().unwrap();
    assert_eq!((mode("old"), mode("x")), (before, 0o700));
    for path in ["", ".", "/", "./"] {
        assert!(asked(&[path], 4).is_err(), "{path}: it is not empty");
    }
    let empty = dir.path().join("empty");
    let mut receiver = Receiver::asked(&empty, &[String::new()], ID, 4).unwrap();
    receiver.begin(item("any", Some(0))).unwrap();
}
