//! The node behind the API: [`NodeBackend`] answers what [`crate::api::Backend`] asks.
//!
//! One file per noun. Each answer is made in the same way:
//!
//! 1. a short look at the core, between two of its steps, copies the few facts that are needed;
//! 2. everything that takes time (disk, hashing, JSON shapes) happens outside the core thread;
//! 3. what changes something is a command; if the answer depends on the ledger, it waits for the block.
//!
//! Amounts and prices are converted here: the ledger counts micro-credits per unit and slot, the API
//! credits per node-hour.

mod auction;
mod bank;
mod bid;
mod board;
mod clearings;
mod content;
mod contract;
mod doctor;
pub(crate) mod failure;
mod find;
mod invite;
pub(crate) mod job;
mod ledger;
mod logs;
mod metrics;
mod node;
mod offer;
mod peer;
mod prices;
mod suggest;
mod transfer;
mod why;

use crate::api::types::{
    AmendRequest, AuctionProof, AuctionSummary, Balance, BankReport, BidAdvice, BidWish, BlockInfo,
    ClassPrice, CloseRequest, ClosedAccount, Contract, ContractWord, FindReport, FindRequest,
    FoundRecord, Invite, InviteRequest, JobId, JobRecord, JobRequest, LogChunk, MarkRequest,
    Marked, Movement, NodeStatus, Offer, OfferRequest, PeerLine, PeerList, PeerRequest, Pinged,
    Prospect, Quote, SignedHeader, Staged, StandingBid, Stream, TransferRequest, Transferred, Want,
    Why, Wish,
};
use crate::api::{ApiError, Backend, ContentStream};
use crate::body::BodyHandle;
use crate::body::room::Room;
use crate::config::NodeLimits;
use crate::discovery::Discovery;
use crate::doctor::Finding;
use crate::executor::Selling;
use crate::market::{self, price};
use crate::order;
use crate::overlay::{Multiaddr, OverlayHandle};
use crate::store::content::ContentStore;
use crate::store::marks::MarkBook;
use crate::store::orders::OrderStore;
use crate::store::transfers::TransferStore;
use board::Board;
use content::Uploads;
use failure::{gone, late, refused};
use gridbay_core::Core;
use gridbay_core::input::Command;
use gridbay_core::reply::Reply;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, NetworkId, OrderId};
use gridbay_protocol::invitation::Bootstrap;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Longest wait for the core thread, which answers between two steps.
const CORE_WAIT: Duration = Duration::from_secs(10);

type Answer<T> = Result<T, ApiError>;

/// What a backend is made of.
pub struct BackendParts {
    /// Talks to the core thread.
    pub body: BodyHandle,
    /// Peers, addresses, counters.
    pub overlay: OverlayHandle,
    /// Inputs of own orders.
    pub contents: ContentStore,
    /// Output and files of own orders.
    pub orders: OrderStore,
    /// Own transfers by their idempotency keys.
    pub transfers: TransferStore,
    /// Whom the owner blocks and trusts.
    pub marks: MarkBook,
    /// Addresses to listen on, as configured.
    pub listen: Vec<Multiaddr>,
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
    /// What this machine may sell.
    pub selling: Arc<Selling>,
}

/// The node behind the API.
pub struct NodeBackend {
    pub(crate) parts: BackendParts,
    started_ms: u64,
    uploads: Uploads,
    pub(crate) board: Arc<Board>,
    discovery: Discovery,
}

impl NodeBackend {
    /// Puts the parts together. [`NodeBackend::follow`] should run beside it.
    pub fn new(parts: BackendParts) -> NodeBackend {
        NodeBackend {
            uploads: Uploads::new(parts.contents.clone(), parts.limits, parts.room.clone()),
            board: Arc::default(),
            discovery: Discovery::new(parts.body.clone(), parts.overlay.clone(), parts.node),
            started_ms: wall_ms(),
            parts,
        }
    }

    /// Keeps the board of recent auctions up to date until the node stops.
    pub async fn follow(&self) {
        let mut height = self.parts.body.height();
        loop {
            if let Err(error) = self.catch_up().await {
                tracing::debug!(%error, "the board of auctions waits");
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
    fn acknowledges(&self) -> Answer<()> {
        self.parts.body.acknowledges().map_err(gone)
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

/// As the API's shapes hold numbers of things.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Milliseconds since 1970.
pub(crate) fn wall_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Backend for NodeBackend {
    async fn node(&self) -> Answer<NodeStatus> {
        self.status().await
    }
    async fn drain(&self) -> Answer<NodeStatus> {
        self.command(Command::Drain).await?;
        self.status().await
    }
    async fn stop(&self) -> Answer<()> {
        self.parts.stop.send_replace(true);
        Ok(())
    }
    async fn invite(&self, request: InviteRequest) -> Answer<Invite> {
        self.acknowledges()?;
        self.make_invitation(request).await
    }
    async fn peers(&self) -> Answer<PeerList> {
        self.peer_list().await
    }
    async fn ping(&self, request: PeerRequest) -> Answer<Pinged> {
        self.ping_peer(request).await
    }
    async fn find_peer(&self, request: PeerRequest) -> Answer<FoundRecord> {
        self.find_record(request).await
    }
    async fn connect(&self, request: PeerRequest) -> Answer<PeerLine> {
        self.connect_to_peer(request).await
    }
    async fn mark(&self, request: MarkRequest) -> Answer<Marked> {
        self.mark_peer(request).await
    }
    async fn doctor(&self) -> Answer<Vec<Finding>> {
        self.findings().await
    }
    async fn offers(&self) -> Answer<Vec<Offer>> {
        self.all_offers().await
    }
    async fn set_offer(&self, request: OfferRequest) -> Answer<Offer> {
        self.acknowledges()?;
        self.put_offer(request).await
    }
    async fn withdraw_offer(&self, label: u32) -> Answer<Offer> {
        self.acknowledges()?;
        self.end_offer(label).await
    }
    async fn contracts(&self) -> Answer<Vec<Contract>> {
        self.contract_list().await
    }
    async fn say(&self, contract: OrderId, word: ContractWord) -> Answer<Contract> {
        self.acknowledges()?;
        self.say_of_contract(contract, word).await
    }
    async fn put_content(&self, bytes: u64, stream: ContentStream) -> Answer<Staged> {
        self.acknowledges()?;
        self.uploads.take(bytes, stream).await
    }
    async fn quote(&self, want: Want) -> Answer<Quote> {
        self.make_quote(want).await
    }
    async fn submit(&self, id: JobId, request: JobRequest) -> Answer<JobRecord> {
        self.acknowledges()?;
        self.place_order(id, request).await
    }
    async fn jobs(&self, all: bool) -> Answer<Vec<JobRecord>> {
        self.job_list(all).await
    }
    async fn job(&self, id: JobId) -> Answer<JobRecord> {
        self.job_record(id).await
    }
    async fn why(&self, id: JobId) -> Answer<Why> {
        self.explain(id).await
    }
    async fn logs(
        &self,
        id: JobId,
        rank: u32,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Answer<LogChunk> {
        self.log_chunk(id, rank, stream, from, max).await
    }
    async fn file(&self, id: JobId, rank: u32, path: String) -> Answer<PathBuf> {
        self.output_file(id, rank, path).await
    }
    async fn cancel(&self, id: JobId) -> Answer<JobRecord> {
        self.acknowledges()?;
        self.cancel_order(id).await
    }
    async fn prospects(&self, wish: Wish) -> Answer<Vec<Prospect>> {
        self.prospects_of(wish).await
    }
    async fn bids(&self) -> Answer<Vec<StandingBid>> {
        self.bid_list().await
    }
    async fn amend(&self, id: JobId, request: AmendRequest) -> Answer<StandingBid> {
        self.acknowledges()?;
        self.amend_bid(id, request).await
    }
    async fn suggest(&self, wish: BidWish) -> Answer<BidAdvice> {
        self.advise(wish).await
    }
    async fn find(&self, request: FindRequest) -> Answer<FindReport> {
        self.find_nodes(request).await
    }
    async fn prices(&self) -> Answer<Vec<ClassPrice>> {
        self.class_prices().await
    }
    async fn auctions(&self, class: Option<String>, limit: usize) -> Answer<Vec<AuctionSummary>> {
        self.recent_auctions(class, limit).await
    }
    async fn auction(&self, id: String) -> Answer<AuctionProof> {
        self.auction_proof(id).await
    }
    async fn balance(&self, account: Option<AccountId>) -> Answer<Balance> {
        self.balance_of(account).await
    }
    async fn transfer(&self, key: Option<String>, request: TransferRequest) -> Answer<Transferred> {
        self.acknowledges()?;
        self.move_money(key, request).await
    }
    async fn close_account(&self, request: CloseRequest) -> Answer<ClosedAccount> {
        self.acknowledges()?;
        self.close(request).await
    }
    async fn history(&self, account: Option<AccountId>, limit: usize) -> Answer<Vec<Movement>> {
        self.movements(account, limit).await
    }
    async fn bank(&self) -> Answer<BankReport> {
        self.bank_report().await
    }
    async fn head(&self) -> Answer<BlockInfo> {
        let height = self.query(|core| core.state().height()).await?;
        self.block_info(height).await
    }
    async fn block(&self, height: u64) -> Answer<BlockInfo> {
        self.block_info(height).await
    }
    async fn effects(&self, height: u64) -> Answer<Vec<Effect>> {
        self.effects_of(height).await
    }
    async fn headers(&self, from: u64, limit: usize) -> Answer<Vec<SignedHeader>> {
        self.signed_headers(from, limit).await
    }
    async fn metrics(&self) -> String {
        self.metrics_text().await
    }
}
