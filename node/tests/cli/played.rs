//! Answers that a node gives only after hours, with luck, or about peers that are not there: played
//! over those of a real node, so that the program's output for them can be checked word by word.

use crate::world::credits;
use axum::body::Bytes;
use axum::extract::Path as Place;
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use gridbay_node::api::types::*;
use gridbay_node::api::{ApiError, ErrorCode};
use gridbay_node::doctor::Finding;
use gridbay_node::overlay::{Nat, Reach, Router as Gateway};
use gridbay_protocol::ids::{AccountId, EntryId, NetworkId};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// The output of every job.
pub(crate) const STDOUT: &[u8] = b"one\ntwo\nthree";
/// The contents of each of their files.
pub(crate) const FILE: &str = "12345";

/// The name of one that puts out more than is kept.
pub(crate) const LOUD: &str = "loud";

/// A file that none of them brings back.
pub(crate) const ABSENT: &str = "absent";

/// Jobs that end as soon as they are sent.
pub(crate) struct Jobs {
    pub(crate) sent: Mutex<Vec<(JobRecord, JobRequest)>>,
    pub(crate) spendable: Credits,
    /// Of each job, at its end.
    pub(crate) locked: Credits,
    pub(crate) exit: JobExit,
    /// Whether they wait instead of ending, in a network that makes no blocks.
    pub(crate) stuck: bool,
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs {
            sent: Mutex::default(),
            spendable: credits("100"),
            locked: credits("0.75"),
            exit: JobExit::Code(0),
            stuck: false,
        }
    }
}

impl Jobs {
    /// Their addresses.
    pub(crate) fn routes(self: &Arc<Jobs>) -> Router {
        Router::new()
            .route("/api/v1/quote", post(quote))
            .route("/api/v1/jobs", get(list).post(submit))
            .route("/api/v1/jobs/{id}", get(describe))
            .route("/api/v1/jobs/{id}/why", get(why))
            .route("/api/v1/jobs/{id}/cancel", post(describe))
            .route("/api/v1/jobs/{id}/logs", get(logs))
            .route("/api/v1/jobs/{id}/files/{rank}/{*path}", get(async || FILE))
            .with_state(Arc::clone(self))
    }

    fn record(&self, id: JobId, request: &JobRequest) -> JobRecord {
        let failed = self.exit != JobExit::Code(0);
        let file = |path: &String| JobFile {
            rank: 0,
            path: path.clone(),
            bytes: FILE.len() as u64,
        };
        JobRecord {
            project: request.project.clone(),
            user: None,
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
            state: match (self.stuck, failed) {
                (true, _) => JobState::Bidding,
                (false, true) => JobState::Failed,
                (false, false) => JobState::Done,
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
                dropped: match request.name.as_deref() {
                    Some(LOUD) => 40,
                    _ => 0,
                },
            }],
            files: request
                .outputs
                .iter()
                .filter(|path| *path != ABSENT)
                .map(file)
                .collect(),
            paid: credits("0.25"),
            locked: self.locked,
            price: Some(credits("1.5")),
            preemptions: 0,
            share: None,
            checkpoint: None,
            attempts: Vec::new(),
            lost_seconds: 0,
            networks: vec![],
            worth: request.worth,
            left_seconds: None,
        }
    }
}

/// A body, whatever kind its sender calls it.
struct Sent<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Sent<T> {
    type Rejection = Infallible;
    async fn from_request(request: Request, at: &S) -> Result<Self, Infallible> {
        let bytes = Bytes::from_request(request, at).await.unwrap();
        Ok(Sent(serde_json::from_slice(&bytes).unwrap()))
    }
}

async fn quote(State(jobs): State<Arc<Jobs>>, Sent(want): Sent<Want>) -> Json<Quote> {
    let max_price = want.max_price.unwrap_or(credits("10"));
    let most = max_price.checked_mul(want.nodes.into()).unwrap();
    Json(Quote {
        posted: None,
        among: None,
        class: want.class.unwrap_or("small".into()),
        nodes: want.nodes,
        seconds: want.seconds,
        slots: 2,
        max_price,
        most,
        likely: Some(credits("0.5")),
        needed_now: credits("0.1"),
        spendable: jobs.spendable,
        funded: most <= jobs.spendable,
        units_offered: 8,
        units_free: 8,
        nodes_in_reach: None,
        asked: None,
        too_low: false,
        deadline: None,
        share: None,
    })
}

async fn submit(
    State(jobs): State<Arc<Jobs>>,
    Sent(request): Sent<JobRequest>,
) -> (StatusCode, Json<JobRecord>) {
    let mut sent = jobs.sent.lock().unwrap();
    let record = jobs.record(JobId::from_bytes([sent.len() as u8; 8]), &request);
    sent.push((record.clone(), request));
    (StatusCode::CREATED, Json(record))
}

async fn list(State(jobs): State<Arc<Jobs>>, Query(which): Query<Which>) -> Json<Vec<JobRecord>> {
    let sent = jobs.sent.lock().unwrap();
    let all = which.all.is_some_and(|text| text != "false");
    // They have all ended.
    let shown = sent.iter().filter(|_| all);
    Json(shown.map(|(record, _)| record.clone()).collect())
}

async fn describe(State(jobs): State<Arc<Jobs>>, Place(id): Place<JobId>) -> Json<JobRecord> {
    let sent = jobs.sent.lock().unwrap();
    let (record, _) = sent.iter().find(|(record, _)| record.id == id).unwrap();
    Json(record.clone())
}

/// Whose validator does not answer in a network that makes no blocks.
pub(crate) fn stall() -> Stall {
    Stall {
        ms: 42_000,
        answering: 2,
        quorum: 3,
        power: 4,
        silent: ["b", "c"]
            .map(|name| SilentValidator {
                name: Some(name.into()),
                node: SecretKey::from_seed(&[2; 32]).public(),
            })
            .into(),
    }
}

async fn why(State(jobs): State<Arc<Jobs>>, Place(id): Place<JobId>) -> Json<Why> {
    let Json(record) = describe(State(jobs), Place(id)).await;
    Json(Why {
        id: record.id,
        state: record.state,
        reason: record.reason,
        refusal: None,
        summary: "It waits for the close of round 4.".into(),
        checks: vec![],
        remedies: vec![],
        stall: Some(stall().in_words()),
        closes_ms: None,
    })
}

#[derive(Deserialize)]
struct Which {
    all: Option<String>,
}

#[derive(Deserialize)]
struct Piece {
    rank: u32,
    stream: Stream,
    from: u64,
    attempt: Option<u32>,
}

/// Four bytes at a time, so that readers have to put pieces together. Each rank had one attempt.
async fn logs(
    State(jobs): State<Arc<Jobs>>,
    Place(id): Place<JobId>,
    Query(piece): Query<Piece>,
) -> Result<impl IntoResponse, ApiError> {
    let Json(record) = describe(State(jobs), Place(id)).await;
    let none = |why: &str| Err(ApiError::new(ErrorCode::NotFound, why, "look"));
    if piece.rank >= record.nodes {
        return none("no such rank");
    }
    if piece.attempt.is_some_and(|attempt| attempt > 0) {
        return none("no such attempt");
    }
    let said = match (piece.rank, piece.stream) {
        (0, Stream::Stdout) => STDOUT,
        _ => &[],
    };
    let rest = said.get(piece.from as usize..).unwrap_or(&[]);
    let bytes = &rest[..rest.len().min(4)];
    let next = piece.from + bytes.len() as u64;
    let headers = [
        ("gridbay-next-offset", next.to_string()),
        ("gridbay-last", (bytes.len() == rest.len()).to_string()),
        ("gridbay-present-attempt", "0".to_owned()),
    ];
    Ok((headers, bytes))
}

/// The same answer to each `GET` of an address.
fn got(path: &str, answer: &impl Serialize) -> Router {
    let answer = serde_json::to_value(answer).unwrap();
    Router::new().route(path, get(async || Json(answer)))
}

/// A node with debts.
pub(crate) fn status() -> Router {
    got("/api/v1/node", &node(None))
}

/// One whose network makes no blocks.
pub(crate) fn stalled() -> Router {
    got("/api/v1/node", &node(Some(stall())))
}

fn node(stall: Option<Stall>) -> NodeStatus {
    NodeStatus {
        state: NodeState::Ready,
        name: "played".into(),
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
        stall,
    }
}

/// Such findings.
pub(crate) fn doctor(findings: &[Finding]) -> Router {
    got("/api/v1/doctor", &findings)
}

/// An invitation with this text.
pub(crate) fn invitation(token: String) -> Router {
    let invite = async |Sent(asked): Sent<InviteRequest>| {
        Json(Invite {
            token,
            inviter: AccountId([4; 32]),
            endowment: asked.endowment,
            valid_until: 99,
        })
    };
    Router::new().route("/api/v1/invitations", post(invite))
}

/// An account that closes.
pub(crate) fn closing() -> Router {
    let close = async |Sent(asked): Sent<CloseRequest>| {
        Json(ClosedAccount {
            entry: EntryId([9; 32]),
            height: 7,
            to: asked.to,
            amount: credits("12.5"),
        })
    };
    Router::new().route("/api/v1/ledger/close", post(close))
}

/// A relay.
const RELAY: &str = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp";
/// A peer.
pub(crate) const PEER: &str = "12D3KooWHdiAxVd8uMQR1hGWXccidmfCwLqcMpGwR6QcTP6QRMuD";

/// A node in a home, and its one peer, which is reached directly from the second ping on.
pub(crate) fn peers() -> Router {
    let list = PeerList {
        me: Ourselves {
            peer: RELAY.to_owned(),
            node: SecretKey::from_seed(&[2; 32]).public(),
            reach: Reach::Private,
            nat: Nat::Cone,
            external: vec![],
            refuted: vec![],
            relays: vec![RELAY.to_owned()],
            router: Gateway::None,
            places_given: 0,
            circuits: 0,
            direct: 1,
            relayed: 0,
            blocked: vec![],
            trusted: vec![],
        },
        peers: vec![peer()],
    };
    let pings = Arc::new(AtomicU32::new(0));
    let pinging = Router::new().route("/api/v1/peers/ping", post(ping));
    got("/api/v1/peers", &list)
        .merge(pinging.with_state(pings))
        .route("/api/v1/peers/mark", post(mark))
}

fn peer() -> PeerLine {
    PeerLine {
        peer: PEER.to_owned(),
        node: Some(SecretKey::from_seed(&[5; 32]).public()),
        name: Some("ada".to_owned()),
        path: Path::Quic,
        via: None,
        address: "/ip4/192.0.2.7/udp/7411/quic-v1".to_owned(),
        rtt_us: Some(1_234),
        score: 0,
        connections: 1,
        kept: true,
        mesh: true,
        relays: false,
        trusted: false,
    }
}

async fn ping(State(pings): State<Arc<AtomicU32>>) -> Json<Pinged> {
    let relayed = pings.fetch_add(1, Ordering::Relaxed) == 0;
    Json(Pinged {
        peer: PEER.to_owned(),
        micros: 12_345,
        path: if relayed { Path::Relayed } else { Path::Quic },
        via: relayed.then(|| RELAY.to_owned()),
        address: peer().address,
    })
}

async fn mark(Sent(asked): Sent<MarkRequest>) -> Json<Marked> {
    Json(Marked {
        peer: asked.who,
        mark: asked.set.then_some(asked.mark),
        changed: true,
    })
}
