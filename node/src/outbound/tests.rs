//! The proxy between a client and servers of this machine: names, ports and addresses are a table,
//! so nothing leaves the machine.

use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

/// Bounds only failures.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
/// Where the servers are; the machine's own address for all else.
const SERVED: [u8; 4] = [127, 9, 8, 7];

/// Names, the one port, and how often a name was looked up.
struct Table {
    names: BTreeMap<String, Vec<IpAddr>>,
    port: u16,
    asked: AtomicUsize,
}

impl Outside for Table {
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Relaxed);
        self.names
            .get(name)
            .cloned()
            .ok_or(io::ErrorKind::NotFound.into())
    }

    fn has_port(&self, port: u16) -> bool {
        port == self.port
    }

    fn reachable(&self, all: Vec<IpAddr>) -> Vec<IpAddr> {
        all.into_iter()
            .filter(|ip| *ip == IpAddr::from(SERVED))
            .collect()
    }
}

struct World {
    gateway: Gateway,
    table: Arc<Table>,
    proxy: SocketAddr,
    server: TcpListener,
    service: Option<Service>,
}

async fn world(open: bool) -> World {
    let server = TcpListener::bind((IpAddr::from(SERVED), 0)).await.unwrap();
    let served = vec![IpAddr::from(SERVED)];
    let near = vec![IpAddr::from([127, 0, 0, 1])];
    let both = [near.clone(), served.clone()].concat();
    let names = [
        ("far.test", served),
        ("near.test", near),
        ("both.test", both),
    ];
    let table = Arc::new(Table {
        names: names
            .into_iter()
            .map(|(n, ips)| (n.to_owned(), ips))
            .collect(),
        port: server.local_addr().unwrap().port(),
        asked: AtomicUsize::new(0),
    });
    let gateway = Gateway::to(open, Arc::clone(&table) as Arc<dyn Outside>);
    let socket = StdListener::bind("127.0.0.1:0").unwrap();
    let proxy = socket.local_addr().unwrap();
    let service = gateway.serve(socket.into());
    World {
        gateway,
        table,
        proxy,
        server,
        service,
    }
}

impl World {
    async fn ask(&self, head: &str) -> TcpStream {
        let mut job = TcpStream::connect(self.proxy).await.unwrap();
        job.write_all(head.as_bytes()).await.unwrap();
        job
    }

    async fn connect(&self, host: &str) -> TcpStream {
        let port = self.table.port;
        self.ask(&format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n"))
            .await
    }

    fn refused(&self, reason: &str) -> u64 {
        let mut all = self.gateway.counts().refused();
        all.find(|(why, _)| *why == reason).unwrap().1
    }
}

async fn text(from: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let read = timeout(PATIENCE, from.read_to_end(&mut all)).await;
    read.expect("it ends").unwrap();
    String::from_utf8(all).unwrap()
}

async fn exactly(from: &mut TcpStream, count: usize) -> String {
    let mut all = vec![0; count];
    let read = timeout(PATIENCE, from.read_exact(&mut all)).await;
    read.expect("it comes").unwrap();
    String::from_utf8(all).unwrap()
}

const CONNECTED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

#[tokio::test]
async fn bytes_pass_both_ways_and_each_end_ends_by_itself() {
    let world = world(true).await;
    let port = world.table.port;
    // What follows the head at once is not lost, and the address that may not be is passed over.
    let head = format!("CONNECT both.test:{port} HTTP/1.1\r\nHost: x\r\n\r\nearly");
    let mut job = world.ask(&head).await;
    let (mut server, _) = timeout(PATIENCE, world.server.accept())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(exactly(&mut job, CONNECTED.len()).await, CONNECTED);
    assert_eq!(exactly(&mut server, 5).await, "early");
    job.write_all(b" and late").await.unwrap();
    job.shutdown().await.unwrap();
    assert_eq!(text(&mut server).await, " and late");
    server.write_all(b"an answer").await.unwrap();
    drop(server);
    assert_eq!(text(&mut job).await, "an answer");
    let counts = world.gateway.counts();
    assert_eq!(
        (counts.connections(), world.table.asked.load(Relaxed)),
        (1, 1)
    );
    assert_eq!((counts.sent(), counts.received()), (9, 9));
}

#[tokio::test]
async fn a_plain_request_reaches_its_server_without_what_is_the_proxys() {
    let world = world(true).await;
    let port = world.table.port;
    let head = format!(
        "GET http://far.test:{port}/a HTTP/1.1\r\nHost: far.test\r\nProxy-Connection: x\r\n\r\n"
    );
    let mut job = world.ask(&head).await;
    let (mut server, _) = timeout(PATIENCE, world.server.accept())
        .await
        .unwrap()
        .unwrap();
    let sent = "GET /a HTTP/1.1\r\nHost: far.test\r\nConnection: close\r\n\r\n";
    assert_eq!(exactly(&mut server, sent.len()).await, sent);
    server
        .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
        .await
        .unwrap();
    drop(server);
    assert_eq!(text(&mut job).await, "HTTP/1.1 204 No Content\r\n\r\n");
}

#[tokio::test]
async fn what_may_not_be_reached_is_refused_and_counted() {
    let world = world(true).await;
    let port = world.table.port;
    let large = format!("CONNECT a.b:1 HTTP/1.1\r\nA: {}", "x".repeat(HEAD));
    for (head, status, reason) in [
        (format!("CONNECT near.test:{port}"), 403, "address"),
        (format!("CONNECT 127.0.0.1:{port}"), 403, "address"),
        (format!("CONNECT [::1]:{port}"), 403, "address"),
        ("CONNECT far.test:22".to_owned(), 403, "port"),
        (format!("CONNECT gone.test:{port}"), 502, "unknown"),
        (format!("CONNECT localhost:{port}"), 400, "name"),
        ("GET /".to_owned(), 400, "malformed"),
        (format!("GET http://near.test:{port}/"), 403, "address"),
    ] {
        let before = world.refused(reason);
        let mut job = world.ask(&format!("{head} HTTP/1.1\r\n\r\n")).await;
        let said = text(&mut job).await;
        assert!(
            said.starts_with(&format!("HTTP/1.1 {status} ")),
            "{head}: {said}"
        );
        assert_eq!(world.refused(reason), before + 1, "{head}");
    }
    let mut job = world.ask(large.get(..HEAD).unwrap()).await;
    assert!(text(&mut job).await.starts_with("HTTP/1.1 431 "));
    assert_eq!(world.gateway.counts().connections(), 0);
}

#[tokio::test]
async fn nobody_at_an_address_is_told() {
    let mut world = world(true).await;
    world.server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut job = world.connect("far.test").await;
    assert!(text(&mut job).await.starts_with("HTTP/1.1 504 "));
}

#[tokio::test]
async fn an_owner_that_lets_nobody_out_lets_nobody_out() {
    let world = world(false).await;
    let mut job = world.connect("far.test").await;
    assert!(text(&mut job).await.starts_with("HTTP/1.1 403 "));
    assert_eq!(
        (world.refused("policy"), world.table.asked.load(Relaxed)),
        (1, 0)
    );
}

#[tokio::test]
async fn connections_end_with_the_job() {
    let mut world = world(true).await;
    let mut job = world.connect("far.test").await;
    let (mut server, _) = timeout(PATIENCE, world.server.accept())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(exactly(&mut job, CONNECTED.len()).await, CONNECTED);
    drop(world.service.take());
    assert_eq!(text(&mut server).await, "");
    assert_eq!(text(&mut job).await, "");
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(world.proxy).await.is_ok() {
        assert!(Instant::now() < end, "the socket is closed");
        sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// A job has so many connections and no more; the next one is served once one of them has ended.
#[tokio::test]
async fn a_job_has_so_many_connections_and_no_more() {
    let world = world(true).await;
    let mut open = Vec::new();
    for _ in 0..PER_JOB {
        let mut job = world.connect("far.test").await;
        let (server, _) = timeout(PATIENCE, world.server.accept())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(exactly(&mut job, CONNECTED.len()).await, CONNECTED);
        open.push((job, server));
    }
    let mut next = world.connect("far.test").await;
    // One that is served would have been looked up by the time that this one has passed all stages.
    let mut other = open.pop().unwrap();
    other.0.write_all(b"x").await.unwrap();
    assert_eq!(exactly(&mut other.1, 1).await, "x");
    assert_eq!(world.table.asked.load(Relaxed), PER_JOB);
    drop(other);
    assert_eq!(exactly(&mut next, CONNECTED.len()).await, CONNECTED);

    let all = world.gateway.0.connections.available_permits();
    assert_eq!(all, PER_NODE - PER_JOB);
}

#[tokio::test]
async fn a_node_that_carries_enough_refuses() {
    let world = world(true).await;
    let all = u32::try_from(PER_NODE).unwrap();
    let _others = world.gateway.0.connections.try_acquire_many(all).unwrap();
    let mut job = world.connect("far.test").await;
    assert!(exactly(&mut job, 13).await.starts_with("HTTP/1.1 503 "));
    assert_eq!(world.table.asked.load(Relaxed), 0);
}
