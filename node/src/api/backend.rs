//! What the running node does for the API.

use super::ApiError;
use super::types::{
    AmendRequest, AuctionProof, AuctionSummary, Balance, BankReport, BidAdvice, BidWish, BlockInfo,
    ClassPrice, CloseRequest, ClosedAccount, Contract, ContractWord, FindReport, FindRequest,
    FoundRecord, Invite, InviteRequest, JobId, JobRecord, JobRequest, LogChunk, MarkRequest,
    Marked, Movement, NodeStatus, Offer, OfferRequest, PeerLine, PeerList, PeerRequest, Pinged,
    Prospect, Quote, SignedHeader, Staged, StandingBid, Stream, TransferRequest, Transferred, Want,
    Why, Wish,
};
use crate::doctor::Finding;
use axum::body::Bytes;
use futures::stream::BoxStream;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, OrderId};
use std::future::Future;
use std::io;
use std::path::PathBuf;

/// Bytes of an upload as they arrive. An error means that the sender broke off, or sent another
/// number of bytes than announced.
pub type ContentStream = BoxStream<'static, io::Result<Bytes>>;

/// A result that a request waits for.
type Answer<T> = Result<T, ApiError>;

/// The node behind the API. Methods answer quickly or fail with [`super::ErrorCode::Timeout`]; they
/// can be called from many connections at once. Implementations write plain `async fn`s.
pub trait Backend: Send + Sync + 'static {
    /// Status; answers in every state.
    fn node(&self) -> impl Future<Output = Answer<NodeStatus>> + Send;
    /// Begins to drain. Repeating it changes nothing.
    fn drain(&self) -> impl Future<Output = Answer<NodeStatus>> + Send;
    /// Begins to stop; answers before the node ends.
    fn stop(&self) -> impl Future<Output = Answer<()>> + Send;
    /// A fresh invitation, signed by this node's account.
    fn invite(&self, request: InviteRequest) -> impl Future<Output = Answer<Invite>> + Send;

    /// How this node is reached, and the peers that are connected.
    fn peers(&self) -> impl Future<Output = Answer<PeerList>> + Send;
    /// One round trip to a peer, which is connected to if need be.
    fn ping(&self, request: PeerRequest) -> impl Future<Output = Answer<Pinged>> + Send;
    /// A peer's record in the DHT.
    fn find_peer(&self, request: PeerRequest) -> impl Future<Output = Answer<FoundRecord>> + Send;
    /// Connects to a peer.
    fn connect(&self, request: PeerRequest) -> impl Future<Output = Answer<PeerLine>> + Send;
    /// Blocks or trusts a peer, durably, or takes that back. Repeating it changes nothing.
    fn mark(&self, request: MarkRequest) -> impl Future<Output = Answer<Marked>> + Send;

    /// What is wrong with this node's network, the gravest first; empty if nothing is.
    fn doctor(&self) -> impl Future<Output = Answer<Vec<Finding>>> + Send;

    /// All offers on the ledger, by class and seller.
    fn offers(&self) -> impl Future<Output = Answer<Vec<Offer>>> + Send;
    /// Sets an offer of this node; answers once it is on the ledger.
    fn set_offer(&self, request: OfferRequest) -> impl Future<Output = Answer<Offer>> + Send;
    /// Withdraws an offer of this node; answers once that is on the ledger.
    fn withdraw_offer(&self, label: u32) -> impl Future<Output = Answer<Offer>> + Send;

    /// All contracts on the ledger.
    fn contracts(&self) -> impl Future<Output = Answer<Vec<Contract>>> + Send;
    /// Says something about a contract; answers once it is on the ledger.
    fn say(
        &self,
        contract: OrderId,
        word: ContractWord,
    ) -> impl Future<Output = Answer<Contract>> + Send;

    /// Stores `bytes` bytes, within the configured sizes (checked before the call for one file).
    fn put_content(
        &self,
        bytes: u64,
        stream: ContentStream,
    ) -> impl Future<Output = Answer<Staged>> + Send;
    /// What an order would cost.
    fn quote(&self, want: Want) -> impl Future<Output = Answer<Quote>> + Send;
    /// What each mechanism would do with a wish, as things stand.
    fn prospects(&self, wish: Wish) -> impl Future<Output = Answer<Vec<Prospect>>> + Send;
    /// What to bid, by the last clearings.
    fn suggest(&self, wish: BidWish) -> impl Future<Output = Answer<BidAdvice>> + Send;
    /// Own bids that are not over, newest first.
    fn bids(&self) -> impl Future<Output = Answer<Vec<StandingBid>>> + Send;
    /// Gives a bid another price, from the next clearing on that a sealed amendment can reach; answers once the wish is
    /// durable. Repeating it changes nothing.
    fn amend(
        &self,
        id: JobId,
        request: AmendRequest,
    ) -> impl Future<Output = Answer<StandingBid>> + Send;
    /// Accepts a job under `id`, durably. An id accepted before gives its record again.
    fn submit(
        &self,
        id: JobId,
        request: JobRequest,
    ) -> impl Future<Output = Answer<JobRecord>> + Send;
    /// Own jobs, newest first; those that ended only if `all`.
    fn jobs(&self, all: bool) -> impl Future<Output = Answer<Vec<JobRecord>>> + Send;
    /// One job.
    fn job(&self, id: JobId) -> impl Future<Output = Answer<JobRecord>> + Send;
    /// Why a job is in its state.
    fn why(&self, id: JobId) -> impl Future<Output = Answer<Why>> + Send;
    /// At most `max` bytes of a rank's stream from an offset.
    fn logs(
        &self,
        id: JobId,
        rank: u32,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> impl Future<Output = Answer<LogChunk>> + Send;
    /// Where a file that a rank brought back lies. `path` stays inside the job's folder.
    fn file(
        &self,
        id: JobId,
        rank: u32,
        path: String,
    ) -> impl Future<Output = Answer<PathBuf>> + Send;
    /// Ends a job: a standing order at once, a running one with its slot. Repeating changes nothing.
    fn cancel(&self, id: JobId) -> impl Future<Output = Answer<JobRecord>> + Send;

    /// Which sellers' nodes fit a query.
    fn find(&self, request: FindRequest) -> impl Future<Output = Answer<FindReport>> + Send;
    /// Prices by class.
    fn prices(&self) -> impl Future<Output = Answer<Vec<ClassPrice>>> + Send;
    /// The last auctions, newest first; of one class if named.
    fn auctions(
        &self,
        class: Option<String>,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<AuctionSummary>>> + Send;
    /// One auction by the hex of its id, with its proof.
    fn auction(&self, id: String) -> impl Future<Output = Answer<AuctionProof>> + Send;

    /// Balance of an account, of the node's own if `None`.
    fn balance(&self, account: Option<AccountId>) -> impl Future<Output = Answer<Balance>> + Send;
    /// What the bank publishes.
    fn bank(&self) -> impl Future<Output = Answer<BankReport>> + Send;
    /// Moves money, once for each idempotency key however often it comes; answers once that is on the
    /// ledger, in a block that is final and on this node's disk.
    fn transfer(
        &self,
        key: Option<String>,
        request: TransferRequest,
    ) -> impl Future<Output = Answer<Transferred>> + Send;
    /// Closes this node's account, which has nothing open; what it has goes to another.
    fn close_account(
        &self,
        request: CloseRequest,
    ) -> impl Future<Output = Answer<ClosedAccount>> + Send;
    /// Last movements of an account's money, newest first.
    fn history(
        &self,
        account: Option<AccountId>,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<Movement>>> + Send;
    /// The last block.
    fn head(&self) -> impl Future<Output = Answer<BlockInfo>> + Send;
    /// A block by height.
    fn block(&self, height: u64) -> impl Future<Output = Answer<BlockInfo>> + Send;
    /// What a block did, in order.
    fn effects(&self, height: u64) -> impl Future<Output = Answer<Vec<Effect>>> + Send;
    /// At most `limit` headers from a height on, ascending.
    fn headers(
        &self,
        from: u64,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<SignedHeader>>> + Send;

    /// Metrics in Prometheus' text form.
    fn metrics(&self) -> impl Future<Output = String> + Send;
}
