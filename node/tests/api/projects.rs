//! Users and projects: each user sees and does what the roles in projects allow, and no more.

use super::asking::request;
use super::served::Served;
use super::tokens::answered;
use gridbay_node::api::scope::Role;
use gridbay_node::api::types::*;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

const FLAGS: &[&str] = &["api.listen=127.0.0.1:0"];

/// A request over HTTP, as it is written.
fn written(at: &Served, token: &str, (method, path): (&str, &str), rest: &str) -> String {
    let address = at.tcp.unwrap();
    format!(
        "{method} /api/v1{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         {rest}"
    )
}

/// Status and JSON of a request with a body and, if there is one, a key.
async fn ask(
    at: &Served,
    token: &str,
    place: (&str, &str),
    body: &Value,
    key: Option<&str>,
) -> (u16, Value) {
    let body = body.to_string();
    let key = key.map_or(String::new(), |key| format!("Idempotency-Key: {key}\r\n"));
    let rest = format!(
        "{key}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    answered(at, &written(at, token, place, &rest)).await
}

async fn get(at: &Served, token: &str, path: &str) -> (u16, Value) {
    ask(at, token, ("GET", path), &Value::Null, None).await
}

async fn user(at: &Served, name: &str, roles: &[(&str, Role)]) -> String {
    let asked = UserRequest {
        name: name.to_owned(),
    };
    let made: NewUser = at.client().post("/users", &asked, None).await.unwrap();
    for (project, role) in roles {
        let place = format!("/projects/{project}/members/{name}");
        let asked = MemberRequest { role: *role };
        let _: ProjectRecord = at.client().put(&place, &asked).await.unwrap();
    }
    made.token
}

async fn project(at: &Served, name: &str, budget: Option<&str>) -> ProjectRecord {
    let limits = ProjectLimits {
        budget: budget.map(|text| text.parse().unwrap()),
        ..ProjectLimits::default()
    };
    let name = name.to_owned();
    let asked = ProjectRequest { name, limits };
    at.client().post("/projects", &asked, None).await.unwrap()
}

fn job(project: Option<&str>) -> Value {
    let mut wanted = request(1);
    wanted.project = project.map(str::to_owned);
    wanted.want.budget = Some("3".parse().unwrap());
    serde_json::to_value(wanted).unwrap()
}

/// A node with two projects.
async fn served() -> Served {
    let at = Served::start(FLAGS).await;
    project(&at, "bio", None).await;
    project(&at, "geo", None).await;
    at
}

/// Sends a job for a project; its id.
async fn sent(at: &Served, token: &str, project: &str, key: Option<&str>) -> String {
    let (status, made) = ask(at, token, ("POST", "/jobs"), &job(Some(project)), key).await;
    assert_eq!((status, &made["project"]), (201, &json!(project)), "{made}");
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_of_one_project_neither_sees_nor_ends_jobs_of_another() {
    let at = served().await;
    let ann = user(&at, "ann", &[("bio", Role::Member)]).await;
    let gus = user(&at, "gus", &[("geo", Role::Member)]).await;
    let key = Some("0123456789");
    let own = sent(&at, &ann, "bio", key).await;
    // Users do not share keys.
    let others = sent(&at, &gus, "geo", key).await;
    assert_ne!(others, own);
    assert_eq!(sent(&at, &ann, "bio", key).await, own);
    let place = format!("/jobs/{own}");
    for path in [
        place.clone(),
        format!("{place}/why"),
        format!("{place}/logs?stream=stdout"),
        format!("{place}/files/0/out"),
        "/projects/bio".to_owned(),
        // Names could mean another's job.
        "/jobs/true".to_owned(),
    ] {
        assert_eq!(get(&at, &gus, &path).await.0, 404, "{path}");
    }
    let cancel = format!("{place}/cancel");
    assert_eq!(
        ask(&at, &gus, ("POST", &cancel), &Value::Null, None)
            .await
            .0,
        404
    );
    assert_eq!(
        ask(&at, &gus, ("POST", "/jobs"), &job(Some("bio")), None)
            .await
            .0,
        404
    );
    assert_eq!(
        ask(&at, &gus, ("POST", "/jobs"), &job(None), None).await.0,
        400
    );
    let (_, list) = get(&at, &gus, "/jobs?all").await;
    assert_eq!(
        (list.as_array().unwrap().len(), &list[0]["id"]),
        (1, &json!(others))
    );
    let (_, list) = get(&at, &gus, "/projects").await;
    assert_eq!(
        (list.as_array().unwrap().len(), &list[0]["name"]),
        (1, &json!("geo"))
    );
    let (status, ended) = ask(&at, &ann, ("POST", &cancel), &Value::Null, None).await;
    assert_eq!((status, &ended["user"]), (200, &json!("ann")));
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_and_does_not_trade() {
    let at = served().await;
    let ann = user(&at, "ann", &[("bio", Role::Member)]).await;
    let rae = user(&at, "rae", &[("bio", Role::Reader)]).await;
    let place = format!("/jobs/{}", sent(&at, &ann, "bio", None).await);
    assert_eq!(get(&at, &rae, &place).await.0, 200);
    let cancel = format!("{place}/cancel");
    let (status, refused) = ask(&at, &rae, ("POST", &cancel), &Value::Null, None).await;
    assert_eq!(
        (status, &refused["details"]["needed"]),
        (403, &json!("member"))
    );
    let (status, _) = ask(&at, &rae, ("POST", "/jobs"), &job(Some("bio")), None).await;
    assert_eq!(status, 403);
    let (place, role) = ("/projects/bio/members/rae", json!({"role": "manager"}));
    assert_eq!(ask(&at, &ann, ("PUT", place), &role, None).await.0, 403);
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_the_institutions_is_closed_and_the_log_names_the_user() {
    let at = served().await;
    let ann = user(&at, "ann", &[("bio", Role::Manager)]).await;
    sent(&at, &ann, "bio", None).await;
    for closed in [
        "/ledger/balance",
        "/leases",
        "/bids",
        "/users",
        "/tokens",
        "/node",
    ] {
        assert_eq!(get(&at, &ann, closed).await.0, 403, "{closed}");
    }
    let log = std::fs::read_dir(at.world.dir.path().join("audit")).unwrap();
    let text = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).unwrap();
    let log: String = log.map(|entry| text(entry.unwrap())).collect();
    assert!(log.contains(r#""who":{"by":"user","user":"ann"}"#), "{log}");
    assert!(log.contains(r#""project":"bio""#), "{log}");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_chooses_members_and_nothing_else() {
    let at = served().await;
    let ann = user(&at, "ann", &[("bio", Role::Manager)]).await;
    let bob = user(&at, "bob", &[]).await;
    assert_eq!(get(&at, &bob, "/projects/bio").await.0, 404);
    let (place, role) = ("/projects/bio/members/bob", json!({"role": "member"}));
    assert_eq!(ask(&at, &ann, ("PUT", place), &role, None).await.0, 200);
    assert_eq!(get(&at, &bob, "/projects/bio").await.0, 200);
    assert_eq!(
        ask(&at, &ann, ("DELETE", place), &Value::Null, None)
            .await
            .0,
        200
    );
    assert_eq!(get(&at, &bob, "/projects/bio").await.0, 404);
    let limits = json!({"budget": "1000000", "jobs": null, "nodes": null});
    assert_eq!(
        ask(&at, &ann, ("PUT", "/projects/bio"), &limits, None)
            .await
            .0,
        403
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_jobs_at_once_stay_within_the_budget() {
    let at = Served::start(FLAGS).await;
    project(&at, "bio", Some("30")).await;
    // One token has a quarter of the requests that are worked on, so two ask.
    let ann = user(&at, "ann", &[("bio", Role::Member)]).await;
    let bob = user(&at, "bob", &[("bio", Role::Member)]).await;
    let (job, both) = (job(Some("bio")), [&ann, &bob]);
    let asked = (0..50).map(|n| ask(&at, both[n % 2], ("POST", "/jobs"), &job, None));
    let answers = futures::future::join_all(asked).await;
    let taken = answers.iter().filter(|(status, _)| *status == 201).count();
    assert_eq!(taken, 10);
    let refused = answers.iter().filter(|(status, _)| *status == 402);
    let reasons = refused.map(|(_, body)| &body["details"]["reason"]);
    assert_eq!(
        reasons
            .filter(|reason| **reason == json!("project"))
            .count(),
        40
    );
    let shown: ProjectRecord = at.client().get("/projects/bio").await.unwrap();
    assert_eq!((shown.jobs, shown.nodes), (10, 10));
    assert_eq!(
        (shown.reserved.to_string(), shown.spent.to_string()),
        ("30".into(), "0".into())
    );
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_user_is_out_at_once_and_the_streams_end() {
    let at = served().await;
    let ann = user(&at, "ann", &[("bio", Role::Member)]).await;
    let gus = user(&at, "gus", &[("geo", Role::Member)]).await;
    let mut io = TcpStream::connect(at.tcp.unwrap()).await.unwrap();
    let text = written(&at, &ann, ("GET", "/events"), "Connection: close\r\n\r\n");
    io.write_all(text.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(io).lines();
    let first = lines.next_line().await.unwrap().unwrap();
    assert!(first.contains(" 200 "), "{first}");
    // The other one's job is no event here, the own one's is.
    let (_, others) = ask(&at, &gus, ("POST", "/jobs"), &job(Some("geo")), None).await;
    let (_, own) = ask(&at, &ann, ("POST", "/jobs"), &job(Some("bio")), None).await;
    let (own, others) = (own["id"].as_str().unwrap(), others["id"].as_str().unwrap());
    let seen = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            assert!(!line.contains(others), "{line}");
            if line.contains(own) {
                return;
            }
        }
        panic!("the stream ended");
    };
    timeout(Duration::from_secs(20), seen).await.unwrap();
    let gone: UserRecord = at.client().delete("/users/ann").await.unwrap();
    assert_eq!(gone.name, "ann");
    let end = async { while lines.next_line().await.is_ok_and(|line| line.is_some()) {} };
    timeout(Duration::from_secs(5), end)
        .await
        .expect("the stream ends");
    assert_eq!(get(&at, &ann, "/jobs").await.0, 401);
    let all: Vec<ProjectRecord> = at.client().get("/projects").await.unwrap();
    assert!(all[0].members.is_empty());
    at.stop().await;
}
