//! The web for jobs, on real nodes: only a job that asks for it has a proxy, only a seller whose
//! owner allows it gets such a job, and the proxy leads neither to the host nor to its networks.
//! Nothing leaves the machine: only refusals are asked for.

use crate::cluster::skip;
use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::types::FindReport;
use gridbay_node::executor::{Config, Executor, ProcessExecutor, Tier};
use gridbay_testnet::Progress;
use gridbay_testnet::network::cli::run;
use gridbay_testnet::network::{Network, Plan, RunFolder};
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

/// What a job prints that a user runs with these options.
async fn job(network: &Network, options: &str, places: &[String]) -> anyhow::Result<String> {
    let order = format!("run --class small --max-price 20 --time 1m {options}--");
    let words = order.split(' ').chain(["bash", "-c", SCRIPT, "bash"]);
    let words: Vec<&str> = words.chain(places.iter().map(String::as_str)).collect();
    let home = network.node("b1").home.path();
    run(network.program(), home, &words).await
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
    known(&network, "x.sandbox == \"namespaces\"", 2).await;
    known(&network, "x.internet == \"web\"", 1).await;

    // Each seller has two units of the class, and one of the two sellers lets jobs out.
    let refused = job(&network, "--internet -n 3 ", &[]).await.unwrap_err();
    let why = "3 units with the internet for jobs are needed";
    assert!(refused.to_string().contains(why), "{refused}");

    let places = near();
    let silent = job(&network, "", &places).await.unwrap();
    let closed = "closed\n".repeat(places.len());
    assert_eq!(silent, format!("none\n{closed}"), "by whichever seller");

    let asked = job(&network, "--internet ", &places).await.unwrap();
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
