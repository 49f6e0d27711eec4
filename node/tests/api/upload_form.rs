//! The file that the form of an order brings, over a real socket: it is kept from the check on and
//! goes along, and what is hostile about it is refused.

use super::audit::lines;
use super::forms::{encoded, jobs, kept, offer};
use super::served::Served;
use super::web::{Browser, Page, served};
use gridbay_node::api::types::Scope;
use gridbay_protocol::job::content_id;

const EDGE: &str = "----a5b2c8";
const KIND: &str = "multipart/form-data; boundary=----a5b2c8";
const PROGRAM: &str = "#!/bin/sh\necho hi\r\n--not the end\r\n";

/// One part: a field, or a file of this name.
fn part(name: &str, file: Option<&str>, content: &str) -> String {
    let file = file.map_or(String::new(), |file| {
        format!("; filename=\"{file}\"\r\nContent-Type: application/octet-stream")
    });
    format!(
        "--{EDGE}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n"
    )
}

/// A form with the fields of an order, and a file behind them if there is one.
fn form(token: &str, more: &[(&str, &str)], file: Option<(&str, &str)>) -> String {
    let token = token.strip_prefix("token=").unwrap();
    let order = [
        ("class", "small"),
        ("nodes", "1"),
        ("time", "10s"),
        ("max_price", "2"),
    ];
    let first = [("token", token)];
    let fields = first.iter().chain(&order).chain(more).copied();
    let fields: String = fields
        .map(|(name, value)| part(name, None, value))
        .collect();
    let file = file.map_or(String::new(), |(name, content)| {
        part("file", Some(name), content)
    });
    format!("{fields}{file}--{EDGE}--\r\n")
}

async fn post(browser: &Browser, body: &str) -> Page {
    browser.post_as(KIND, "/submit", body).await
}

/// Files that the node keeps.
fn stored(at: &Served) -> usize {
    let folder = at.world.dir.path().join("content");
    std::fs::read_dir(folder).unwrap().count()
}

/// The form as the page sends it after a check.
async fn send(browser: &Browser, checked: &Page) -> Page {
    let names = [
        "token",
        "key",
        "mark",
        "told_class",
        "told_price",
        "told_most",
        "file_name",
        "file_id",
        "file_bytes",
    ];
    let kept: Vec<(&str, String)> = names
        .iter()
        .map(|name| (*name, kept(checked, name)))
        .collect();
    let mut fields = vec![
        ("argv", ""),
        ("class", "small"),
        ("nodes", "1"),
        ("time", "10s"),
        ("how", "ausubel"),
        ("max_price", "2"),
        ("do", "send"),
    ];
    fields.extend(kept.iter().map(|(name, value)| (*name, value.as_str())));
    browser.post("/submit", &encoded(&fields)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_kept_from_the_check_on_and_runs_as_the_job() {
    let at = served().await;
    offer(&at).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let token = browser.token().await;
    let how = [("how", "ausubel"), ("do", "check")];
    let checked = post(&browser, &form(&token, &how, Some(("sweep.sh", PROGRAM)))).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    assert_eq!(kept(&checked, "file_name"), "sweep.sh");
    let id = content_id(PROGRAM.as_bytes()).to_hex();
    assert_eq!(kept(&checked, "file_id"), id);
    assert!(
        checked.body.contains("--input sweep.sh"),
        "{}",
        checked.body
    );
    assert!(jobs(&at).await.is_empty(), "a check sends nothing");
    let file = at.world.dir.path().join("content").join(&id);
    assert_eq!(std::fs::read_to_string(file).unwrap(), PROGRAM);
    let done = send(&browser, &checked).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let jobs = jobs(&at).await;
    assert_eq!(
        (jobs.len(), &jobs[0].argv[..]),
        (1, &["./sweep.sh".to_owned()][..])
    );
    let told = lines(at.world.dir.path());
    let first = told
        .iter()
        .find(|line| line.what == "page POST /submit")
        .unwrap();
    assert_eq!(first.detail["class"], "small");
    assert!(!first.detail.contains_key("token"), "{first:?}");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_chosen_late_is_checked_first_and_can_be_left_out() {
    let at = served().await;
    offer(&at).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let token = browser.token().await;
    let fields = [("argv", "true"), ("how", "ausubel"), ("do", "check")];
    let checked = post(&browser, &form(&token, &fields, Some(("", "")))).await;
    assert_eq!(kept(&checked, "file_name"), "", "none was chosen");
    let (key, mark) = (kept(&checked, "key"), kept(&checked, "mark"));
    let fields = [
        ("argv", "true"),
        ("how", "ausubel"),
        ("do", "send"),
        ("key", &key),
        ("mark", &mark),
    ];
    let late = post(&browser, &form(&token, &fields, Some(("data.csv", "1,2")))).await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert_eq!(kept(&late, "file_name"), "data.csv", "and is not lost");
    let (id, bytes) = (kept(&late, "file_id"), kept(&late, "file_bytes"));
    let fields = [
        ("argv", "true"),
        ("how", "ausubel"),
        ("do", "check"),
        ("file_name", "data.csv"),
        ("file_id", &id),
        ("file_bytes", &bytes),
    ];
    let again = post(&browser, &form(&token, &fields, None)).await;
    assert_eq!(kept(&again, "file_id"), id);
    let without = [&fields[..], &[("drop", "yes")]].concat();
    let without = post(&browser, &form(&token, &without, None)).await;
    assert_eq!(kept(&without, "file_id"), "", "{}", without.body);
    // An address names no file of this node.
    let query = encoded(&fields[..]);
    let opened = browser.get(&format!("/submit?{query}")).await;
    assert_eq!(kept(&opened, "file_id"), "");
    assert!(jobs(&at).await.is_empty());
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_are_refused() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let token = browser.token().await;
    let long = "x".repeat(5_000);
    for name in [
        "../x",
        "/etc/passwd",
        "..",
        "a\\b",
        "C:\\a",
        "a\0b",
        "a\tb",
        &long,
    ] {
        let refused = post(&browser, &form(&token, &[], Some((name, "1")))).await;
        assert_eq!(refused.status, 400, "{name:?}: {}", refused.body);
        assert!(
            refused.body.contains("data-tone=\"bad\""),
            "{name:?}: {}",
            refused.body
        );
    }
    assert_eq!(stored(&at), 0);
    assert!(jobs(&at).await.is_empty());
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_forms_are_refused_and_nothing_is_kept() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let token = browser.token().await;
    let token = token.as_str();
    let two = form(token, &[], Some(("a", "1")));
    let two = two.replace(
        &format!("--{EDGE}--\r\n"),
        &form(token, &[], Some(("b", "2"))),
    );
    let order = format!("{}{}", part("file", Some("a"), "1"), form(token, &[], None));
    let large = form(token, &[("argv", &"x".repeat(1_100_000))], None);
    let many: String = (0..5_000).map(|_| part("x", None, "")).collect();
    let many = format!("{many}{}", form(token, &[], None));
    let head = format!("--{EDGE}\r\nX: {}", "x".repeat(3_000_000));
    for (body, status, what) in [
        (
            form("token=00", &[], Some(("a", "1"))),
            403,
            "another token",
        ),
        (order, 403, "a file before its token"),
        (
            form("token=00", &[], None),
            403,
            "another token without a file",
        ),
        (two, 400, "two files"),
        (form(token, &[], None).replace("--\r\n", ""), 400, "no end"),
        (
            form(token, &[("class", "b"), ("class", "c")], None),
            400,
            "a field twice",
        ),
        (
            form(token, &[("file", "1")], None),
            400,
            "a file without a name",
        ),
        (large, 413, "much text"),
        (many, 413, "many fields"),
        (head, 400, "a head without an end"),
        ("x".to_owned(), 400, "no parts"),
    ] {
        let refused = post(&browser, &body).await;
        assert_eq!(refused.status, status, "{what}: {}", refused.body);
    }
    let reader = Browser::signed_in(&at, Scope::Read).await;
    let own = reader.token().await;
    let refused = post(&reader, &form(&own, &[], Some(("a", "1")))).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    // Of two files the first is there when the second is seen.
    assert!(stored(&at) <= 1, "{} files", stored(&at));
    assert!(jobs(&at).await.is_empty());
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_above_the_nodes_limit_is_refused_while_it_comes() {
    let at = Served::start(&["api.listen=127.0.0.1:0", "limits.content=1KiB"]).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let token = browser.token().await;
    let large = "x".repeat(2_000);
    let refused = post(&browser, &form(&token, &[], Some(("a", &large)))).await;
    assert_eq!(refused.status, 413, "{}", refused.body);
    assert_eq!(stored(&at), 0, "not even a part of it");
    let small = "x".repeat(1_000);
    let taken = post(
        &browser,
        &form(&token, &[("do", "check")], Some(("a", &small))),
    )
    .await;
    assert!([200, 400].contains(&taken.status), "{}", taken.body);
    assert_eq!(stored(&at), 1);
    at.stop().await;
}
