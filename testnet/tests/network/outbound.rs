//! The web for jobs, on real nodes: only a job that asks for it has a proxy, only a seller whose
//! owner allows it gets such a job, and the proxy leads neither to the host nor to its networks.
//! Nothing leaves the machine: only refusals are asked for.

use crate::cluster::skip;
use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::{FindReport, How, JobRecord, JobRequest, JobState, Relays, Want};
use gridbay_node::executor::{Config, Executor, ProcessExecutor, Tier};
use gridbay_testnet::Progress;
use gridbay_testnet::network::cli::run;
use gridbay_testnet::network::{Network, Plan, RunFolder, plan};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// Prints its variable and what the proxy answers for each word.
const SCRIPT: &str = r#"
echo "${https_proxy:-none}"
for place in "$@"; do
    { exec 3<> /dev/tcp/127.0.0.1/3128; } 2> /dev/null || { echo closed; continue; }
    printf 'CONNECT %s:443 HTTP/1.1\r\n\r\n' "$place" >&3
    read -r version code rest <&3; echo "$code"; exec 3>&-
done
"#;

fn request(internet: bool, nodes: u32, places: &[String]) -> JobRequest {
    let words = ["bash", "-c", SCRIPT, "bash"]
        .map(str::to_owned)
        .into_iter();
    JobRequest {
        worth: None,
        name: None,
        want: Want {
            class: Some("small".into()),
            nodes,
            max_price: Some(plan::credits(20)),
            seconds: 60,
            budget: None,
            how: How::BID,
        },
        argv: words.chain(places.iter().cloned()).collect(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet,
        relays: Relays::Free,
        checkpoint: None,
    }
}

/// Runs a job to its good end: what its rank printed.
async fn printed(client: &Client, key: &str, request: &JobRequest) -> String {
    let job: JobRecord = client.post("/jobs", request, Some(key)).await.unwrap();
    let done = until("the job", async || {
        let now: JobRecord = client.get(&format!("/jobs/{}", job.id)).await.unwrap();
        now.state.is_final().then_some(now)
    });
    let done = done.await;
    assert_eq!(done.state, JobState::Done, "{done:?}");
    let path = format!("/jobs/{}/logs?rank=0&stream=stdout&from=0", job.id);
    let answer = client.download(&path).await.unwrap();
    let bytes = client::body(answer, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Places of this machine, its network and its cloud.
fn near() -> Vec<String> {
    let all = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]"];
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    // It tells the own address, and no packet is sent.
    let routed = socket.connect(("192.0.2.1", 9)).is_ok();
    let own = routed.then(|| socket.local_addr().unwrap().ip());
    let own = own.filter(IpAddr::is_ipv4).map(|ip| ip.to_string());
    all.map(str::to_owned).into_iter().chain(own).collect()
}

/// Waits until the buyer knows of so many sellers that fit.
async fn known(network: &Network, query: &str, count: usize) {
    until("the adverts", async || {
        let words = ["-o", "json", "market", "find", query];
        let home = network.node("b1").home.path();
        let text = run(network.program(), home, &words).await.ok()?;
        let report: FindReport = serde_json::from_str(&text).ok()?;
        (report.nodes.len() == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn only_jobs_that_ask_reach_the_web_and_only_by_sellers_that_allow_it() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::new(dir.path().join("probe"));
    config.supervisor = program();
    let found = ProcessExecutor::new(config).unwrap().probe();
    if !found.is_ok_and(|found| found.tier == Tier::Namespaces) {
        return skip("jobs have no namespaces here, so none is let out");
    }
    let folder = RunFolder::create_in(dir.path(), "outbound").unwrap();
    let mut plan = Plan::local("outbound", 2, 1);
    let line = "jobs.outbound = \"web\"\n".to_owned();
    plan.more.insert("v1".to_owned(), line);
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let buyer = network.node("b1").client().clone();
    known(&network, "x.sandbox == \"namespaces\"", 2).await;
    known(&network, "x.internet == \"web\"", 1).await;

    // Each seller has two units of the class, and one of the two sellers lets jobs out.
    let three = request(true, 3, &[]);
    let refused = buyer
        .post::<JobRecord>("/jobs", &three, Some("three-units"))
        .await;
    let refused = refused.unwrap_err();
    let said = format!("{refused:?}");
    assert!(
        said.contains("3 units with the internet for jobs are needed"),
        "{said}"
    );

    let places = near();
    let silent = printed(&buyer, "silent-job", &request(false, 1, &places)).await;
    let closed = "closed\n".repeat(places.len());
    assert_eq!(silent, format!("none\n{closed}"), "by whichever seller");

    let asked = printed(&buyer, "asked-job", &request(true, 1, &places)).await;
    let denied = "403\n".repeat(places.len());
    assert_eq!(asked, format!("http://127.0.0.1:3128\n{denied}"));
    let metrics = network.node("v1").client().metrics().await.unwrap();
    let count = format!(
        "gridbay_jobs_web_refused_total{{reason=\"address\"}} {}",
        places.len()
    );
    assert!(metrics.contains(&count), "{metrics}");
    network.stop().unwrap();
}
