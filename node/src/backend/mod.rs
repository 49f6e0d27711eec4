//! The running node as handlers see it: [`NodeBackend`]. Each noun adds its own methods to it.
//!
//! Each answer is made in the same way:
//!
//! 1. a short look at the core, between two of its steps, copies the few facts that are needed;
//! 2. everything that takes time (disk, hashing, JSON shapes) happens outside the core thread;
//! 3. every change is a command; if the answer depends on the ledger, it waits for the block.
//!
//! Amounts and prices are converted here: the ledger counts micro-credits per unit and slot, the
//! API credits per node-hour.

pub(crate) mod at_height;
pub(crate) mod failure;

use crate::alert::Alerts;
use crate::api::Answer;
use crate::auction::board::Board;
use crate::audit::Book;
use crate::body::BodyHandle;
use crate::body::room::Room;
use crate::cluster::Clusters;
use crate::config::NodeLimits;
use crate::content::uploads::Uploads;
use crate::discovery::Discovery;
use crate::events::kept::Kept;
use crate::executor::Selling;
use crate::held::{self, Guests};
use crate::ledger::desk::Desk;
use crate::ledger::landing::Landing;
use crate::market::Markets;
use crate::market::odds::Tried;
use crate::metrics::Meters;
use crate::node::stall::Silence;
use crate::outbound::Gateway;
use crate::overlay::{Multiaddr, OverlayHandle};
use crate::owner::Owner;
use crate::store::content::ContentStore;
use crate::store::granted::Granted;
use crate::store::marks::MarkBook;
use crate::store::orders::OrderStore;
use crate::store::projects::ProjectBook;
use crate::store::tokens::TokenBook;
use crate::store::transfers::TransferStore;
use crate::trace::Traces;
use crate::web::session::Sessions;
use at_height::AtHeight;
use failure::{gone, late, refused};
use gridbay_core::Core;
use gridbay_core::input::Command;
use gridbay_core::reply::Reply;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::invitation::Bootstrap;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, watch};

/// Longest wait for the core thread, which answers between two steps.
const CORE_WAIT: Duration = Duration::from_secs(10);

/// Statements that are put together at a time: each asks the core again and again, and holds all
/// its postings.
const STATEMENTS: usize = 2;

/// The parts of a backend.
pub struct BackendParts {
    /// Talks to the core thread.
    pub body: BodyHandle,
    /// Peers, addresses, counters.
    pub overlay: OverlayHandle,
    /// Inputs of own orders.
    pub contents: ContentStore,
    /// Updates on their way to own appliances.
    pub granted: Granted,
    /// Output and files of own orders.
    pub orders: OrderStore,
    /// Networks of leases.
    pub clusters: Clusters,
    /// The way of jobs to the web.
    pub gateway: Gateway,
    /// Own transfers by their idempotency keys.
    pub transfers: TransferStore,
    /// File of those whom the owner admits to clusters.
    pub guests: PathBuf,
    /// Tokens of programs.
    pub tokens: TokenBook,
    /// Users and projects.
    pub projects: ProjectBook,
    /// Whom the owner blocks and trusts.
    pub marks: MarkBook,
    /// Who controls the node from afar, and which nodes its user owns.
    pub owner: Owner,
    /// Addresses to listen on, as configured.
    pub listen: Vec<Multiaddr>,
    /// Where the genesis says that this node is, but for what the setting `external` says too.
    pub promised: Vec<Multiaddr>,
    /// Places that this node gives to others as their relay, at the most.
    pub relay_places: usize,
    /// Key of the node's account: signs invitations.
    pub account_key: SecretKey,
    /// Transport key of this node.
    pub node: PublicKey,
    /// Name of this node for people.
    pub name: String,
    /// The network.
    pub network: NetworkId,
    /// Name of the network.
    pub network_name: String,
    /// Bounds on what is stored.
    pub limits: NodeLimits,
    /// Room on the disk.
    pub room: Room,
    /// Further nodes to name in invitations.
    pub bootstrap: Vec<Bootstrap>,
    /// Set to true when the user asks the node to stop.
    pub stop: watch::Sender<bool>,
    /// Keeps who changed what.
    pub audit: Book,
    /// The alerts that the node sends its owner.
    pub alerts: Alerts,
    /// The traces of orders that it sends to a collector.
    pub traces: Traces,
    /// Counts what happens.
    pub meters: Arc<Meters>,
    /// The isolation that this machine may sell.
    pub selling: Arc<Selling>,
}

/// The state that handlers share.
pub(crate) type Node = Arc<NodeBackend>;

/// The node behind the API. Its methods answer quickly or fail with
/// [`ErrorCode::Timeout`](crate::api::ErrorCode::Timeout); they can be called from many connections
/// at once.
pub struct NodeBackend {
    pub(crate) parts: BackendParts,
    pub(crate) started_ms: u64,
    pub(crate) uploads: Uploads,
    pub(crate) updates: Uploads,
    pub(crate) board: Arc<Board>,
    /// Results of clearing again.
    pub(crate) tried: Arc<Tried>,
    /// The market at the last height.
    pub(crate) markets: AtHeight<(), Markets>,
    pub(crate) discovery: Discovery,
    /// Sends transfers, many at once.
    pub(crate) desk: Desk,
    /// Entries whose blocks somebody waits for.
    pub(crate) landing: Landing,
    pub(crate) guests: Guests,
    /// Readers of events, and what is kept for them.
    pub(crate) events: Kept,
    /// Who has signed in to the web pages.
    pub(crate) web: Sessions,
    /// Validators that did not answer of late.
    pub(crate) silence: Silence,
    /// Statements that are put together at a time.
    pub(crate) statements: Semaphore,
    /// Connections of the API that became ones to ranks and to ports of members.
    pub(crate) carried: held::bounds::Carried,
}

impl NodeBackend {
    /// Puts the parts together. [`NodeBackend::follow`] should run beside it.
    pub fn new(parts: BackendParts) -> NodeBackend {
        NodeBackend {
            uploads: Uploads::new(parts.contents.clone(), parts.limits, parts.room.clone()),
            updates: Uploads::new(
                parts.granted.store().clone(),
                parts.limits,
                parts.room.clone(),
            ),
            board: Arc::default(),
            tried: Arc::default(),
            markets: AtHeight::default(),
            desk: Desk::new(
                parts.body.clone(),
                parts.transfers.clone(),
                parts.account_key.clone(),
            ),
            landing: Landing::default(),
            discovery: Discovery::new(parts.body.clone(), parts.overlay.clone(), parts.node),
            started_ms: wall_ms(),
            guests: Guests::open(parts.guests.clone()),
            events: Kept::default(),
            web: Sessions::default(),
            silence: Silence::default(),
            statements: Semaphore::new(STATEMENTS),
            carried: held::bounds::permits(),
            parts,
        }
    }

    /// Keeps the board of recent auctions and the meters up to date, and tells those that wait for
    /// an entry's block, until the node stops.
    pub async fn follow(&self) {
        tokio::join!(self.landing.follow(&self.parts.body), self.keep_up());
    }

    async fn keep_up(&self) {
        let mut height = self.parts.body.height();
        loop {
            if let Err(error) = self.catch_up().await {
                tracing::debug!(%error, "the board of auctions waits");
            }
            if let Err(error) = self.measure().await {
                tracing::debug!(%error, "the meters wait");
            }
            if height.changed().await.is_err() {
                return;
            }
        }
    }

    /// Finds sellers, and lets this node be found: [`Discovery::attend`] should run beside it.
    pub fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// Looks at the core between two steps. `look` must be short.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Core) -> T + Send + 'static,
    ) -> Answer<T> {
        let answer = tokio::time::timeout(CORE_WAIT, self.parts.body.query(look)).await;
        answer.map_err(|_| late())?.map_err(gone)
    }

    /// Refuses what would have to be acknowledged while the node is halted.
    pub(crate) fn acknowledges(&self) -> Answer<()> {
        let halted = |why| gone(why).with_details(json!({"done": false}));
        self.parts.body.acknowledges().map_err(halted)
    }

    /// Runs a command. A refusal is an error.
    pub(crate) async fn command(&self, command: Command) -> Answer<Reply> {
        let reply = tokio::time::timeout(CORE_WAIT, self.parts.body.command(command)).await;
        match reply.map_err(|_| late())?.map_err(gone)? {
            Reply::Refused(why) => Err(refused(why)),
            reply => Ok(reply),
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn wall_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
