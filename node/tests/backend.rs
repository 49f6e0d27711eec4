//! The backend on a network of one validator: what it answers is checked against the ledger's own rules.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use gridbay_core::input::Command;
use gridbay_core::{Core, Parts};
use gridbay_host::disk::MemDisk;
use gridbay_host::{Host, HostConfig};
use gridbay_ledger::light;
use gridbay_node::api::types::{
    AuctionKind, AuctionRecord, AuctionSummary, BidWish, How, JobId, JobReason, JobRequest,
    JobState, OfferRequest, Signed, TransferRequest, Want, Wish,
};
use gridbay_node::api::types::{InviteRequest, NodeState};
use gridbay_node::api::{Backend, ErrorCode};
use gridbay_node::backend::{BackendParts, NodeBackend};
use gridbay_node::body::jobs::Jobs;
use gridbay_node::body::{self, BodyHandle, Tools};
use gridbay_node::cli::verify_auction;
use gridbay_node::config::NodeLimits;
use gridbay_node::doctor::Kind;
use gridbay_node::doctor::Kind;
use gridbay_node::executor::{Config, ProcessExecutor};
use gridbay_node::overlay::{self, OverlayConfig, TransportSeed, Tuning};
use gridbay_node::store::content::ContentStore;
use gridbay_node::store::marks::MarkBook;
use gridbay_node::store::orders::OrderStore;
use gridbay_node::store::transfers::TransferStore;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::block::Header;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::codec;
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::invitation::{Grant, Invitation, SignedGrant};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::units::{Credits, Price};
use gridbay_protocol::vote::Certificate;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};

const TRANSPORT: [u8; 32] = [2; 32];
const PATIENCE: Duration = Duration::from_secs(60);

fn secret(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}
fn credits(text: &str) -> Credits {
    text.parse().unwrap()
}
fn chain() -> Chain {
    Chain::new(&[5; 32], 10_000)
}

/// Two members, one of them with the only validator. Blocks every 25 ms, slots of 200 ms.
fn genesis() -> Genesis {
    let class = Class {
        name: "small".into(),
        key: ClassKey {
            vcpu: 1,
            memory_mib: 512,
            disk_mib: 512,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".into(),
        },
        reference_price: Price(10),
    };
    let member = |name: &str, key: u8, validator| Member {
        name: name.into(),
        keys: vec![AccountKey {
            key: secret(key).public(),
            roles: Roles::ALL,
        }],
        endowment: credits("100"),
        credit_line: Credits::ZERO,
        weight: 1,
        validator,
        addresses: vec![],
    };
    let validator = MemberValidator {
        key: secret(3).public(),
        node: SecretKey::from_seed(&TRANSPORT).public(),
        power: 1,
        beacon_tip: Hash32(chain().tip()),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Genesis {
        format: FORMAT,
        rules: RULES,
        name: "one".into(),
        time_ms: now.as_millis() as u64 - 1_000,
        policy: Policy {
            block_interval_ms: 25,
            heartbeat_ms: 1_000,
            ..Policy::local()
        },
        classes: vec![class],
        members: vec![member("alpha", 1, Some(validator)), member("beta", 9, None)],
        beacon: Hash32([7; 32]),
    }
}

struct World {
    backend: NodeBackend,
    genesis: Genesis,
    body: BodyHandle,
    stop: watch::Receiver<bool>,
    /// Nobody else is there, so nothing arrives.
    _events: mpsc::Receiver<overlay::Event>,
    _dir: tempfile::TempDir,
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

async fn world() -> World {
    world_of(1).await
}

/// A node whose own account has this key.
async fn world_of(account: u8) -> World {
    let dir = tempfile::tempdir().unwrap();
    let genesis = genesis();
    let (overlay, events) = lonely_overlay(&genesis).await;
    let host = HostConfig {
        genesis: genesis.clone(),
        key: Some(secret(3)),
        chain: Some(chain()),
        index: None,
    };
    let orders = OrderStore::open(dir.path().join("orders"), 1 << 20).unwrap();
    let contents = ContentStore::open(dir.path().join("content")).unwrap();
    let executor = ProcessExecutor::new(Config::new(dir.path().join("jobs"))).unwrap();
    let node = SecretKey::from_seed(&TRANSPORT).public();
    let parts = Parts {
        provider: None,
        host: Host::open(host, Box::new(MemDisk::new())).unwrap(),
        account_key: secret(account),
        node,
        orders: vec![],
        jobs: vec![],
    };
    let tools = Tools {
        overlay: overlay.clone(),
        orders: orders.clone(),
        contents: contents.clone(),
        jobs: Jobs::open(Arc::new(executor), dir.path().join("memos")).unwrap(),
        grace: Duration::from_secs(5),
        genesis: genesis.encode(),
        runtime: tokio::runtime::Handle::current(),
        solver: None,
        reopen: None,
        join: None,
    };
    let body = body::start(parts, tools).unwrap().handle;
    let (stop, stopped) = watch::channel(false);
    let backend = NodeBackend::new(BackendParts {
        body: body.clone(),
        overlay,
        contents,
        orders,
        transfers: TransferStore::open(dir.path().join("transfers")).unwrap(),
        marks: MarkBook::open(dir.path().join("marks")).unwrap(),
        listen: vec![],
        relay_places: 0,
        account_key: secret(account),
        node,
        name: "test".into(),
        network: genesis.network(),
        network_name: genesis.name.clone(),
        limits: NodeLimits {
            content: 1 << 20,
            stored: 1 << 20,
            output: 1 << 20,
        },
        bootstrap: vec![],
        stop,
    });
    World {
        backend,
        genesis,
        body,
        stop: stopped,
        _events: events,
        _dir: dir,
    }
}

impl World {
    /// Looks after every block until `found` finds something.
    async fn until<T, F: Future<Output = Option<T>>>(&self, found: impl Fn() -> F) -> T {
        let mut height = self.body.height();
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(found) = found().await {
                    return found;
                }
                height.changed().await.unwrap();
            }
        });
        waited.await.expect("it happens in time")
    }
    async fn offer(&self) {
        let request = OfferRequest {
            label: None,
            class: "small".into(),
            units: 4,
            reserve: credits("1"),
            buy: Some(credits("2")),
            notice_seconds: None,
            mechanism: gridbay_protocol::offer::Primary::Ausubel,
        };
        let offer = self.backend.set_offer(request).await.unwrap();
        assert_eq!((offer.label, offer.units, offer.own), (1, 4, true));
        assert_eq!(offer.reserve, credits("1"));
        self.until(|| async {
            let prices = self.backend.prices().await.unwrap();
            (prices[0].units_offered == 4).then_some(())
        })
        .await;
    }
    async fn job_in(&self, id: &JobId, state: JobState) {
        self.until(|| async {
            let record = self.backend.job(id.clone()).await.unwrap();
            (record.state == state).then_some(())
        })
        .await;
    }
}

fn want(nodes: u32) -> Want {
    Want {
        class: None,
        nodes,
        max_price: Some(credits("10")),
        seconds: 3_600,
        budget: None,
        how: How::BID,
    }
}
fn request(nodes: u32) -> JobRequest {
    JobRequest {
        worth: None,
        name: None,
        want: want(nodes),
        argv: vec!["/bin/true".into()],
        env: vec![],
        inputs: vec![],
        outputs: vec![],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn money_moves_and_is_on_the_statement() {
    let world = world().await;
    let backend = &world.backend;
    let status = backend.node().await.unwrap();
    assert_eq!(status.network, world.genesis.network());
    assert!(status.account.is_some() && status.validator.is_some());
    let to = world.genesis.account(&world.genesis.members[1]);
    for (to, amount, code) in [
        (to, "101", ErrorCode::InsufficientFunds),
        (AccountId([1; 32]), "1", ErrorCode::NotFound),
        (to, "0", ErrorCode::Usage),
    ] {
        let amount = credits(amount);
        let memo = None;
        let refused = backend
            .transfer(None, TransferRequest { to, amount, memo })
            .await;
        assert_eq!(refused.unwrap_err().code, code);
    }
    let request = TransferRequest {
        to,
        amount: credits("5"),
        memo: Some("thanks".into()),
    };
    let key = || Some("a-key-of-mine".to_owned());
    let moved = backend.transfer(key(), request.clone()).await.unwrap();
    let again = backend.transfer(key(), request.clone()).await.unwrap();
    assert_eq!(again, moved, "a key moves money once");
    let other = TransferRequest {
        amount: credits("6"),
        ..request
    };
    let other = backend.transfer(key(), other).await.unwrap_err();
    assert_eq!(other.code, ErrorCode::Conflict);
    let block = backend.block(moved.height).await.unwrap();
    assert!(block.entries >= 1);
    let balance = backend.balance(None).await.unwrap();
    assert_eq!(balance.balance, Signed::from(credits("95")));
    let history = backend.history(None, 10).await.unwrap();
    assert_eq!((history.len(), history[0].reason), (1, Reason::Transfer));
    assert_eq!(history[0].amount, Signed(-5_000_000));
    assert_eq!(history[0].other, format!("account {}", to.to_hex()));
    assert_eq!(history[0].time_ms, block.time_ms);
    assert_eq!(backend.node().await.unwrap().state, NodeState::Ready);

    let headers = backend.headers(1, 200).await.unwrap();
    let mut follower = light::Follower::new(&world.genesis).unwrap();
    for (index, signed) in headers.iter().enumerate() {
        let header: Header = codec::decode(&signed.header.0, 1 << 16).unwrap();
        let certificate: Certificate = codec::decode(&signed.certificate.0, 1 << 16).unwrap();
        follower.follow(&header, &certificate).unwrap();
        assert_eq!(signed.validators.is_some(), index == 0);
    }
    assert!(follower.height() >= moved.height);
    let missing = backend.block(u64::MAX).await.unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
}

/// What a stranger does with the proof of an auction.
async fn check_proof(world: &World, won: &AuctionSummary) {
    let proof = world.backend.auction(won.id.clone()).await.unwrap();
    let set = world.genesis.validators().unwrap();
    assert_eq!(proof.validators.0, codec::encode(&set));
    verify_auction(&proof, &world.genesis, &set).unwrap();
    let AuctionRecord::Clearing(clearing) = proof.record else {
        panic!("a clearing")
    };
    assert_eq!(clearing.height, won.height);
}

/// What to bid for the two units that are left, and for more than there are.
async fn check_advice(backend: &NodeBackend) {
    let wish = |nodes| BidWish {
        class: None,
        nodes,
        divisible: false,
        seconds: 4,
        chance: 90,
    };
    let said = backend.suggest(wish(2)).await.unwrap();
    assert_eq!((said.won, said.price.is_some()), (Some(100), true));
    assert!(said.price >= said.reserve && said.clearings > 0, "{said:?}");
    assert!(said.prices.iter().any(|row| row.won == 100), "{said:?}");
    let many = backend.suggest(wish(9)).await.unwrap();
    assert_eq!((many.price, many.most, many.reserve), (None, None, None));
    let odd = BidWish {
        chance: 0,
        ..wish(2)
    };
    let refused = backend.suggest(odd).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Usage);
}

/// What the mechanisms say to a wish for the two units that are left.
async fn check_prospects(backend: &NodeBackend) {
    let wish = Wish {
        class: None,
        nodes: 2,
        seconds: 4,
        within_seconds: None,
        budget: None,
    };
    let prospects = backend.prospects(wish.clone()).await.unwrap();
    let of = |name: &str| prospects.iter().find(|p| p.mechanism == name).unwrap();
    let (bid, buy) = (of("ausubel"), of("buy"));
    // Each clearing so far had two units left over at the reserve.
    assert_eq!(bid.odds, Some(100), "{bid:?}");
    assert!(bid.options.starts_with("-n 2 --max-price "), "{bid:?}");
    assert!(bid.likely.unwrap() <= bid.most.unwrap(), "{bid:?}");
    assert_eq!(buy.odds, Some(100), "two are free: {buy:?}");
    assert!(buy.likely > bid.likely, "{prospects:?}");
    let ahead = of("reservation");
    assert_eq!(ahead.odds, Some(0), "none is sold so: {ahead:?}");
    let shared = of("share");
    assert_eq!(shared.odds, Some(0), "no pool: {shared:?}");
    check_advice(backend).await;
    let batch = of("contract");
    assert!(batch.likely.unwrap() > buy.likely.unwrap(), "{batch:?}");
    assert_eq!(
        batch.odds, None,
        "no provider says what it goes by: {batch:?}"
    );
    assert!(batch.options.contains("--jobs 2"), "{batch:?}");
    let poor = Wish {
        budget: Some(credits("0.000001")),
        ..wish
    };
    let prospects = backend.prospects(poor).await.unwrap();
    assert!(prospects.iter().all(|p| p.odds == Some(0)), "{prospects:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_wins_an_auction_that_strangers_can_check() {
    let world = world().await;
    let backend = &world.backend;
    world.offer().await;
    let quote = backend.quote(want(2)).await.unwrap();
    assert_eq!((quote.units_offered, quote.units_free), (4, 4));
    assert!(quote.funded && quote.likely.is_none());
    let id = JobId::from_bytes([0xab; 8]);
    let record = backend.submit(id.clone(), request(2)).await.unwrap();
    assert_eq!(
        (record.name.as_str(), record.max_price),
        ("true", credits("10"))
    );
    let again = backend.submit(id.clone(), request(2)).await.unwrap();
    assert_eq!(again.accepted_ms, record.accepted_ms, "the same job");
    world.job_in(&id, JobState::Won).await;

    let auctions = backend.auctions(Some("small".into()), 10).await.unwrap();
    let won = auctions.iter().rev().find(|a| a.winners == 1).unwrap();
    assert_eq!((won.units, won.bids, won.sold), (4, 1, 2));
    assert_ne!(won.kind, AuctionKind::Buy);
    check_proof(&world, won).await;

    let prices = backend.prices().await.unwrap();
    // Nobody competes, so the price is the reserve but for what prorating rounds up.
    let (last, reserve) = (prices[0].last.unwrap(), credits("1"));
    assert!(
        last >= credits("0.9") && last <= credits("1.4"),
        "{last} near {reserve}"
    );
    assert_eq!(
        (prices[0].units_leased, prices[0].buy),
        (2, Some(credits("2")))
    );
    check_prospects(backend).await;

    let why = backend.why(id.clone()).await.unwrap();
    assert!(
        why.checks
            .iter()
            .all(|c| c.met || c.condition == "ranks at work"),
        "{why:?}"
    );

    let record = backend.job(id.clone()).await.unwrap();
    assert!(record.lease.is_some() && record.paid > Credits::ZERO);
    assert!(
        record.price.unwrap() <= record.max_price,
        "never above the bid"
    );
    assert!(record.committed_height < record.opened_height && record.won_height.is_some());
    assert_eq!(record.sellers[0].ranks, [0, 1]);
    assert_eq!(record.sellers[0].name.as_deref(), Some("alpha"));
    let cancelled = backend.cancel(id.clone()).await.unwrap();
    assert_eq!(cancelled.reason, Some(JobReason::Cancelled));
    world.job_in(&id, JobState::Cancelled).await;
    assert!(backend.jobs(false).await.unwrap().is_empty());
    assert_eq!(backend.jobs(true).await.unwrap().len(), 1);
    let short = JobId::try_from("abababab".to_owned()).unwrap();
    assert_eq!(backend.job(short).await.unwrap().id, id, "by its beginning");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_cannot_be_served_are_explained() {
    let world = world().await;
    let backend = &world.backend;
    let code = |want| async move { backend.quote(want).await.unwrap_err().code };
    assert_eq!(
        code(Want {
            class: Some("huge".into()),
            ..want(1)
        })
        .await,
        ErrorCode::NotFound
    );
    let buy = Want {
        how: How::BUY,
        max_price: None,
        ..want(1)
    };
    assert_eq!(code(buy).await, ErrorCode::NoMatch, "nothing is offered");
    let dear = Want {
        max_price: Some(credits("9000000")),
        ..want(4_000)
    };
    let dear = JobRequest {
        want: dear,
        ..request(1)
    };
    let refused = backend
        .submit(JobId::from_bytes([1; 8]), dear)
        .await
        .unwrap_err();
    assert_eq!(refused.code, ErrorCode::InsufficientFunds);
    let id = JobId::from_bytes([2; 8]);
    backend.submit(id.clone(), request(3)).await.unwrap();
    world
        .until(|| async {
            let why = backend.why(id.clone()).await.unwrap();
            (why.reason == Some(JobReason::NoUnits)).then_some(why)
        })
        .await;
    let invite = InviteRequest {
        endowment: credits("7"),
        valid_seconds: 3_600,
    };
    let invite = backend.invite(invite).await.unwrap();
    let invitation = Invitation::from_text(&invite.token).unwrap();
    assert_eq!(invitation.network, world.genesis.network());
    assert_eq!(invitation.grant.grant.endowment, credits("7"));
    assert_eq!(invitation.bootstrap.len(), 1, "this node");
    let metrics = backend.metrics().await;
    assert!(
        metrics.contains("gridbay_market_orders_open 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("gridbay_up 1\n"));
    backend.stop().await.unwrap();
    assert!(*world.stop.borrow());
    world.body.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_that_the_ledger_does_not_take_is_told_in_words() {
    // The key of the node's account is nobody's yet; its validator makes the blocks.
    let world = world_of(6).await;
    let find = |core: &Core| core.state().account_of(&secret(1).public());
    let inviter = world.body.query(find).await.unwrap().unwrap();
    let join = async |token: u8, valid_until: u64, newcomer: u8| {
        let grant = Grant {
            inviter,
            key: secret(1).public(),
            token: secret(token).public(),
            endowment: credits("1"),
            valid_until,
        };
        let network = world.genesis.network();
        let invitation = Invitation {
            network,
            grant: SignedGrant::new(&network, grant, &secret(1)),
            token_seed: [token; 32],
            bootstrap: vec![],
        };
        let keys = vec![AccountKey {
            key: secret(newcomer).public(),
            roles: Roles::ALL,
        }];
        let invitation = Box::new(invitation);
        let command = Command::Join { invitation, keys };
        world.body.command(command).await.unwrap();
    };
    let told = async |word: &'static str| {
        world
            .until(|| async {
                let status = world.backend.node().await.unwrap();
                status.joining.filter(|why| why.contains(word))
            })
            .await
    };
    join(40, 0, 6).await;
    let expired = told("is not valid at").await;
    assert!(
        expired.ends_with("ask for an invitation that is valid now"),
        "{expired}"
    );
    // Somebody else uses the token first.
    join(41, 100_000, 7).await;
    let used = told("was used").await;
    assert!(used.ends_with("ask for a new invitation"), "{used}");
    let findings = world.backend.doctor().await.unwrap();
    let kinds: Vec<Kind> = findings.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [Kind::Invitation]);
    join(42, 100_000, 6).await;
    let status = world
        .until(|| async {
            let status = world.backend.node().await.unwrap();
            status.account.is_some().then_some(status)
        })
        .await;
    assert_eq!(status.joining, None);
    world.body.stop();
}
