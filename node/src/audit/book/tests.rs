use super::*;
use crate::audit::{Line, Outcome, Pending, Who, read_log};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Builder;

fn action(n: u16) -> Action {
    Action {
        who: Who::Node,
        what: "POST /jobs".to_owned(),
        place: None,
        detail: BTreeMap::new(),
        outcome: Outcome::Done,
        status: Some(n),
    }
}

fn lines(home: &Path) -> Vec<Line> {
    let read = read_log(home, 0).unwrap().unwrap();
    assert_eq!(read.broken, None);
    read.lines
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_is_on_disk_when_its_action_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    for n in 1..=20 {
        book.write(action(n)).await;
        assert_eq!(lines(dir.path()).last().unwrap().status, Some(n));
    }
    let told = (0..400).map(|n| Pending::new(book.clone(), action(n)).ends(|_| ()));
    futures::future::join_all(told).await;
    assert_eq!(lines(dir.path()).len(), 421);
}

#[tokio::test]
async fn a_line_that_nobody_waits_for_holds_nobody_up_and_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (go, slow) = mpsc::channel::<()>();
    let files = Files::open(dir.path()).unwrap();
    let (told, hears) = mpsc::channel();
    // A disk that takes its time.
    let thread = thread::spawn(move || {
        let went = slow.recv_timeout(Duration::from_secs(10));
        serve(files, &hears);
        assert!(went.is_ok(), "the task went on");
    });
    let book = Book(Arc::new(Desk {
        told: Some(told),
        thread: Some(thread),
    }));
    drop(Pending::new(book.clone(), action(1)));
    assert_eq!(lines(dir.path()).len(), 1);
    go.send(()).unwrap();
    book.settled().await;
    assert_eq!(lines(dir.path()).len(), 2);
}

#[test]
fn a_line_is_not_lost_with_its_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let book = Book::open(dir.path()).unwrap();
    let runtime = Builder::new_current_thread().build().unwrap();
    let one = Pending::new(book.clone(), action(1));
    runtime.block_on(async {
        drop(tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(one);
        }));
        tokio::task::yield_now().await;
    });
    drop(runtime);
    // Nor where there is none.
    drop(Pending::new(book.clone(), action(2)));
    // The last one that could tell more waits for all to be written.
    drop(book);
    assert_eq!(lines(dir.path()).len(), 3);
}
