//! Those who read an answer slowly, or not at all.

use super::bounds::{PATIENCE, ask, connect, head, hold};
use super::routes::job;
use super::served::Served;
use super::world::Settings;
use axum::Router;
use axum::routing::get;
use std::fs;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

#[tokio::test]
async fn who_stops_reading_is_hung_up_on() {
    let at = Served::start(&["api.connections=1"]).await;
    let (id, order) = job(&at).await;
    let folder = at.world.orders().files(&order, 0);
    fs::create_dir_all(&folder).unwrap();
    // More than sockets keep for a reader.
    let bytes = 16 << 20;
    fs::write(folder.join("big"), vec![7; bytes]).unwrap();
    let mut slow = connect(&at, false).await;
    let file = head(&at, &format!("GET /api/v1/jobs/{id}/files/0/big"));
    slow.write_all(format!("{file}\r\n").as_bytes())
        .await
        .unwrap();
    let mut begun = [0; 12];
    slow.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let freed = async {
        while !ask(&at, false, "GET /api/v1/node", "\r\n")
            .await
            .0
            .starts_with("http/1.1 200")
        {}
    };
    let patience = 2 * PATIENCE;
    timeout(patience, freed).await.expect("its turn ends");
    let mut rest = Vec::new();
    let _broken = timeout(PATIENCE, slow.read_to_end(&mut rest))
        .await
        .unwrap();
    assert!(rest.len() < bytes, "it did not get all of it");
    at.stop().await;
}

#[tokio::test]
async fn who_reads_slowly_gets_all_of_an_answer_beside_many_connections() {
    // One piece, of more than sockets keep for a reader.
    const BYTES: usize = 16 << 20;
    let played = Router::new().route("/big", get(|| async { vec![7; BYTES] }));
    let sets = ["api.listen=127.0.0.1:0", "api.connections=8"];
    let at = Served::with(&sets, Settings::default(), played).await;
    let mut slow = connect(&at, false).await;
    let big = format!("{}Connection: close\r\n\r\n", head(&at, "GET /big"));
    slow.write_all(big.as_bytes()).await.unwrap();
    let mut read = vec![0; 12];
    slow.read_exact(&mut read).await.unwrap();
    assert_eq!(read, b"HTTP/1.1 200");
    // More than there are slots: whoever is idle is closed.
    let held = hold(&at, false, 400).await;
    timeout(PATIENCE, slow.read_to_end(&mut read))
        .await
        .expect("all of it comes")
        .unwrap();
    let head = read.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(read.len() - head, BYTES);
    drop(held);
    at.stop().await;
}
