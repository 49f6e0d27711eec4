//! The network of one validator that tests look at: a real node, but for other nodes.

use gridbay_core::Parts;
use gridbay_core::relay::RelayTerms;
use gridbay_host::disk::MemDisk;
use gridbay_host::{Host, HostConfig};
use gridbay_node::alert::{Alerts, Sender};
use gridbay_node::anchors::Anchors;
use gridbay_node::audit::Book;
use gridbay_node::backend::{BackendParts, NodeBackend};
use gridbay_node::body::jobs::Jobs;
use gridbay_node::body::room::Room;
use gridbay_node::body::{self, BodyHandle, Tools};
use gridbay_node::cluster::Clusters;
use gridbay_node::config::{AlertsConfig, NodeLimits, OwnerConfig, TracesConfig};
use gridbay_node::config::{Config as NodeConfig, Home, Sources};
use gridbay_node::executor::{
    Capabilities, Config, Outbound, ProcessExecutor, Selling, Support, Tier,
};
use gridbay_node::outbound::Gateway;
use gridbay_node::overlay::{self, OverlayConfig, TransportSeed, Tuning};
use gridbay_node::owner::Owner;
use gridbay_node::store::checkpoints::CheckpointStore;
use gridbay_node::store::content::ContentStore;
use gridbay_node::store::copies;
use gridbay_node::store::granted::Granted;
use gridbay_node::store::marks::MarkBook;
use gridbay_node::store::orders::OrderStore;
use gridbay_node::store::projects::ProjectBook;
use gridbay_node::store::tokens::TokenBook;
use gridbay_node::store::transfers::{Transfer, TransferStore};
use gridbay_node::trace::Traces;
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::class::Isolation;
use gridbay_protocol::entry_budget::EntryBudgets;
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::units::Credits;
use gridbay_sample as sample;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

/// Time that a job which must stop has.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) const TRANSPORT: [u8; 32] = [2; 32];

pub(crate) fn secret(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}
pub(crate) fn credits(text: &str) -> Credits {
    text.parse().unwrap()
}
fn chain() -> Chain {
    Chain::new(&[5; 32], 10_000)
}

/// The options of a world.
pub(crate) struct Settings {
    /// The node's own account has this key.
    pub(crate) account: u8,
    /// The promise of all classes.
    pub(crate) isolation: Isolation,
    /// Names of the classes.
    pub(crate) classes: Vec<String>,
    /// The isolation that the node may sell.
    pub(crate) selling: Selling,
    /// Credit line of the first member.
    pub(crate) credit_line: Credits,
    /// Bounds on what is stored.
    pub(crate) limits: NodeLimits,
    /// From a block to the next; a slot has eight of them.
    pub(crate) block_ms: u64,
    /// How much an account may put into the ledger.
    pub(crate) entries: EntryBudgets,
    /// The alerts that it sends its owner; none if `None`.
    pub(crate) alerts: Option<AlertsConfig>,
    /// The collector that it tells of orders.
    pub(crate) traces: Option<TracesConfig>,
    /// Transfers that it keeps from before.
    pub(crate) kept: fn(&Genesis) -> Vec<Transfer>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            account: 1,
            isolation: Isolation::Process,
            classes: vec!["small".into()],
            selling: Selling::new(Ok(isolating()), false),
            credit_line: Credits::ZERO,
            limits: NodeLimits {
                content: 1 << 20,
                stored: 1 << 20,
                output: 1 << 20,
            },
            block_ms: 25,
            entries: EntryBudgets::default(),
            alerts: None,
            traces: None,
            kept: |_| Vec::new(),
        }
    }
}

/// Two members, one of them with the only validator. Blocks every 25 ms by default.
fn genesis(settings: &Settings) -> Genesis {
    let classes = settings.classes.iter().zip(0..).map(|(name, more)| {
        let mut class = sample::class(name, 1, 512 + more, 10);
        class.key.isolation = settings.isolation;
        class
    });
    let validator = sample::validator(
        secret(3).public(),
        SecretKey::from_seed(&TRANSPORT).public(),
        chain().tip(),
    );
    let alpha = Member {
        credit_line: settings.credit_line,
        validator: Some(validator),
        ..sample::member("alpha", secret(1).public(), credits("100"))
    };
    let beta = sample::member("beta", secret(9).public(), credits("100"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Genesis {
        time_ms: now.as_millis() as u64 - 1_000,
        policy: Policy {
            block_interval_ms: settings.block_ms,
            heartbeat_ms: settings.block_ms.max(1_000),
            entries: settings.entries,
            ..Policy::local()
        },
        ..sample::genesis("one", classes.collect(), vec![alpha, beta])
    }
}

pub(crate) struct World {
    pub(crate) backend: Arc<NodeBackend>,
    pub(crate) genesis: Genesis,
    pub(crate) body: BodyHandle,
    pub(crate) stop: watch::Receiver<bool>,
    /// Nobody else is there, so nothing arrives.
    _events: mpsc::Receiver<overlay::Event>,
    /// Where it keeps everything.
    pub(crate) dir: TempDir,
}

async fn lonely_overlay(
    genesis: &Genesis,
) -> (overlay::OverlayHandle, mpsc::Receiver<overlay::Event>) {
    overlay::start(OverlayConfig {
        topics: vec![overlay::TopicConfig::new(body::ADVERTS_TOPIC, 1 << 16)],
        ..OverlayConfig::new(
            TransportSeed(TRANSPORT),
            genesis.network().0,
            vec!["/ip4/127.0.0.1/tcp/0".parse().unwrap()],
            Tuning::local(),
        )
    })
    .await
    .unwrap()
}

fn host(genesis: &Genesis) -> Host {
    let config = HostConfig {
        genesis: genesis.clone(),
        key: Some(secret(3)),
        chain: Some(chain()),
        index: None,
    };
    Host::open(config, Box::new(MemDisk::new())).unwrap()
}

fn parts(genesis: &Genesis, account: u8, node: PublicKey) -> Parts {
    Parts {
        provider: None,
        host: host(genesis),
        account_key: secret(account),
        node,
        orders: vec![],
        jobs: vec![],
    }
}

/// Nobody controls it from afar, and no agent runs beside it.
fn unowned() -> OwnerConfig {
    OwnerConfig {
        key: None,
        agent: "none".into(),
    }
}

fn jobs(folder: &Path, selling: &Arc<Selling>) -> Jobs {
    let executor = ProcessExecutor::new(Config::new(folder.join("jobs"))).unwrap();
    let memos = folder.join("memos");
    Jobs::open(Arc::new(executor), Arc::clone(selling), memos, GRACE).unwrap()
}

fn stores(folder: &Path, output: u64) -> (OrderStore, ContentStore, Granted) {
    (
        OrderStore::open(folder.join("orders"), output).unwrap(),
        ContentStore::open(folder.join("content")).unwrap(),
        Granted::open(folder.join("granted")).unwrap(),
    )
}

/// The alerts that it sends its owner, by default none.
fn alerts(folder: &Path, config: Option<AlertsConfig>, genesis: &Genesis) -> Alerts {
    let load = || NodeConfig::load(Home::new(folder), &Sources::default());
    let config = config.unwrap_or_else(|| load().unwrap().alerts);
    let from = Sender {
        node: "aa".to_owned(),
        name: "test".to_owned(),
        network: genesis.name.clone(),
    };
    Alerts::open(folder, config, from)
}

/// The tools of a node whose files lie in a folder.
fn tools(
    folder: &Path,
    genesis: &Genesis,
    overlay: &overlay::OverlayHandle,
    (output, selling): (u64, &Arc<Selling>),
) -> Tools {
    let (orders, contents, granted) = stores(folder, output);
    Tools {
        overlay: overlay.clone(),
        anchors: Anchors::default(),
        transport: SecretKey::from_seed(&TRANSPORT),
        relays: RelayTerms::default(),
        orders,
        contents,
        granted,
        clusters: Clusters::new(genesis.network(), 0),
        gateway: Gateway::new(Outbound::None, Vec::new),
        checkpoints: CheckpointStore::open(folder.join("checkpoints"), |_, _| true).unwrap(),
        copies: copies::open(folder).unwrap(),
        jobs: jobs(folder, selling),
        room: Room::of(folder).unwrap(),
        grace: GRACE,
        genesis: genesis.encode(),
        runtime: tokio::runtime::Handle::current(),
        solver: None,
        meters: Arc::default(),
        reopen: None,
        join: None,
    }
}

/// A node with such settings, in a fresh folder.
pub(crate) async fn world_with(dir: TempDir, settings: Settings) -> World {
    let genesis = genesis(&settings);
    let (overlay, events) = lonely_overlay(&genesis).await;
    let selling = Arc::new(settings.selling);
    let kept = (settings.limits.output, &selling);
    let tools = tools(dir.path(), &genesis, &overlay, kept);
    let node = tools.transport.public();
    let (orders, contents) = (tools.orders.clone(), tools.contents.clone());
    let (granted, room) = (tools.granted.clone(), tools.room.clone());
    let (clusters, gateway) = (tools.clusters.clone(), tools.gateway.clone());
    let meters = tools.meters.clone();
    let transfers = TransferStore::open(&dir.path().join("transfers")).unwrap();
    transfers.keep((settings.kept)(&genesis)).unwrap();
    let parts = parts(&genesis, settings.account, node);
    let body = body::start(parts, tools).unwrap().handle;
    let (stop, stopped) = watch::channel(false);
    let backend = NodeBackend::new(BackendParts {
        body: body.clone(),
        overlay,
        contents,
        granted,
        orders,
        clusters,
        gateway,
        transfers,
        guests: dir.path().join("guests.json"),
        tokens: TokenBook::open(dir.path().join("tokens")).unwrap(),
        projects: ProjectBook::open(dir.path().join("projects")).unwrap(),
        marks: MarkBook::open(dir.path().join("marks")).unwrap(),
        owner: Owner::open(dir.path(), (genesis.network(), node), &unowned()).unwrap(),
        audit: Book::open(dir.path()).unwrap(),
        alerts: alerts(dir.path(), settings.alerts, &genesis),
        traces: Traces::new(dir.path(), settings.traces, "test", &genesis.name),
        listen: vec![],
        promised: vec![],
        relay_places: 0,
        account_key: secret(settings.account),
        node,
        name: "test".into(),
        network: genesis.network(),
        network_name: genesis.name.clone(),
        room,
        limits: settings.limits,
        bootstrap: vec![],
        stop,
        meters,
        selling,
    });
    let backend = Arc::new(backend);
    let follower = Arc::clone(&backend);
    tokio::spawn(async move { follower.follow().await });
    World {
        backend,
        genesis,
        body,
        stop: stopped,
        _events: events,
        dir,
    }
}

/// The capabilities of an executor where everything works; no job is run in these tests.
pub(crate) fn isolating() -> Capabilities {
    Capabilities::all(Tier::Namespaces, Support::Enforced)
}
