//! The forms of the web pages over a real socket: what they send takes effect once, and only after
//! it was shown what it does.

use super::audit::lines;
use super::served::Served;
use super::web::{Browser, Page, served};
use gridbay_node::api::types::{Balance, JobRecord, Offer, Scope};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The value of a hidden field of a page's form.
pub(crate) fn kept(page: &Page, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    let (_, rest) = page.body.split_once(&mark).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// A form's fields as a browser sends them.
pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    let byte = |b: u8| match b.is_ascii_alphanumeric() {
        true => char::from(b).to_string(),
        false => format!("%{b:02X}"),
    };
    let text = |text: &str| text.bytes().map(byte).collect::<String>();
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", text(value)));
    pairs.collect::<Vec<_>>().join("&")
}

async fn own(at: &Served) -> Vec<Offer> {
    at.client().get("/offers").await.unwrap()
}

pub(crate) async fn offer(at: &Served) {
    let offer = json!({
        "label": null, "class": "small", "units": 2, "reserve": "1", "buy": "3",
        "notice_seconds": null,
    });
    let _set: Value = at.client().put("/offers", &offer).await.unwrap();
    // It is for sale from the close of the round on.
    let until = Instant::now() + Duration::from_secs(10);
    while !own(at).await[0].on_sale {
        assert!(Instant::now() < until, "not on sale");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// An order of one node at this price.
fn order_at(price: &str) -> Vec<(&'static str, String)> {
    let order = [
        ("argv", "true 'a b'"),
        ("script", ""),
        ("class", "small"),
        ("nodes", "1"),
        ("time", "10s"),
        ("how", "ausubel"),
    ];
    let mut fields: Vec<_> = order.map(|(name, value)| (name, value.to_owned())).to_vec();
    fields.push(("max_price", price.to_owned()));
    fields
}

/// The order as the form that was checked sends it.
async fn sent(browser: &Browser, checked: &Page, order: &[(&str, String)]) -> Page {
    let kept = [
        "token",
        "key",
        "mark",
        "told_class",
        "told_price",
        "told_most",
    ]
    .map(|f| (f, kept(checked, f)));
    let all = order.iter().chain(&kept);
    let mut fields: Vec<(&str, &str)> = all.map(|(name, value)| (*name, value.as_str())).collect();
    fields.push(("do", "send"));
    browser.post("/submit", &encoded(&fields)).await
}

fn query(order: &[(&str, String)]) -> String {
    let fields: Vec<_> = order.iter().map(|(n, v)| (*n, v.as_str())).collect();
    format!("/submit?{}", encoded(&fields))
}

pub(crate) async fn jobs(at: &Served) -> Vec<JobRecord> {
    at.client().get("/jobs?all=true").await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_sent_twice_is_one_job() {
    let at = served().await;
    offer(&at).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let order = order_at("2");
    let checked = browser.get(&query(&order)).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    assert!(jobs(&at).await.is_empty(), "a check sends nothing");
    let first = sent(&browser, &checked, &order).await;
    assert_eq!(first.status, 303, "{}", first.body);
    let again = sent(&browser, &checked, &order).await;
    assert_eq!(again.status, 303, "{}", again.body);
    let dearer = sent(&browser, &checked, &order_at("9000000")).await;
    assert_eq!(dearer.status, 303, "it was sent: {}", dearer.body);
    let jobs = jobs(&at).await;
    let [job] = &jobs[..] else {
        panic!("one job: {jobs:?}")
    };
    assert_eq!(job.argv, ["true", "a b"]);
    assert!(
        again.head.contains(&format!("location: /jobs/{}", job.id)),
        "{}",
        again.head
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_a_class_is_sent_to_the_one_that_was_told() {
    let at = served().await;
    offer(&at).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let mut order = order_at("2");
    order.retain(|(name, _)| *name != "class");
    let checked = browser.get(&query(&order)).await;
    assert_eq!(kept(&checked, "told_class"), "small");
    let first = sent(&browser, &checked, &order).await;
    assert_eq!(first.status, 303, "{}", first.body);
    assert_eq!(jobs(&at).await[0].class, "small");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_sent_only_as_it_was_checked() {
    let at = served().await;
    offer(&at).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let checked = browser.get(&query(&order_at("2"))).await;
    let changed = sent(&browser, &checked, &order_at("3")).await;
    assert_eq!(changed.status, 409, "{}", changed.body);
    assert!(
        changed.body.contains("changed since it was checked"),
        "{}",
        changed.body
    );
    let low = browser.get(&query(&order_at("0.5"))).await;
    assert!(
        low.body.contains("Sellers ask at least 1 per node-hour"),
        "{}",
        low.body
    );
    let many: Vec<_> = order_at("2")
        .into_iter()
        .filter(|(name, _)| *name != "nodes")
        .collect();
    let many = [many, vec![("nodes", "9".to_owned())]].concat();
    let hopeless = browser.get(&query(&many)).await;
    assert!(
        !hopeless.body.contains("value=\"send\""),
        "{}",
        hopeless.body
    );
    let forced = sent(&browser, &hopeless, &many).await;
    assert_ne!(forced.status, 303, "{}", forced.body);
    assert!(forced.body.contains("it needs 9"), "{}", forced.body);
    assert!(jobs(&at).await.is_empty());
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_is_staged_with_its_order() {
    let at = served().await;
    offer(&at).await;
    let browser = Browser::signed_in(&at, Scope::Trade).await;
    let mut order: Vec<_> = order_at("2")
        .into_iter()
        .filter(|(name, _)| *name != "script")
        .collect();
    order.retain(|(name, _)| *name != "argv");
    order.push(("script", "#!/bin/sh\r\necho a".to_owned()));
    let checked = browser.get(&query(&order)).await;
    let done = sent(&browser, &checked, &order).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let jobs = jobs(&at).await;
    assert_eq!(jobs[0].argv, ["./script"]);
    let reader = Browser::signed_in(&at, Scope::Read).await;
    let shown = reader.get(&query(&order)).await;
    assert!(
        shown.body.contains("may look and not order"),
        "{}",
        shown.body
    );
    at.stop().await;
}

async fn balance(at: &Served, account: &str) -> Balance {
    let path = format!("/ledger/balance?account={account}");
    at.client().get(&path).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_is_asked_first_and_made_once() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Admin).await;
    let token = browser.token().await;
    let form = encoded(&[("to", "beta"), ("amount", "2.5"), ("memo", "<i>x")]);
    let asked = browser
        .post("/ledger/ask", &format!("{form}&{token}"))
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    assert!(asked.body.contains("Transfer 2.5 credits?") && !asked.body.contains("<i>x"));
    let beta = |at| async move { balance(at, "beta").await.balance.to_string() };
    assert_eq!(beta(&at).await, "100", "nothing has moved");
    let key = kept(&asked, "key");
    for _ in 0..2 {
        let form = format!("{form}&{token}&key={key}");
        let done = browser.post("/ledger/transfer", &form).await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert!(
            done.body.contains("2.5 credits are transferred"),
            "{}",
            done.body
        );
    }
    assert_eq!(beta(&at).await, "102.5", "once");
    let told = lines(at.world.dir.path());
    let made = told.iter().find(|l| l.what == "page POST /ledger/transfer");
    let detail: Vec<_> = made.unwrap().detail.iter().collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let (amount, to) = (pair("amount", "2.5"), pair("to", "beta"));
    assert_eq!(
        detail,
        [(&amount.0, &amount.1), (&to.0, &to.1)],
        "no memo, no key, no token"
    );
    let page = browser.get("/ledger").await.body;
    assert!(page.contains("transfer</td>"), "{page}");
    let file = browser.get("/ledger.csv").await;
    assert!(file.head.contains("content-type: text/csv") && file.body.contains(",-2.5,"));
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_needs_an_admin_and_a_known_account() {
    let at = served().await;
    let trader = Browser::signed_in(&at, Scope::Operate).await;
    let token = trader.token().await;
    let form = format!("to=beta&amount=1&key=0011223344556677&{token}");
    for path in ["/ledger/ask", "/ledger/transfer"] {
        assert_eq!(trader.post(path, &form).await.status, 403, "{path}");
    }
    let admin = Browser::signed_in(&at, Scope::Admin).await;
    let token = admin.token().await;
    for (to, amount) in [("nobody", "1"), ("beta", "x"), ("beta", "0")] {
        let form = format!("to={to}&amount={amount}&{token}");
        let page = admin.post("/ledger/ask", &form).await;
        assert!(
            page.body.contains("data-tone=\"bad\""),
            "{to} {amount}: {}",
            page.body
        );
        assert!(!page.body.contains("name=\"key\""), "{to} {amount}");
    }
    assert_eq!(
        admin.get("/ledger?page=18446744073709551615").await.status,
        200
    );
    assert_eq!(balance(&at, "beta").await.balance.to_string(), "100");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_are_set_and_withdrawn_by_an_operator() {
    let at = served().await;
    let form = encoded(&[
        ("class", "small"),
        ("units", "2"),
        ("reserve", "1.5"),
        ("buy", ""),
    ]);
    let trader = Browser::signed_in(&at, Scope::Trade).await;
    let refused = trader
        .post("/seller/set", &format!("{form}&{}", trader.token().await))
        .await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let browser = Browser::signed_in(&at, Scope::Operate).await;
    let token = browser.token().await;
    let wrong = browser
        .post("/seller/set", &format!("class=small&units=x&{token}"))
        .await;
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert!(own(&at).await.is_empty());
    for _ in 0..2 {
        let set = browser
            .post("/seller/set", &format!("{form}&{token}"))
            .await;
        assert_eq!(set.status, 303, "{}", set.body);
    }
    let offers = own(&at).await;
    assert_eq!(offers.len(), 1, "{offers:?}");
    let end = format!("/seller/offers/{}/withdraw", offers[0].label);
    assert!(browser.get("/seller").await.body.contains(&end));
    assert_eq!(browser.get("/seller/offers/99/withdraw").await.status, 404);
    assert_eq!(browser.get(&end).await.status, 200);
    assert_eq!(browser.post(&end, &token).await.status, 303);
    assert!(own(&at).await.iter().all(|offer| offer.withdrawn));
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_drains_and_resumes() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Operate).await;
    let token = browser.token().await;
    assert!(
        browser
            .get("/seller/drain")
            .await
            .body
            .contains("Drain this node?")
    );
    assert_eq!(browser.post("/seller/drain", &token).await.status, 303);
    let asked = browser.get("/seller/drain").await.body;
    assert!(asked.contains("Take leases again?"), "{asked}");
    assert_eq!(browser.post("/seller/resume", &token).await.status, 303);
    assert!(browser.get("/seller").await.body.contains("Drain…"));
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_needs_the_token_of_its_session() {
    let at = served().await;
    let browser = Browser::signed_in(&at, Scope::Admin).await;
    let reader = Browser::signed_in(&at, Scope::Read).await;
    let token = reader.token().await;
    for path in [
        "/submit",
        "/ledger/ask",
        "/ledger/transfer",
        "/seller/set",
        "/seller/offers/1/withdraw",
        "/seller/drain",
        "/seller/resume",
    ] {
        for form in ["", "token=00", &token] {
            let refused = browser.post(path, form).await;
            assert_eq!(refused.status, 403, "{path} {form}: {}", refused.body);
        }
        assert_eq!(reader.post(path, &token).await.status, 403, "{path}");
    }
    at.stop().await;
}
