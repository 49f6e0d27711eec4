//! A backend for tests: one class, jobs that echo, money that moves. Shared by the tests of the API
//! and of the command line.

mod peers;
mod served;

pub(crate) use served::Served;

use futures::StreamExt as _;
use gridbay_node::api::types::*;
use gridbay_node::api::{ApiError, Backend, ContentStream, ErrorCode};
use gridbay_node::doctor::Finding;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, EntryId, NetworkId, OfferId, OrderId};
use gridbay_protocol::job::{JobExit, content_id};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;
use peers::{RELAY, ourselves, peer_line};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) fn credits(text: &str) -> Credits {
    text.parse().unwrap()
}

fn none<T>(what: &str) -> Result<T, ApiError> {
    Err(ApiError::new(
        ErrorCode::NotFound,
        format!("no {what}"),
        "look elsewhere",
    ))
}

/// What jobs write, whatever they are.
pub(crate) const STDOUT: &[u8] = b"one\ntwo\nthree";

pub(crate) struct Fake {
    pub(crate) folder: PathBuf,
    pub(crate) jobs: Mutex<BTreeMap<JobId, (JobRecord, JobRequest)>>,
    pub(crate) transfers: AtomicU32,
    pub(crate) spendable: Credits,
    /// Of its jobs.
    pub(crate) locked: Credits,
    pub(crate) exit: JobExit,
    pub(crate) findings: Vec<Finding>,
    /// Of the invitations that it makes, if it makes any.
    pub(crate) token: Option<String>,
    pings: AtomicU32,
}

impl Fake {
    pub(crate) fn new(folder: PathBuf) -> Fake {
        Fake {
            folder,
            jobs: Mutex::default(),
            transfers: AtomicU32::new(0),
            spendable: credits("100"),
            locked: credits("0.75"),
            exit: JobExit::Code(0),
            findings: vec![],
            token: None,
            pings: AtomicU32::new(0),
        }
    }
    fn record(&self, id: JobId, request: &JobRequest) -> JobRecord {
        let failed = self.exit != JobExit::Code(0);
        let file = |path: &String| JobFile {
            rank: 0,
            path: path.clone(),
            bytes: 5,
        };
        JobRecord {
            id,
            order: None,
            name: request.name.clone().unwrap_or(request.argv[0].clone()),
            argv: request.argv.clone(),
            class: "small".into(),
            nodes: request.want.nodes,
            how: request.want.how.clone(),
            max_price: credits("10"),
            seconds: request.want.seconds,
            budget: credits("50"),
            state: if failed {
                JobState::Failed
            } else {
                JobState::Done
            },
            reason: failed.then_some(JobReason::ExitCode),
            accepted_ms: 1_000,
            committed_height: Some(3),
            opened_height: Some(5),
            won_height: Some(8),
            lease: None,
            sellers: vec![],
            running_ms: Some(2_500),
            ended_ms: Some(4_000),
            exits: vec![RankExit {
                rank: 0,
                exit: self.exit,
            }],
            files: request.outputs.iter().map(file).collect(),
            paid: credits("0.25"),
            locked: self.locked,
            price: Some(credits("1.5")),
            preemptions: 0,
            share: None,
            worth: request.worth,
            left_seconds: None,
        }
    }
}

impl Backend for Fake {
    async fn node(&self) -> Result<NodeStatus, ApiError> {
        Ok(NodeStatus {
            state: NodeState::Ready,
            name: "fake".into(),
            version: "0".into(),
            pid: 1,
            started_ms: 0,
            network: NetworkId([1; 32]),
            network_name: Some("lab".into()),
            node: SecretKey::from_seed(&[2; 32]).public(),
            account: None,
            joining: None,
            validator: None,
            listen: vec![],
            peers: 3,
            height: 42,
            block_ms: 0,
            round: 10,
            slot: 5,
            balance: Signed(-1_500_000),
            held: credits("2"),
            units_offered: 4,
            units_leased: 1,
            jobs_hosted: 0,
            jobs_open: 0,
            troubles: vec![],
        })
    }
    async fn drain(&self) -> Result<NodeStatus, ApiError> {
        let status = self.node().await?;
        Ok(NodeStatus {
            state: NodeState::Draining,
            ..status
        })
    }
    async fn stop(&self) -> Result<(), ApiError> {
        Ok(())
    }
    async fn invite(&self, request: InviteRequest) -> Result<Invite, ApiError> {
        if let Some(token) = &self.token {
            return Ok(Invite {
                token: token.clone(),
                inviter: AccountId([4; 32]),
                endowment: request.endowment,
                valid_until: 99,
            });
        }
        Err(ApiError::new(
            ErrorCode::InsufficientFunds,
            "3 credits are free",
            "invite with less",
        ))
    }
    async fn peers(&self) -> Result<PeerList, ApiError> {
        Ok(PeerList {
            me: ourselves(),
            peers: vec![peer_line()],
        })
    }
    async fn ping(&self, _: PeerRequest) -> Result<Pinged, ApiError> {
        let line = peer_line();
        let relayed = self.pings.fetch_add(1, Ordering::Relaxed) == 0;
        Ok(Pinged {
            peer: line.peer,
            micros: 12_345,
            path: if relayed { Path::Relayed } else { Path::Quic },
            via: relayed.then(|| RELAY.to_owned()),
            address: line.address,
        })
    }
    async fn find_peer(&self, _: PeerRequest) -> Result<FoundRecord, ApiError> {
        none("record")
    }
    async fn connect(&self, _: PeerRequest) -> Result<PeerLine, ApiError> {
        Ok(peer_line())
    }
    async fn mark(&self, request: MarkRequest) -> Result<Marked, ApiError> {
        Ok(Marked {
            peer: request.who,
            mark: request.set.then_some(request.mark),
            changed: true,
        })
    }
    async fn doctor(&self) -> Result<Vec<Finding>, ApiError> {
        Ok(self.findings.clone())
    }
    async fn offers(&self) -> Result<Vec<Offer>, ApiError> {
        Ok(vec![])
    }
    async fn set_offer(&self, r: OfferRequest) -> Result<Offer, ApiError> {
        Ok(Offer {
            offer: OfferId([3; 32]),
            label: r.label.unwrap_or(7),
            account: AccountId([4; 32]),
            own: true,
            class: r.class,
            units: r.units,
            leased: 0,
            reserve: r.reserve,
            buy: r.buy,
            notice_seconds: r.notice_seconds,
            mechanism: r.mechanism,
            on_sale: true,
            held_back: false,
            withdrawn: false,
        })
    }
    async fn withdraw_offer(&self, label: u32) -> Result<Offer, ApiError> {
        none(&format!("offer {label}"))
    }
    async fn contracts(&self) -> Result<Vec<Contract>, ApiError> {
        Ok(vec![])
    }
    async fn say(&self, contract: OrderId, _: ContractWord) -> Result<Contract, ApiError> {
        none(&format!("contract {contract}"))
    }
    async fn put_content(&self, _: u64, mut stream: ContentStream) -> Result<Staged, ApiError> {
        let mut all = Vec::new();
        while let Some(piece) = stream.next().await {
            let broken = |e: std::io::Error| ApiError::new(ErrorCode::Usage, e.to_string(), "");
            all.extend_from_slice(&piece.map_err(broken)?);
        }
        Ok(Staged {
            content: content_id(&all),
            bytes: all.len() as u64,
        })
    }
    async fn prospects(&self, wish: Wish) -> Result<Vec<Prospect>, ApiError> {
        Ok(vec![Prospect {
            mechanism: "ausubel".into(),
            likely: None,
            most: wish.budget,
            odds: Some(75),
            note: "odds of the last 4 clearings".into(),
            options: format!("-n {} --max-price 3", wish.nodes),
        }])
    }
    async fn bids(&self) -> Result<Vec<StandingBid>, ApiError> {
        Ok(vec![])
    }
    async fn amend(&self, id: JobId, _: AmendRequest) -> Result<StandingBid, ApiError> {
        none(&format!("bid {id}"))
    }
    async fn suggest(&self, wish: BidWish) -> Result<BidAdvice, ApiError> {
        Ok(BidAdvice {
            class: wish.class.unwrap_or("small".into()),
            nodes: wish.nodes,
            seconds: wish.seconds,
            clearings: 4,
            reserve: Some(credits("1")),
            price: Some(credits("2.5")),
            won: Some(wish.chance),
            most: Some(credits("5")),
            prices: vec![],
        })
    }
    async fn quote(&self, want: Want) -> Result<Quote, ApiError> {
        let max_price = want.max_price.unwrap_or(credits("10"));
        let most = max_price.checked_mul(want.nodes.into()).unwrap();
        Ok(Quote {
            posted: None,
            class: want.class.unwrap_or("small".into()),
            nodes: want.nodes,
            seconds: want.seconds,
            slots: 2,
            max_price,
            most,
            likely: Some(credits("0.5")),
            needed_now: credits("0.1"),
            spendable: self.spendable,
            funded: most <= self.spendable,
            units_offered: 8,
            units_free: 8,
            deadline: None,
            share: None,
        })
    }
    async fn submit(&self, id: JobId, request: JobRequest) -> Result<JobRecord, ApiError> {
        let record = self.record(id.clone(), &request);
        let mut jobs = self.jobs.lock().unwrap();
        let (kept, _) = jobs.entry(id).or_insert((record, request));
        Ok(kept.clone())
    }
    async fn jobs(&self, all: bool) -> Result<Vec<JobRecord>, ApiError> {
        let jobs = self.jobs.lock().unwrap();
        let open = jobs.values().map(|(r, _)| r.clone());
        Ok(open.filter(|r| all || !r.state.is_final()).collect())
    }
    async fn job(&self, id: JobId) -> Result<JobRecord, ApiError> {
        let jobs = self.jobs.lock().unwrap();
        jobs.get(&id)
            .map_or_else(|| none("job"), |(r, _)| Ok(r.clone()))
    }
    async fn why(&self, _: JobId) -> Result<Why, ApiError> {
        none("job")
    }
    async fn logs(
        &self,
        _: JobId,
        rank: u32,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Result<LogChunk, ApiError> {
        if rank > 0 || stream == Stream::Stderr {
            return none("such stream");
        }
        // Four bytes at a time, so that readers have to put pieces together.
        let rest = STDOUT.get(from as usize..).unwrap_or(&[]);
        let piece = &rest[..rest.len().min(4).min(max)];
        Ok(LogChunk {
            bytes: piece.to_vec(),
            next: from + piece.len() as u64,
            last: piece.len() == rest.len(),
        })
    }
    async fn file(&self, _: JobId, _: u32, path: String) -> Result<PathBuf, ApiError> {
        Ok(self.folder.join(path))
    }
    async fn cancel(&self, id: JobId) -> Result<JobRecord, ApiError> {
        self.job(id).await
    }
    async fn find(&self, request: FindRequest) -> Result<FindReport, ApiError> {
        Ok(FindReport {
            query: request.query,
            known: 0,
            fitting: 0,
            nodes: vec![],
            asked: 0,
            learnt: 0,
            steps: vec![],
            group: None,
        })
    }
    async fn prices(&self) -> Result<Vec<ClassPrice>, ApiError> {
        Ok(vec![])
    }
    async fn auctions(&self, _: Option<String>, _: usize) -> Result<Vec<AuctionSummary>, ApiError> {
        Ok(vec![])
    }
    async fn auction(&self, _: String) -> Result<AuctionProof, ApiError> {
        none("auction")
    }
    async fn bank(&self) -> Result<BankReport, ApiError> {
        none("bank")
    }
    async fn balance(&self, account: Option<AccountId>) -> Result<Balance, ApiError> {
        Ok(Balance {
            account: account.unwrap_or_default(),
            balance: Signed(-1),
            held: credits("3"),
            staked: credits("4"),
            retained: credits("6"),
            in_use: credits("2"),
            arrears: credits("0.5"),
            credit_line: credits("5"),
            height: 42,
            entries: Entries {
                spent: 3,
                budget: 4_800,
                spent_bytes: 900,
                budget_bytes: 2_000_000,
            },
        })
    }
    async fn close_account(&self, request: CloseRequest) -> Result<ClosedAccount, ApiError> {
        Ok(ClosedAccount {
            entry: EntryId([9; 32]),
            height: 7,
            to: request.to,
            amount: credits("12.5"),
        })
    }
    async fn transfer(
        &self,
        _: Option<String>,
        _: TransferRequest,
    ) -> Result<Transferred, ApiError> {
        let n = self.transfers.fetch_add(1, Ordering::SeqCst);
        Ok(Transferred {
            entry: EntryId([9; 32]),
            height: n.into(),
        })
    }
    async fn history(&self, _: Option<AccountId>, n: usize) -> Result<Vec<Movement>, ApiError> {
        none(&format!("more than {n}"))
    }
    async fn head(&self) -> Result<BlockInfo, ApiError> {
        none("block")
    }
    async fn block(&self, _: u64) -> Result<BlockInfo, ApiError> {
        panic!("a fault of the backend")
    }
    async fn effects(&self, _: u64) -> Result<Vec<Effect>, ApiError> {
        Ok(vec![])
    }
    async fn headers(&self, _: u64, _: usize) -> Result<Vec<SignedHeader>, ApiError> {
        Ok(vec![])
    }
    async fn metrics(&self) -> String {
        "gridbay_ledger_height 42\n".into()
    }
}
