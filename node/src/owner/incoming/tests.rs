//! Which updates are let in, and how one goes on after a cut.

use super::*;

fn coming(content: u8) -> Handover {
    Handover {
        content: ContentId([content; 32]),
        bytes: 10,
        held: 3,
        state: HandoverState::Coming,
        why: String::new(),
    }
}

#[test]
fn an_update_is_let_in_where_an_agent_takes_it_and_no_other_is_under_way() {
    let good = Here {
        agent: Some(String::new()),
        waits: false,
        room: true,
    };
    let here = |change: fn(&mut Here)| {
        let mut here = good.clone();
        change(&mut here);
        here
    };
    let none = here(|here| here.agent = None);
    let trial = here(|here| here.agent = Some("0.2".to_owned()));
    let (waits, full) = (
        here(|here| here.waits = true),
        here(|here| here.room = false),
    );
    let over = Handover {
        state: HandoverState::Failed,
        ..coming(7)
    };
    let on_trial = NotLetIn::OnTrial("0.2".to_owned());
    let size = |bytes| Err(NotLetIn::Size { bytes });
    for (bytes, last, here, wanted) in [
        (10, None, &good, Ok(Begin::Now)),
        (UPDATE_BYTES, Some(over), &good, Ok(Begin::Now)),
        (10, Some(coming(1)), &full, Ok(Begin::Coming)),
        (10, Some(coming(7)), &good, Err(NotLetIn::Coming)),
        (0, None, &good, size(0)),
        (UPDATE_BYTES + 1, None, &good, size(UPDATE_BYTES + 1)),
        (10, None, &none, Err(NotLetIn::NoAgent)),
        (10, None, &waits, Err(NotLetIn::Waits)),
        (10, None, &trial, Err(on_trial)),
        (10, None, &full, Err(NotLetIn::NoRoom { bytes: 10 })),
    ] {
        let content = ContentId([1; 32]);
        let judged = judge(Announced { content, bytes }, last.as_ref(), here);
        if let Err(why) = &judged {
            assert!(!why.told().hint.is_empty());
        }
        assert_eq!(judged, wanted, "{bytes} {last:?} {here:?}");
    }
}

#[test]
fn a_part_goes_on_after_its_last_whole_piece() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, path) = (dir.path().join("updates"), dir.path().join("updates/part"));
    let whole: Vec<u8> = (0..3 * CHUNK_BYTES + 5).map(|i| (i % 251) as u8).collect();
    let bytes = whole.len() as u64;
    for (there, wanted) in [
        (0, 0),
        (CHUNK_BYTES - 1, 0),
        (2 * CHUNK_BYTES + 17, 2 * CHUNK_BYTES),
        (3 * CHUNK_BYTES + 5, 3 * CHUNK_BYTES),
    ] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, &whole[..there]).unwrap();
        let (mut file, mut hasher, held) = begin_part(&folder, &path, bytes).unwrap();
        assert_eq!(held, wanted as u64);
        assert_eq!(file.stream_position().unwrap(), held);
        assert!(hasher.update(&whole[wanted..]));
        let id = gridbay_protocol::job::content_id(&whole);
        assert_eq!(hasher.finish(), Some(id));
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(begin_part(&folder, &path, bytes).is_err());
}

#[test]
fn pieces_of_long_ago_go_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(FOLDER);
    fs::create_dir(&folder).unwrap();
    let (old, new) = (folder.join("old"), folder.join("new"));
    fs::write(&new, "x").unwrap();
    let then = std::time::SystemTime::now() - 2 * KEPT;
    File::create(&old).unwrap().set_modified(then).unwrap();
    Incoming::open(dir.path()).unwrap();
    assert!(new.exists() && !old.exists());
}
