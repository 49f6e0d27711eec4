//! The web pages over a real socket: who gets in, and what is refused.

use super::audit::lines;
use super::routes::job;
use super::served::Served;
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{JobRecord, JobState, LinkRequest, Scope, WebLink};
use gridbay_node::audit::{Outcome, Who};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Bytes of a page at the most, and the time in which it is answered.
const BYTES: usize = 150_000;
const TIME: Duration = Duration::from_millis(200);

/// An answer: status, headers and body.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

async fn send(at: SocketAddr, text: &str) -> Page {
    let mut io = TcpStream::connect(at).await.unwrap();
    // A node that refuses a body early need not read it to its end.
    let _whole = io.write_all(text.as_bytes()).await;
    let mut answer = Vec::new();
    let _end = io.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Page {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

/// A browser: the cookie that it got, and the host and port for which it has it.
#[derive(Clone)]
pub(crate) struct Browser {
    at: SocketAddr,
    host: String,
    cookie: String,
}

impl Browser {
    /// One that is not signed in.
    fn new(at: SocketAddr) -> Browser {
        Browser {
            at,
            host: at.to_string(),
            cookie: String::new(),
        }
    }
    /// One that is not signed in, at the address of a link.
    fn at_link(at: SocketAddr, link: &WebLink) -> Browser {
        let (_, rest) = link.url.split_once("//").unwrap();
        let (host, _) = rest.split_once('/').unwrap();
        Browser {
            host: host.to_owned(),
            ..Browser::new(at)
        }
    }
    /// One that used a link.
    pub(crate) async fn signed_in(at: &Served, scope: Scope) -> Browser {
        let link = link(at, scope).await;
        let mut browser = Browser::at_link(at.tcp.unwrap(), &link);
        let entered = browser.get(&path(&link)).await;
        assert_eq!(entered.status, 200, "{}", entered.body);
        browser.cookie = cookie(&entered);
        browser
    }
    pub(crate) async fn get(&self, path: &str) -> Page {
        let Browser { host, cookie, .. } = self;
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        send(self.at, &text).await
    }
    pub(crate) async fn post(&self, path: &str, form: &str) -> Page {
        self.post_of("", path, form).await
    }
    /// A form with further headers, each ended by a line break.
    async fn post_of(&self, headers: &str, path: &str, form: &str) -> Page {
        let kind = "application/x-www-form-urlencoded";
        self.sent(headers, kind, path, form).await
    }
    /// A form of another kind.
    pub(crate) async fn post_as(&self, kind: &str, path: &str, form: &str) -> Page {
        self.sent("", kind, path, form).await
    }
    async fn sent(&self, headers: &str, kind: &str, path: &str, form: &str) -> Page {
        let Browser { at, host, cookie } = self;
        let length = form.len();
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             {headers}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{form}"
        );
        send(*at, &text).await
    }
    /// The token that this session's forms carry.
    pub(crate) async fn token(&self) -> String {
        let page = self.get("/").await.body;
        let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
        format!("token={}", rest.split('"').next().unwrap())
    }
}

async fn link(at: &Served, scope: Scope) -> WebLink {
    let asked = LinkRequest { scope };
    at.client().post("/web/links", &asked, None).await.unwrap()
}

/// What of a link is sent to the node.
fn path(link: &WebLink) -> String {
    let (_, rest) = link.url.split_once("//").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

fn cookie(page: &Page) -> String {
    let (_, rest) = page.head.split_once("set-cookie: ").unwrap();
    let line = rest.lines().next().unwrap();
    assert!(
        line.contains("; httponly; samesite=strict; path=/;"),
        "{line}"
    );
    line.split(';').next().unwrap().to_owned()
}

pub(crate) async fn served() -> Served {
    Served::start(&["api.listen=127.0.0.1:0"]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_one_session() {
    let at = served().await;
    let stranger = Browser::new(at.tcp.unwrap());
    for path in ["/", "/jobs", "/events?page=overview", "/nothing"] {
        let page = stranger.get(path).await;
        assert_eq!(page.status, 401, "{path}");
        assert!(page.body.contains("gridbay web"), "{path}: {}", page.body);
    }
    let link = link(&at, Scope::Admin).await;
    let fresh = Browser::at_link(stranger.at, &link);
    let link = path(&link);
    assert_eq!(stranger.get(&link).await.status, 401, "another host");
    let entered = fresh.get(&link).await;
    assert_eq!(entered.status, 200);
    let browser = Browser {
        cookie: cookie(&entered),
        ..fresh.clone()
    };
    assert_eq!(fresh.get(&link).await.status, 401, "used");
    assert_eq!(stranger.get("/login?link=00").await.status, 401);
    let page = browser.get("/").await;
    assert_eq!(page.status, 200, "{}", page.body);
    for header in [
        "content-security-policy: default-src 'none';",
        "x-content-type-options: nosniff",
        "referrer-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    assert_eq!(browser.get("/nothing").await.status, 404);
    let left = browser.post("/logout", &browser.token().await).await;
    assert_eq!(left.status, 200, "{}", left.body);
    assert_eq!(browser.get("/").await.status, 401, "signed out");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_elsewhere_get_nothing() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Admin).await;
    let cookie = &browser.cookie;
    let other = format!(
        "GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(send(browser.at, &other).await.status, 421, "host");
    let port = browser.at.port();
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        let thief = Browser {
            host,
            ..browser.clone()
        };
        assert_eq!(thief.get("/").await.status, 401, "{}", thief.host);
    }
    assert_eq!(browser.get("/api/v1/node").await.status, 401, "no token");
    let (id, _) = job(&at).await;
    let end = format!("/jobs/{id}/cancel");
    let token = browser.token().await;
    for header in [
        "Origin: http://127.0.0.1:1\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        let refused = browser.post_of(header, &end, &token).await;
        assert_eq!(refused.status, 403, "{header}: {}", refused.body);
        assert!(refused.body.contains("another address"), "{}", refused.body);
    }
    for header in [
        "Sec-Fetch-Site: same-origin\r\nOrigin: null\r\n",
        "Sec-Fetch-Site: none\r\n",
    ] {
        let own = browser.post_of(header, &end, "token=00").await;
        assert!(own.body.contains("page of this session"), "{}", own.body);
    }
    for form in ["", "token=00"] {
        let refused = browser.post(&end, form).await;
        assert_eq!(refused.status, 403, "{form}: {}", refused.body);
    }
    let stranger = Browser::new(browser.at);
    let token = browser.token().await;
    assert_eq!(stranger.post(&end, &token).await.status, 401);
    let open: JobRecord = at.client().get(&format!("/jobs/{id}")).await.unwrap();
    assert!(!open.state.is_final(), "nobody ended it: {open:?}");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_does_what_its_scope_says() {
    let at = served().await;
    let (id, _) = job(&at).await;
    let end = format!("/jobs/{id}/cancel");
    let reader = Browser::signed_in(&at, Scope::Read).await;
    assert_eq!(reader.get("/jobs").await.status, 200);
    assert_eq!(reader.get(&end).await.status, 403);
    let refused = reader.post(&end, &reader.token().await).await;
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("--scope trade"), "{}", refused.body);
    let trader = Browser::signed_in(&at, Scope::Trade).await;
    assert_eq!(trader.get(&end).await.status, 200);
    let ended = trader.post(&end, &trader.token().await).await;
    assert_eq!(ended.status, 303, "{}", ended.body);
    // The ledger ends the order in one of its next blocks.
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let record: JobRecord = at.client().get(&format!("/jobs/{id}")).await.unwrap();
        if record.state == JobState::Cancelled {
            break;
        }
        assert!(Instant::now() < until, "{record:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let told = lines(at.world.dir.path());
    let opened = told.iter().filter(|line| line.what == "session begins");
    assert_eq!(opened.count(), 2, "{told:?}");
    let mut forms = told.iter().filter(|line| line.what.starts_with("page "));
    let (form, more) = (forms.next().unwrap(), forms.next());
    assert_eq!(form.what, "page POST /jobs/{id}/cancel");
    assert_eq!(
        (form.outcome, form.place.as_ref()),
        (Outcome::Done, Some(&end))
    );
    assert!(matches!(&form.who, Who::Session { scope, .. } if scope == "trade"));
    assert!(
        more.is_none(),
        "the reader's was turned away at the door: {more:?}"
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_small_and_quick() {
    let at = served().await;
    let (id, _) = job(&at).await;
    let browser = Browser::signed_in(&at, Scope::Read).await;
    for path in [
        "/".to_owned(),
        "/market".to_owned(),
        "/market?class=none&span=1d&q=cpu+%3E%3D+1".to_owned(),
        "/submit?argv=true".to_owned(),
        "/ledger".to_owned(),
        "/network".to_owned(),
        "/seller".to_owned(),
        "/auctions?class=small&page=1".to_owned(),
        "/jobs".to_owned(),
        "/jobs?page=9".to_owned(),
        format!("/jobs/{id}"),
    ] {
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let began = Instant::now();
            let page = browser.get(&path).await;
            best = best.min(began.elapsed());
            assert_eq!(page.status, 200, "{path}: {}", page.body);
            assert!(page.body.len() < BYTES, "{path}: {}", page.body.len());
        }
        assert!(best < TIME, "{path}: {best:?}");
    }
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_market_shows_offers_and_what_is_wrong_with_a_query() {
    let at = served().await;
    let offer = json!({
        "label": null, "class": "small", "units": 2, "reserve": "0.1", "buy": "3",
        "notice_seconds": null,
    });
    let _set: Value = at.client().put("/offers", &offer).await.unwrap();
    let browser = Browser::signed_in(&at, Scope::Read).await;
    let page = browser.get("/market?class=small").await.body;
    assert!(page.contains("<h2 id=\"h-sd\">Supply and demand"), "{page}");
    let wrong = browser.get("/market?q=mem+%3E%3D+8").await;
    assert_eq!(wrong.status, 200, "the rest of the page is of use");
    assert!(
        wrong.body.contains("aria-invalid=\"true\"") && wrong.body.contains("8GiB"),
        "{}",
        wrong.body
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_what_changes_and_ends_with_the_session() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Read).await;
    let token = browser.token().await;
    let other = browser.clone();
    let stream = tokio::spawn(async move { other.get("/events?page=overview").await });
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    browser.post("/logout", &token).await;
    let told = stream.await.unwrap();
    assert_eq!(told.status, 200);
    let fragments = |id: &str| told.body.matches(&format!("data: {id}\n")).count();
    assert!(fragments("stats") >= 2, "heights go on: {}", told.body);
    assert_eq!(fragments("jobs"), 1, "nothing changed there: {}", told.body);
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_say_live_are_told_their_changes() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Read).await;
    let token = browser.token().await;
    let lease = format!("lease&id={}", "ab".repeat(32));
    let pages = [
        ("leases", "leases"),
        ("contracts", "plans"),
        ("pools", "pools"),
        ("reservations", "calendar"),
        ("federation", "signers"),
        ("projects", "projects"),
        ("network", "map"),
        (&lease, "over"),
    ];
    let streams = pages.map(|(page, _)| {
        let (browser, page) = (browser.clone(), format!("/events?page={page}"));
        tokio::spawn(async move { browser.get(&page).await })
    });
    for (path, word) in [
        ("/leases", "Live"),
        ("/federation", "Live"),
        ("/submit", "Clock only"),
        ("/auctions", "Clock only"),
    ] {
        let page = browser.get(path).await.body;
        let word = format!("data-live-word=\"{word}\"");
        assert!(page.contains(&word), "{path}: {page}");
    }
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    browser.post("/logout", &token).await;
    for ((page, place), stream) in pages.iter().zip(streams) {
        let told = stream.await.unwrap();
        let place = format!("data: {place}\n");
        assert!(told.body.contains(&place), "{page}: {}", told.body);
    }
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_node_ends_while_a_page_is_open() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Read).await;
    let stream = tokio::spawn(async move { browser.get("/events?page=overview").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), at.stop()).await;
    assert!(ended.is_ok());
    assert_eq!(stream.await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_an_address_has_no_link() {
    let at = Served::start(&[]).await;
    let asked = LinkRequest { scope: Scope::Read };
    let link = at.client().post("/web/links", &asked, None).await;
    let refused: Result<WebLink, _> = link;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Refused);
    assert!(refused.hint.contains("api.listen"), "{refused:?}");
    at.stop().await;
}
