//! The pages of projects over a real socket: who sees and changes what, and the files that they
//! give.

use super::asking::request;
use super::audit::lines;
use super::forms::{encoded, kept};
use super::served::Served;
use super::web::{Browser, served};
use gridbay_node::api::scope::Role;
use gridbay_node::api::types::*;
use std::time::{Duration, Instant};

/// A node with a project of a budget of 20 credits, and a user who is no member of it.
async fn with_project() -> Served {
    let at = served().await;
    let limits = ProjectLimits {
        budget: Some("20".parse().unwrap()),
        ..ProjectLimits::default()
    };
    let name = "bio".to_owned();
    let asked = ProjectRequest { name, limits };
    let _: ProjectRecord = at.client().post("/projects", &asked, None).await.unwrap();
    let name = "ann".to_owned();
    let asked = UserRequest { name };
    let _: NewUser = at.client().post("/users", &asked, None).await.unwrap();
    at
}

async fn bio(at: &Served) -> ProjectRecord {
    at.client().get("/projects/bio").await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn projects_are_seen_by_all_and_changed_by_admins() {
    let at = with_project().await;
    let reader = Browser::signed_in(&at, Scope::Read).await;
    for path in ["/projects", "/projects/bio", "/projects/bio/invoice"] {
        let page = reader.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(page.body.contains("bio"), "{path}: {}", page.body);
        assert!(!page.body.contains("ann"), "users are for admins: {path}");
        assert!(
            !page.body.contains("action=\"/projects/bio/bounds"),
            "{path}"
        );
    }
    for path in [
        "/projects/geo",
        "/projects/..%2f..%2fprojects",
        "/projects/bio%00",
        "/projects/geo/invoice",
        "/projects/geo/statement.csv",
    ] {
        assert_eq!(reader.get(path).await.status, 404, "{path}");
    }
    let operator = Browser::signed_in(&at, Scope::Operate).await;
    let token = operator.token().await;
    let admin = Browser::signed_in(&at, Scope::Admin).await;
    for path in ["bounds/ask", "bounds", "members/ask", "members"] {
        let path = format!("/projects/bio/{path}");
        let form = format!("budget=1&user=ann&role=manager&{token}");
        let refused = operator.post(&path, &form).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.body);
        assert!(refused.body.contains("--scope admin"), "{}", refused.body);
        let forged = admin.post(&path, "budget=1&user=ann&role=manager").await;
        assert_eq!(forged.status, 403, "{path}: without its session's token");
    }
    let now = bio(&at).await;
    assert_eq!(now.limits.budget.map(|b| b.to_string()), Some("20".into()));
    assert!(now.members.is_empty());
    assert!(admin.get("/projects").await.body.contains("ann"));
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_change_once_seen_and_undo_no_one_elses_change() {
    let at = with_project().await;
    let admin = Browser::signed_in(&at, Scope::Admin).await;
    let token = admin.token().await;
    let form = encoded(&[("budget", "7.5"), ("jobs", "3"), ("nodes", "")]);
    let form = format!("{form}&{token}");
    let asked = admin.post("/projects/bio/bounds/ask", &form).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    assert!(
        asked.body.contains("20.00 → <strong>7.50</strong>"),
        "{}",
        asked.body
    );
    assert_eq!(bio(&at).await.limits.jobs, None, "nothing has changed");
    let was = encoded(&[("was", &kept(&asked, "was"))]);
    for _ in 0..2 {
        let done = admin
            .post("/projects/bio/bounds", &format!("{form}&{was}"))
            .await;
        assert_eq!(done.status, 303, "{}", done.body);
        assert!(
            done.head.contains("location: /projects/bio"),
            "{}",
            done.head
        );
    }
    let limits = bio(&at).await.limits;
    let told = (
        limits.budget.map(|b| b.to_string()),
        limits.jobs,
        limits.nodes,
    );
    assert_eq!(told, (Some("7.5".into()), Some(3), None));
    // The question was about bounds that are no more.
    let late = format!("budget=9&jobs=3&nodes=&{token}&{was}");
    let late = admin.post("/projects/bio/bounds", &late).await;
    assert_eq!(late.status, 409, "{}", late.body);
    for (field, value) in [("budget", "lots"), ("jobs", "-1"), ("nodes", "99999999999")] {
        let form = format!("{}&{token}&{was}", encoded(&[(field, value)]));
        let asked = admin.post("/projects/bio/bounds/ask", &form).await;
        assert!(asked.body.contains("data-tone=\"bad\""), "{}", asked.body);
        let set = admin.post("/projects/bio/bounds", &form).await;
        assert_eq!(set.status, 400, "{field}: {}", set.body);
    }
    let told = lines(at.world.dir.path());
    let what = "page POST /projects/{name}/bounds";
    let made = told.iter().find(|line| line.what == what).unwrap();
    assert_eq!(made.detail["budget"], "7.5");
    assert_eq!(
        (made.detail["jobs"].as_str(), made.detail.get("was")),
        ("3", None)
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_come_and_go_by_a_form() {
    let at = with_project().await;
    let admin = Browser::signed_in(&at, Scope::Admin).await;
    let token = admin.token().await;
    let change = |path: &str, user: &str, role: &str| {
        let form = format!("{}&{token}", encoded(&[("user", user), ("role", role)]));
        let (admin, path) = (admin.clone(), format!("/projects/bio/{path}"));
        async move { admin.post(&path, &form).await }
    };
    let asked = change("members/ask", "ann", "manager").await;
    assert!(
        asked.body.contains("no member → <strong>manager"),
        "{}",
        asked.body
    );
    assert!(bio(&at).await.members.is_empty(), "nothing has changed");
    assert_eq!(change("members", "ann", "manager").await.status, 303);
    let member = bio(&at).await.members[0].clone();
    assert_eq!((&member.user[..], member.role), ("ann", Role::Manager));
    for (user, role) in [("bob", "member"), ("ann", "king"), ("../bob", "member")] {
        let asked = change("members/ask", user, role).await;
        assert!(
            asked.body.contains("data-tone=\"bad\""),
            "{user} {role}: {}",
            asked.body
        );
        let set = change("members", user, role).await;
        assert!(
            [400, 404].contains(&set.status),
            "{user} {role}: {}",
            set.status
        );
    }
    for _ in 0..2 {
        assert_eq!(change("members", "ann", "none").await.status, 303);
    }
    assert!(bio(&at).await.members.is_empty());
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_and_its_file_tell_of_the_projects_orders() {
    let at = with_project().await;
    let offer = serde_json::json!({
        "label": null, "class": "small", "units": 2, "reserve": "1", "buy": "3",
        "notice_seconds": null,
    });
    let _: serde_json::Value = at.client().put("/offers", &offer).await.unwrap();
    let mut wanted = request(1);
    wanted.project = Some("bio".to_owned());
    wanted.want.budget = Some("3".parse().unwrap());
    let made: JobRecord = at.client().post("/jobs", &wanted, None).await.unwrap();
    let reader = Browser::signed_in(&at, Scope::Read).await;
    let (until, link) = (
        Instant::now() + Duration::from_secs(20),
        format!("href=\"/jobs/{}\"", made.id),
    );
    let invoice = loop {
        let page = reader.get("/projects/bio/invoice").await;
        assert_eq!(page.status, 200, "{}", page.body);
        if page.body.contains(&link) {
            break page.body;
        }
        assert!(Instant::now() < until, "{}", page.body);
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(invoice.contains("1 order<"), "{invoice}");
    let sent: JobRecord = at
        .client()
        .get(&format!("/jobs/{}", made.id))
        .await
        .unwrap();
    let file = reader.get("/projects/bio/statement.csv").await;
    assert!(
        file.head.contains("content-type: text/csv"),
        "{}",
        file.head
    );
    assert!(
        file.head.contains("filename=\"gridbay-bio.csv\""),
        "{}",
        file.head
    );
    assert!(
        file.body.starts_with("time,height,amount,"),
        "{}",
        file.body
    );
    assert!(
        file.body.contains(&sent.order.unwrap().to_hex()),
        "{}",
        file.body
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_is_of_a_time_that_makes_sense() {
    let at = with_project().await;
    let reader = Browser::signed_in(&at, Scope::Read).await;
    let before = reader.get("/projects/bio/invoice?to=2020-01-01").await;
    assert!(
        before.body.contains("No order cost anything"),
        "{}",
        before.body
    );
    for wrong in [
        "from=%3Cb%3E",
        "from=2026-13-01",
        "from=2026-12-01&to=2026-11-01",
    ] {
        let page = reader.get(&format!("/projects/bio/invoice?{wrong}")).await;
        assert_eq!(page.status, 400, "{wrong}: {}", page.body);
        assert!(
            page.body.contains("name=\"from\""),
            "the form stays: {}",
            page.body
        );
        let file = reader
            .get(&format!("/projects/bio/statement.csv?{wrong}"))
            .await;
        assert_eq!(file.status, 400, "{wrong}");
    }
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_live_while_it_is_open() {
    let at = with_project().await;
    let browser = Browser::signed_in(&at, Scope::Read).await;
    let token = browser.token().await;
    let other = browser.clone();
    let stream = tokio::spawn(async move { other.get("/events?page=project&id=bio").await });
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let limits = ProjectLimits::default();
    let _: ProjectRecord = at.client().put("/projects/bio", &limits).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2_000)).await;
    browser.post("/logout", &token).await;
    let told = stream.await.unwrap();
    let seen = |what: &str| told.body.matches(what).count();
    assert_eq!(seen("data: stats\n"), 2, "{}", told.body);
    assert!(seen("no bound") >= 1, "{}", told.body);
    at.stop().await;
}
