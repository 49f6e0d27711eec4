//! A running node, from its data folder to its end.
//!
//! Start, in this order; each step names itself when it fails:
//!
//! 1. take the folder (one node per folder), keys and executor;
//! 2. start the overlay; without a genesis, fetch it from the inviter's nodes and check its hash;
//! 3. open the ledger's host, the orders and the jobs that still run;
//! 4. bind the API, start the core thread, connect both to the overlay;
//! 5. say that the node is ready; join with the invitation and set the configured offers in time.
//!
//! End: the API stops taking requests, the core thread ends between two steps, the overlay closes
//! its sockets. Jobs go on under their supervisors and are found again at the next start.

mod acquaintances;
mod books;
mod founding;
mod machine;
mod network;
mod offers;
mod opening;
mod program;
mod relaying;
mod sparing;
mod timed;
mod unwritten;

pub use program::{run_until_signal, start_log};

use crate::anchors::Anchors;
use crate::api::Server;
use crate::audit::Book;
use crate::backend::{BackendParts, NodeBackend};
use crate::body::halt::Reopen as _;
use crate::body::jobs::Jobs;
use crate::body::room::{self, Room};
use crate::body::{self, BodyError, BodyGone, BodyHandle, Tools};
use crate::cluster::{Clusters, mirrors, streams};
use crate::config::{Config, Home, Taken};
use crate::keys::{KeyFolder, NodeKeys};
use crate::metrics::Meters;
use crate::outbound::Gateway;
use crate::overlay::{Multiaddr, OverlayHandle};
use crate::owner::{self, Owner};
use crate::solver::Solver;
use crate::store::content::ContentStore;
use crate::store::copies;
use crate::store::granted::Granted;
use crate::store::orders::{OrderStore, private_folder};
use crate::store::transfers::TransferStore;
use anyhow::{Context as _, anyhow};
use gridbay_core::Parts;
use gridbay_core::input::Command;
use gridbay_core::relay::RelayTerms;
use gridbay_core::reply::Reply;
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::keys::PublicKey;
use machine::Machine;
use opening::Opening;
use std::fs::{self, File};
use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// The facts known once a node runs.
#[derive(Debug)]
pub struct Ready {
    /// The network.
    pub network: NetworkId,
    /// Transport key.
    pub node: PublicKey,
    /// Addresses it listens on.
    pub addresses: Vec<Multiaddr>,
}

/// Runs the node of a configuration until `stop` is ready, the owner stops it through the API, or
/// it fails.
///
/// # Errors
/// The failure that kept it from starting, or made it stop by itself.
pub async fn run(
    config: Config,
    stop: impl Future<Output = ()> + Send + 'static,
    ready: impl FnOnce(&Ready),
) -> anyhow::Result<()> {
    let home = config.home.clone();
    let _lock = take_folder(&home)?;
    let keys = Arc::new(load_keys(&home)?);
    let machine = Machine::of(&config).await?;
    let invitation = founding::read_invitation(&home)?;
    let known = founding::read_genesis(&home)?;
    let network = founding::network_of(&home, known.as_ref(), invitation.as_ref())?;
    let bootstrap = network::bootstrap_peers(&config, invitation.as_ref(), known.as_ref());
    let (marks, tokens, projects) = books::books(&home)?;
    let (net, events) = network::start(&config, &keys, network, bootstrap.clone(), &marks).await?;
    let genesis = founding::genesis(known, &net, network, &bootstrap, &home).await?;
    let prepared = prepare(&config, &keys, &genesis, &machine, &net, invitation)?;
    let (parts, tools) = (prepared.parts, prepared.tools);
    network::keep_validators(&tools, &genesis, keys.node(), &config.bootstrap);
    let (owner, audit) = own(&home, (network, keys.node()), &config)?;
    let server = Server::bind(&config).await?;
    let (contents, granted) = (tools.contents.clone(), tools.granted.clone());
    let (orders, meters) = (tools.orders.clone(), Arc::clone(&tools.meters));
    let (clusters, gateway) = (tools.clusters.clone(), tools.gateway.clone());
    let (joining, jobs, relays) = (tools.join.clone(), tools.jobs.clone(), tools.relays);
    let body::Started { handle, thread } = body::start(parts, tools)?;
    let (owners, asked) = owner::queue();
    tokio::spawn(network::carry(events, handle.clone(), net.clone(), owners));
    accompany(&net, (&home, &clusters), (&machine.room, jobs, &handle));
    join(&handle, joining).await?;
    let (stop_sender, told) = watch::channel(false);
    let backend = Arc::new(NodeBackend::new(BackendParts {
        body: handle.clone(),
        overlay: net.clone(),
        contents,
        granted,
        orders,
        clusters,
        gateway,
        transfers: prepared.transfers,
        guests: home.guests(),
        marks,
        tokens,
        projects,
        owner,
        audit,
        alerts: books::alerts(&config, keys.node(), &genesis.name),
        traces: books::traces(&config, &genesis.name),
        listen: config.listen.clone(),
        promised: network::promised(&genesis, keys.node(), &config),
        relay_places: config.net.relay.map_or(0, |relay| relay.places),
        account_key: keys.account.clone(),
        node: keys.node(),
        name: config.name.clone(),
        network,
        network_name: genesis.name.clone(),
        limits: config.limits,
        room: machine.room.clone(),
        bootstrap: network::founders(&genesis),
        stop: stop_sender,
        meters,
        selling: Arc::clone(&machine.selling),
    }));
    attend(&backend, (&handle, asked), config, &machine, &relays);
    ready(&begun(network, &keys, &net));
    let stop = either(stop, asked_to_stop(told));
    let ended = serve(server, backend, thread, handle, stop).await;
    net.shutdown().await;
    ended
}

/// What this node has for its owner, and the log of what is done to it.
fn own(
    home: &Home,
    node: (NetworkId, PublicKey),
    config: &Config,
) -> anyhow::Result<(Owner, Book)> {
    let owner = Owner::open(home.path(), node, &config.owner);
    let owner = owner.context("cannot read what the owner of this node said")?;
    let audit = Book::open(home.path()).context("cannot open the audit log")?;
    Ok((owner, audit))
}

/// Starts what runs beside the overlay and the core.
fn accompany(
    net: &OverlayHandle,
    (home, clusters): (&Home, &Clusters),
    (room, jobs, handle): (&Room, Jobs, &BodyHandle),
) {
    tokio::spawn(room::keep(room.clone(), jobs, handle.clone()));
    tokio::spawn(acquaintances::keep(net.clone(), home.clone()));
    tokio::spawn(mirrors::keep(clusters.clone(), net.clone()));
    tokio::spawn(streams::keep(clusters.clone(), net.clone()));
}

/// The facts that are told once the node answers.
fn begun(network: NetworkId, keys: &NodeKeys, net: &OverlayHandle) -> Ready {
    Ready {
        network,
        node: keys.node(),
        addresses: net.addresses().to_vec(),
    }
}

fn load_keys(home: &Home) -> anyhow::Result<NodeKeys> {
    let folder = KeyFolder::open(&home.keys())?;
    folder.load().context("cannot read the node's keys")
}

/// Starts what runs beside the API: answers to the owner, discovery, the board of auctions, alerts,
/// traces, and the offers of the configuration.
fn attend(
    backend: &Arc<NodeBackend>,
    (handle, asked): (&BodyHandle, mpsc::Receiver<owner::Asked>),
    config: Config,
    machine: &Machine,
    relays: &RelayTerms,
) {
    tokio::spawn(owner::attend(Arc::clone(backend), asked));
    let (offers, mut attributes) = (config.offers, config.attributes);
    attributes.extend(machine.selling.attributes());
    attributes.extend(relaying::attributes(relays));
    tokio::spawn(backend.discovery().clone().attend(attributes));
    let (follower, host) = (Arc::clone(backend), Arc::clone(backend));
    tokio::spawn(async move { follower.follow().await });
    tokio::spawn(async move { host.welcome().await });
    tokio::spawn(Arc::clone(backend).watch_over());
    tokio::spawn(Arc::clone(backend).trace_orders());
    tokio::spawn(offers::withdraw_unsold(Arc::clone(backend), handle.clone()));
    tokio::spawn(offers::set_configured(
        Arc::clone(backend),
        handle.clone(),
        offers,
    ));
}

/// Serves until the node is told to stop or its core thread ends by itself.
async fn serve(
    server: Server,
    backend: Arc<NodeBackend>,
    thread: JoinHandle<Result<(), BodyError>>,
    handle: BodyHandle,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let audit = backend.parts.audit.clone();
    let mut ended = tokio::task::spawn_blocking(move || thread.join());
    let (quit, quitting) = tokio::sync::oneshot::channel::<()>();
    let server = server
        .with_tokens(backend.token_book())
        .with_users(backend.project_book());
    let server = match server.tcp_address() {
        Some(address) => server.with_pages(crate::pages(Arc::clone(&backend), address)),
        None => server,
    };
    let serving = tokio::spawn(server.serve(crate::router(backend), async {
        let _told = quitting.await;
    }));
    let by_itself = tokio::select! {
        () = stop => None,
        result = &mut ended => Some(result),
    };
    let _gone = quit.send(());
    serving.await?.context("the API")?;
    let result = match by_itself {
        Some(result) => result,
        None => {
            handle.stop();
            ended.await
        }
    };
    audit.settled().await;
    let panicked = |_| anyhow!("the core thread panicked; its message is in the log");
    let result = result?.map_err(panicked)?;
    result.context("the node stopped by itself")
}

async fn either(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    tokio::select! {
        () = one => {}
        () = other => {}
    }
}

/// Ready when the owner asks for it through the API.
async fn asked_to_stop(mut owner: watch::Receiver<bool>) {
    if owner.wait_for(|asked| *asked).await.is_err() {
        // Nobody can ask any more.
        std::future::pending::<()>().await;
    }
}

/// Attempts to lock the folder after the first, and the pause before each.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// One node per folder: holds a lock for as long as the file is open.
fn take_folder(home: &Home) -> anyhow::Result<File> {
    private_folder(home.path())
        .with_context(|| format!("cannot make {}", home.path().display()))?;
    let path = home.lock();
    let file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
    match lock(&file) {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(Taken(home.path().to_owned()).into()),
        Err(fs::TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// Locks a file that nobody has for long: `node stop` takes the lock for a moment to see whether it
/// can be had.
fn lock(file: &File) -> Result<(), fs::TryLockError> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            done => return done,
        }
    }
    file.try_lock()
}

async fn join(handle: &BodyHandle, command: Option<Command>) -> anyhow::Result<()> {
    let Some(command) = command else {
        return Ok(());
    };
    match handle.command(command).await {
        Ok(Reply::Refused(refused)) => Err(anyhow!("{}; {}", refused.reason, refused.hint)),
        // Joins when it is cured.
        Ok(_) | Err(BodyGone::Halted) => Ok(()),
        Err(gone) => Err(gone.into()),
    }
}

/// The parts of a body.
struct Prepared {
    parts: Parts,
    tools: Tools,
    transfers: TransferStore,
}

/// Opens the ledger and what the node keeps beside it.
fn prepare(
    config: &Config,
    keys: &Arc<NodeKeys>,
    genesis: &Genesis,
    machine: &Machine,
    net: &OverlayHandle,
    invitation: Option<Invitation>,
) -> anyhow::Result<Prepared> {
    let path = config.home.path();
    let transfers = path.join("transfers");
    let transfers = TransferStore::open(&transfers).context("cannot read the transfers")?;
    let provider = config.provider.as_ref();
    let provider = provider.map(|p| p.terms(genesis)).transpose()?;
    let solver = config.solver.as_ref().map(|solver| {
        let (program, folder) = (solver.program.clone(), path.join("solver"));
        Arc::new(Solver::new(program, folder, solver.time))
    });
    let meters = Arc::new(Meters::default());
    let mut opening = Opening {
        home: config.home.clone(),
        keys: Arc::clone(keys),
        genesis: genesis.clone(),
        orders: OrderStore::open(path.join("orders"), config.limits.output)?,
        jobs: machine.jobs(path.join("sales"), config.longest_grace)?,
        provider,
        stages: meters.stopwatch(),
    };
    let parts = opening.open().context("cannot open the ledger")?;
    let tools = Tools {
        overlay: net.clone(),
        anchors: Anchors::default(),
        transport: keys.transport.clone(),
        relays: relaying::terms(config, keys, genesis),
        orders: opening.orders.clone(),
        contents: ContentStore::open(path.join("content"))?,
        granted: Granted::open(path.join("granted"))?,
        checkpoints: books::checkpoints(path.join("checkpoints"), &parts)?,
        copies: copies::open(path)?,
        jobs: opening.jobs.clone(),
        clusters: Clusters::new(genesis.network(), config.cluster_port),
        gateway: Gateway::new(machine.selling.outbound(), network::own_hosts(net)),
        room: machine.room.clone(),
        grace: config.grace,
        genesis: genesis.encode(),
        runtime: tokio::runtime::Handle::current(),
        reopen: Some(Box::new(opening)),
        solver,
        meters,
        join: invitation.map(|invitation| founding::join_command(invitation, keys)),
    };
    Ok(Prepared {
        parts,
        tools,
        transfers,
    })
}
