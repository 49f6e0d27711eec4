//! A lease as a private cluster, on real nodes without privilege: the ranks reach one another by
//! name and command one another; what runs on them gives what one process gives.

use crate::leads::connections_lead_to_tasks;
use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{
    FindReport, How, JobRecord, JobRequest, JobState, LeaseNet, LeaseView, NetMember, Want,
};
use gridbay_node::executor::{Config, Executor, Link, ProcessExecutor};
use gridbay_testnet::Progress;
use gridbay_testnet::network::cli::run;
use gridbay_testnet::network::{Network, Plan, RunFolder, plan};
use gridbay_testnet::parallel::{self, Outcome};
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;

/// What rank 0 runs: a command on each rank, and looks at what must not be there.
const COMMANDS: &str = r#"
for rank in 0 1 2 3; do
    $GRIDBAY_EXEC rank$rank 'echo $(uname -n) $GRIDBAY_RANK of $GRIDBAY_SIZE'
done
head -c 3000000 /dev/zero | $GRIDBAY_EXEC rank3 'wc -c'
cat /proc/net/dev | grep -c :
"#;

/// A job whose four ranks are led by the first.
fn led(kind: &str, program: &[&str]) -> JobRequest {
    let words = ["/run/gridbay-rank", "lead", kind];
    JobRequest {
        project: None,
        worth: None,
        name: None,
        want: Want {
            class: Some("small".into()),
            nodes: 4,
            max_price: Some(plan::credits(20)),
            seconds: 90,
            budget: None,
            how: How::BID,
        },
        argv: words
            .iter()
            .chain(program)
            .map(|w| (*w).to_owned())
            .collect(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: true,
        internet: false,
        relays: Relays::Free,
        checkpoint: None,
    }
}

async fn said(client: &Client, job: &JobRecord, stream: &str) -> String {
    let path = format!("/jobs/{}/logs?rank=0&stream={stream}&from=0", job.id);
    let answer = client.download(&path).await.unwrap();
    let bytes = client::body(answer, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a job to its good end: what its first rank printed.
async fn printed(client: &Client, key: &str, request: &JobRequest) -> String {
    let job: JobRecord = client.post("/jobs", request, Some(key)).await.unwrap();
    let done = until("the job", async || {
        let now: JobRecord = client.get(&format!("/jobs/{}", job.id)).await.unwrap();
        now.state.is_final().then_some(now)
    });
    let done = done.await;
    let out = said(client, &job, "stdout").await;
    let err = said(client, &job, "stderr").await;
    assert_eq!(done.state, JobState::Done, "{done:?}\n{out}\n{err}");
    assert_eq!(done.exits.len(), 4, "{err}");
    out
}

pub(crate) fn skip(what: &str) {
    let _ = writeln!(std::io::stderr().lock(), "NOT CHECKED: {what}");
}

/// Why jobs of this machine have no network, if they have none.
pub(crate) fn no_device(dir: &Path) -> Option<String> {
    no_link(dir, None)
}

/// The same for one kind of device.
fn no_link(dir: &Path, link: Option<Link>) -> Option<String> {
    let mut config = Config::new(dir.join("probe"));
    config.supervisor = program();
    config.link = link;
    let found = ProcessExecutor::new(config).unwrap().probe();
    found.map_or_else(|e| Some(e.to_string()), |found| found.no_device)
}

/// What parallel programs print is what one process prints.
async fn programs(network: &Network, dir: &Path) {
    let at = parallel::Setting {
        network,
        buyer: "b1",
        folder: dir,
    };
    let all = parallel::run_all(&at, parallel::KEYS, false, &Progress::silent()).await;
    let all = all.unwrap();
    assert_eq!(all.len(), 4);
    for ran in all {
        assert!(ran.passed(), "{ran:?}");
        if let Outcome::LeftOut(what) = ran.outcome {
            skip(&format!("{}: needs {what}", ran.program));
        }
    }
}

/// The network is told of by its buyer's node, which joins it and leaves.
async fn seen(buyer: &Client) {
    let job = led("hosts", &["sleep", "60"]);
    let job: JobRecord = buyer
        .post("/jobs", &job, Some("net-of-four"))
        .await
        .unwrap();
    let lease = until("a complete network", async || {
        let all: Vec<LeaseView> = buyer.get("/leases").await.unwrap();
        let mut ours = all.into_iter().filter(|l| l.job.as_ref() == Some(&job.id));
        ours.find(|lease| lease.setup.is_some())
    });
    let lease = lease.await;
    let nodes = lease.nodes.len();
    assert_eq!(lease.setup.map(|setup| setup.members), Some(nodes as u32));
    let net = async || {
        let path = format!("/leases/{}/net", lease.lease);
        buyer.get::<LeaseNet>(&path).await.ok()
    };
    // One at a time: a member that joins changes the pairs of all.
    for (word, members) in [("connect", nodes + 1), ("disconnect", nodes)] {
        let path = format!("/leases/{}/{word}", lease.lease);
        let _: LeaseView = buyer.post(&path, &(), None).await.unwrap();
        until(word, async || {
            // It is not known while no member has told of it lately.
            let all = net().await?.members;
            let whole = |m: &NetMember| {
                m.pairs.len() == members - 1 && m.pairs.iter().all(|p| p.path.is_some())
            };
            (all.len() == members && all.iter().all(whole)).then_some(())
        })
        .await;
    }
    let _: JobRecord = buyer
        .post(&format!("/jobs/{}/cancel", job.id), &(), None)
        .await
        .unwrap();
    until("the end of the lease", async || {
        let all: Vec<LeaseView> = buyer.get("/leases").await.unwrap();
        all.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn ranks_on_several_nodes_work_together_by_name() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    if let Some(why) = no_device(dir.path()) {
        return skip(&format!("jobs have no device here: {why}"));
    }
    let folder = RunFolder::create_in(dir.path(), "cluster").unwrap();
    let data = folder.data("b1");
    let quiet = Progress::silent();
    let plan = Plan::local("cluster", 4, 1);
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let buyer = network.node("b1").client().clone();

    let job = led("hosts", &["sh", "-c", COMMANDS]);
    let ranks: String = (0..4).map(|r| format!("rank{r} {r} of 4\n")).collect();
    let text = printed(&buyer, "commands-to-all", &job).await;
    // Two interfaces: its own loopback, and the lease's network.
    assert_eq!(text, format!("{ranks}3000000\n2\n"));

    seen(&buyer).await;
    let files = dir.path().to_owned();
    let leads = move || connections_lead_to_tasks(&data, &files);
    tokio::task::spawn_blocking(leads).await.unwrap();
    programs(&network, dir.path()).await;
    network.stop().unwrap();
}

/// Waits until so many nodes say that their jobs' devices are of that kind.
async fn advertised(network: &Network, link: &str, nodes: usize) {
    let query = format!("x.network == \"{link}\"");
    let words = ["-o", "json", "market", "find", &query];
    let data = network.node("b1").home.path();
    until("the adverts", async || {
        let printed = run(network.program(), data, &words).await.ok()?;
        let found: FindReport = serde_json::from_str(&printed).unwrap();
        (found.nodes.len() == nodes).then_some(())
    })
    .await;
}

/// A listener of the host is reached from no rank, neither on its loopback nor at its address. Each
/// rank reaches the last one in the same way.
async fn none_sees_the_host(buyer: &Client) {
    let any = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    let port = any.local_addr().unwrap().port();
    // Nothing is sent: the kernel chooses an address of this machine's, if it has a network.
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    let away = socket.connect(("192.0.2.1", 9));
    let own = away.and_then(|()| socket.local_addr()).map(|at| at.ip());
    let own = own.unwrap_or(Ipv4Addr::LOCALHOST.into());
    TcpStream::connect((own, port)).unwrap();
    let script = format!(
        "for rank in 0 1 2 3; do for to in rank3/7470 127.0.0.1/{port} {own}/{port}; do \
         $GRIDBAY_EXEC rank$rank \"timeout 5 bash -c ': > /dev/tcp/$to' 2> /dev/null && echo $to\"; \
         done; done; echo done"
    );
    let text = printed(
        buyer,
        "none-sees-the-host",
        &led("hosts", &["sh", "-c", &script]),
    )
    .await;
    assert_eq!(text, format!("{}done\n", "rank3/7470\n".repeat(4)));
}

/// Two nodes of four have no TUN. A device of theirs is like any other: all ports, datagrams, MPI.
#[tokio::test]
async fn nodes_without_tun_are_members_like_those_with_it() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    if let Some(why) = no_link(dir.path(), Some(Link::Veth)) {
        return skip(&format!("jobs have no veth here: {why}"));
    }
    let folder = RunFolder::create_in(dir.path(), "mixed").unwrap();
    let quiet = Progress::silent();
    let mut plan = Plan::local("mixed", 4, 1);
    let line = "cluster.device = \"veth\"\n".to_owned();
    let lacking = ["v1", "v3"].map(|name| (name.to_owned(), line.clone()));
    plan.more.extend(lacking);
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let buyer = network.node("b1").client().clone();
    advertised(&network, "veth", 2).await;

    let job = led("hosts", &["sh", "-c", COMMANDS]);
    let ranks: String = (0..4).map(|r| format!("rank{r} {r} of 4\n")).collect();
    let text = printed(&buyer, "commands-to-all", &job).await;
    assert_eq!(text, format!("{ranks}3000000\n2\n"));
    none_sees_the_host(&buyer).await;
    programs(&network, dir.path()).await;
    network.stop().unwrap();
}
