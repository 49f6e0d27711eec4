//! Traces of an order of a live market, as a collector gets them.

use crate::private::{alone, at_work, market};
use crate::{Ran, command, gridbay};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// For a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(120);
/// Words of a job that leave the node by no trace.
const SECRETS: [&str; 3] = ["WORD_OF_MINE", "hunter2", "an-argument"];

/// A collector of traces.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Value>>>);

impl Collector {
    async fn start() -> (Collector, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = Collector::default();
        let taking = collector.clone();
        tokio::spawn(async move {
            loop {
                let (io, _) = listener.accept().await.unwrap();
                let taking = taking.clone();
                tokio::spawn(async move { taking.take(io).await });
            }
        });
        (collector, format!("http://{address}/v1/traces"))
    }
    /// Reads a request, and thanks for it.
    async fn take(&self, mut io: TcpStream) {
        let mut got = Vec::new();
        let body: Value = loop {
            let mut piece = [0; 4_096];
            let n = io.read(&mut piece).await.unwrap();
            if n == 0 {
                return;
            }
            got.extend_from_slice(&piece[..n]);
            let text = String::from_utf8_lossy(&got);
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
            if let Some(body) = body.and_then(|body| serde_json::from_str(body).ok()) {
                break body;
            }
        };
        self.0.lock().unwrap().push(body);
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let _gone = io.write_all(answer.as_bytes()).await;
    }
    /// All that came, as text.
    fn text(&self) -> String {
        Value::Array(self.0.lock().unwrap().clone()).to_string()
    }
    fn spans(&self) -> Vec<Span> {
        let bodies = self.0.lock().unwrap();
        let list = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
        let resources = bodies.iter().flat_map(|body| list(body, "resourceSpans"));
        let scopes = resources.flat_map(|resource| list(&resource, "scopeSpans"));
        let spans = scopes.flat_map(|scope| list(&scope, "spans"));
        spans.map(Span).collect()
    }
    /// Waits until a span of each of these names is there.
    async fn until(&self, names: &[&str]) {
        let begun = Instant::now();
        loop {
            let spans = self.spans();
            let has = |name: &&&str| spans.iter().any(|span| span.name() == **name);
            let Some(missing) = names.iter().find(|name| !has(name)) else {
                return;
            };
            assert!(begun.elapsed() < PATIENCE, "no span {missing}: {spans:#?}");
            sleep(Duration::from_millis(100)).await;
        }
    }
}

#[derive(Clone, Debug)]
struct Span(Value);

impl Span {
    fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }
    fn name(&self) -> &str {
        self.text("name")
    }
    /// Milliseconds since 1970.
    fn times(&self) -> (u64, u64) {
        let ms = |key| self.text(key).parse::<u64>().unwrap() / 1_000_000;
        (ms("startTimeUnixNano"), ms("endTimeUnixNano"))
    }
    fn value(&self, key: &str) -> &Value {
        let all = self.0["attributes"].as_array().unwrap();
        let found = all.iter().find(|kv| kv["key"] == key);
        &found.unwrap_or_else(|| panic!("no {key}: {self:?}"))["value"]
    }
}

/// Starts the node of a folder again.
async fn up(folder: &Path, endpoint: &str) {
    let log = fs::File::create(folder.join("again.log")).unwrap();
    command(folder, &["node", "up"])
        .env("GRIDBAY_TRACES_ENDPOINT", endpoint)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while gridbay(folder, &["node", "status"]).await.code != 0 {
        assert!(begun.elapsed() < PATIENCE, "it does not start again");
        sleep(Duration::from_millis(100)).await;
    }
}

async fn stop(folder: &Path) {
    let stopped = gridbay(folder, &["node", "stop"]).await;
    assert_eq!(stopped.code, 0, "{}", stopped.err);
}

#[tokio::test]
async fn an_order_is_one_trace_from_its_command_to_its_payments_across_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let (collector, endpoint) = Collector::start().await;
    let setting = format!("traces.endpoint={endpoint}");
    let script = "until test -e done; do sleep 0.1; done; echo an-argument";
    let words = [
        "--set",
        &setting,
        "run",
        "--keep",
        "--detach",
        "--max-price",
        "10",
        "--time",
        "30m",
        "--env",
        "WORD_OF_MINE=hunter2",
        "--",
        "sh",
        "-c",
        script,
    ];
    let run = alone(place.path(), &words).output();
    let ran = Ran::of(timeout(PATIENCE, run).await.unwrap().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (folder, job) = (market(place.path()).unwrap(), ran.out.trim().to_owned());
    let early = ["commit", "open", "clearing", "payment", "stage", "start"];
    collector.until(&early).await;
    // What has ended by now is told once; the rest follows from a node that starts again.
    sleep(Duration::from_secs(2)).await;
    stop(&folder).await;
    up(&folder, &endpoint).await;
    fs::write(work(&folder).join("done"), "").unwrap();
    let waited = gridbay(&folder, &["job", "wait", &job]).await;
    assert_eq!(waited.code, 0, "{}", waited.err);
    collector.until(&["run", "job", "lease", "order"]).await;
    let record = gridbay(&folder, &["job", "describe", &job, "-o", "json"])
        .await
        .json();
    let secret = fs::read_to_string(folder.join("keys/account.key")).unwrap();
    stop(&folder).await;
    check(&collector.spans(), &record);
    let text = collector.text();
    for word in SECRETS.into_iter().chain([secret.trim()]) {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert_eq!(at_work(&folder), Vec::<PathBuf>::new());
}

/// The folder in which the only job of a market works.
fn work(folder: &Path) -> PathBuf {
    let jobs = fs::read_dir(folder.join("jobs")).unwrap();
    let mut work = jobs.map(|job| job.unwrap().path().join("work"));
    work.find(|work| work.is_dir()).unwrap()
}

/// One trace of the order's id, stages below what they belong to, each once, in their order.
fn check(spans: &[Span], record: &Value) {
    let order = record["order"].as_str().unwrap();
    let mut by_id = BTreeMap::new();
    for span in spans {
        assert_eq!(span.text("traceId"), &order[..32], "{span:?}");
        assert_eq!(span.value("gridbay.order")["stringValue"], order);
        let before = by_id.insert(span.text("spanId").to_owned(), span);
        assert!(before.is_none(), "told twice: {span:?}");
        let (from, to) = span.times();
        assert!(from <= to, "{span:?}");
    }
    let parents = [
        ("commit", "order"),
        ("open", "order"),
        ("clearing", "order"),
        ("lease", "order"),
        ("payment", "lease"),
        ("start", "lease"),
        ("job", "lease"),
        ("stage", "lease"),
        ("run", "job"),
    ];
    let of = |name: &str| {
        let found = spans.iter().find(|span| span.name() == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    for (name, above) in parents {
        for span in spans.iter().filter(|span| span.name() == name) {
            let parent = by_id[span.text("parentSpanId")];
            assert_eq!(parent.name(), above, "{span:?}");
        }
    }
    let root = of("order");
    assert_eq!(root.text("parentSpanId"), "");
    assert_eq!(root.value("gridbay.job")["stringValue"], record["id"]);
    assert_eq!(root.value("gridbay.state")["stringValue"], "done");
    let (accepted, committed) = of("commit").times();
    assert_eq!(
        (accepted, root.times().0),
        (record["accepted_ms"].as_u64().unwrap(), accepted)
    );
    let (opened_from, opened) = of("open").times();
    assert_eq!(opened_from, committed);
    let (cleared_from, cleared) = of("clearing").times();
    assert_eq!((cleared_from, of("lease").times().0), (opened, cleared));
    // The buyer's node sees by its own clock what happens at the seller's.
    let (start_from, started) = of("start").times();
    let attempt = |key: &str| record["attempts"][0][key].as_u64().unwrap();
    assert_eq!((start_from, started), (cleared, attempt("started_ms")));
    assert_eq!(of("job").times(), (started, attempt("ended_ms")));
    let (staged_from, staged) = of("stage").times();
    let (ran_from, ran) = of("run").times();
    assert_eq!(
        (staged, ran_from),
        (ran_from, record["running_ms"].as_u64().unwrap())
    );
    assert!(staged_from >= cleared && ran_from <= started && ran >= started);
    assert_eq!(of("job").value("gridbay.exit_code")["intValue"], "0");
    let lease = of("lease");
    assert_eq!(lease.value("gridbay.lease")["stringValue"], record["lease"]);
    check_money(spans, root);
}

/// What the order paid was charged before, slot by slot.
fn check_money(spans: &[Span], root: &Span) {
    let charged = spans.iter().filter(|span| span.name() == "payment");
    let charged = charged.filter(|span| span.value("gridbay.reason")["stringValue"] == "charge");
    let credits = |span: &Span, key| span.value(key)["doubleValue"].as_f64().unwrap();
    let sum: f64 = charged.map(|span| credits(span, "gridbay.credits")).sum();
    let paid = credits(root, "gridbay.paid");
    assert!(sum > 0.0 && paid <= sum, "{paid} paid of {sum} charged");
}
