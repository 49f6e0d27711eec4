//! A node as a source: its API's answers, asked for again when its events tell of a change.

use super::look::{Look, Mark};
use super::sheets::{self, Fault};
use super::shell::{Lost, Source};
use crate::api::ApiError;
use crate::api::client::Client;
use crate::api::types::{
    AuctionSummary, ClassPrice, FindReport, FindRequest, FoundNode, JobRecord, LeaseView, Movement,
    NodeState, NodeStatus, Offer, Ourselves, PeerList, StandingBid,
};
use crate::cli::text;
use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::Incoming;
use std::future;
use std::time::{Duration, Instant};

/// How long the list of sellers serves.
const SELLERS: Duration = Duration::from_secs(15);

/// The node behind a client.
pub struct Node {
    client: Client,
    events: Events,
    sellers: Vec<FoundNode>,
    sought: Option<Instant>,
}

/// All answers of a look.
struct Answers {
    node: NodeStatus,
    peers: PeerList,
    prices: Vec<ClassPrice>,
    auctions: Vec<AuctionSummary>,
    offers: Vec<Offer>,
    bids: Vec<StandingBid>,
    leases: Vec<LeaseView>,
    jobs: Vec<JobRecord>,
    movements: Vec<Movement>,
}

impl Node {
    /// The node that answers this client.
    pub fn new(client: Client) -> Node {
        Node {
            events: Events::new(client.clone()),
            client,
            sellers: Vec::new(),
            sought: None,
        }
    }

    async fn seek(&mut self) -> Result<(), ApiError> {
        if self.sought.is_some_and(|at| at.elapsed() < SELLERS) {
            return Ok(());
        }
        let all = FindRequest {
            query: String::new(),
            limit: None,
            explain: false,
        };
        let found: FindReport = self.client.post("/find", &all, None).await?;
        (self.sellers, self.sought) = (found.nodes, Some(Instant::now()));
        Ok(())
    }
}

impl Answers {
    async fn of(client: &Client) -> Result<Answers, ApiError> {
        let node: NodeStatus = client.get("/node").await?;
        // Without an account there is neither money nor a bid.
        let movements = match node.account {
            Some(_) => client.get("/ledger/history?limit=200").await?,
            None => Vec::new(),
        };
        Ok(Answers {
            node,
            movements,
            peers: client.get("/peers").await?,
            prices: client.get("/prices").await?,
            auctions: client.get("/auctions?limit=200").await?,
            offers: client.get("/offers").await?,
            bids: client.get("/bids").await?,
            leases: client.get("/leases").await?,
            jobs: client.get("/jobs?all=true").await?,
        })
    }

    fn look(&self, sellers: &[FoundNode]) -> Look {
        let faults = Fault::of(&self.node, Some(&self.peers.me));
        let mut look = head(&self.node, &self.peers.me, &faults);
        if let Some(earned) = sheets::earned(&self.movements) {
            look.tell(Mark::Plain, earned);
        }
        look.sheets = vec![
            sheets::nodes(&self.peers.peers, sellers),
            sheets::prices(&self.prices, &self.auctions),
            sheets::book(&self.prices, &self.offers, &self.bids),
            sheets::leases(&self.leases),
            sheets::jobs(&self.jobs),
            sheets::money(&self.movements),
            sheets::faults(&faults),
        ];
        look
    }
}

/// The lines above the sheets.
fn head(node: &NodeStatus, me: &Ourselves, faults: &[Fault]) -> Look {
    let mut look = Look::default();
    let validator = if node.validator.is_some() {
        ", a validator"
    } else {
        ""
    };
    let network = node.network_name.as_deref().unwrap_or("?");
    let mark = match node.state {
        NodeState::Ready => Mark::Good,
        NodeState::Joining | NodeState::Draining => Mark::Waiting,
        NodeState::Closed | NodeState::Halted => Mark::Bad,
    };
    let (name, state) = (&node.name, node.state.name());
    let time = text::time(node.block_ms);
    let (height, slot) = (node.height, node.slot);
    look.tell(
        mark,
        format!("{name} ({state}{validator})  {network}: height {height}, slot {slot}, {time}"),
    );
    let (leased, offered) = (node.units_leased, node.units_offered);
    let (hosted, open) = (node.jobs_hosted, node.jobs_open);
    look.tell(
        Mark::Plain,
        format!(
            "{} free, {} held  peers: {}, {} relayed  {leased}/{offered} units leased  \
             jobs: {hosted} here, {open} own",
            node.balance, node.held, node.peers, me.relayed
        ),
    );
    if let Some(fault) = faults.first() {
        let more = match faults.len() {
            1 => String::new(),
            n => format!(" (and {} more, see Faults)", n - 1),
        };
        look.tell(Mark::Bad, format!("{}{more}", fault.what));
    }
    look
}

impl Source for Node {
    async fn look(&mut self) -> Result<Look, Lost> {
        let answers = Answers::of(&self.client).await.map_err(lost)?;
        self.seek().await.map_err(lost)?;
        Ok(answers.look(&self.sellers))
    }
    async fn changed(&mut self) {
        self.events.next().await;
    }
}

fn lost(error: ApiError) -> Lost {
    Lost(format!("{}; {}", error.message, error.hint))
}

/// A node's stream of events, of which only counts that there was one: what it was is asked for.
pub struct Events {
    client: Client,
    stream: Option<Response<Incoming>>,
}

impl Events {
    /// The stream is opened when the first event is waited for.
    pub fn new(client: Client) -> Events {
        Events {
            client,
            stream: None,
        }
    }

    /// Ready at an event, or when the stream has ended; never where there is none to be had.
    pub async fn next(&mut self) {
        if self.stream.is_none() {
            self.stream = self.client.download("/events").await.ok();
        }
        let Some(stream) = &mut self.stream else {
            return future::pending().await;
        };
        loop {
            let piece = match stream.body_mut().frame().await {
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(_)) | None => break,
            };
            // A comment only keeps the stream alive.
            if !piece.is_empty() && !piece.starts_with(b":") {
                return;
            }
        }
        self.stream = None;
    }
}

#[cfg(test)]
mod tests;
