//! The messages of agents between nodes, their records on disk, and the adverts that they believe.

mod said;

use crate::golden::{self, Family, NETWORK};
use crate::ledgers::{self, Ledger};
use crate::{Target, Verdict, decoder, strict};
use gridbay_core::adverts::{self, Adverts, Heard};
use gridbay_core::agent::{
    AgentReply, AgentRequest, JobReport, KeepRefusal, POLL_JOBS, Phase, PollJob, REPLY_BYTES,
    REQUEST_BYTES, RunId, SignedStart, Start, StartRefusal,
};
use gridbay_core::buy::{BidTerms, BuyTerms, NewOrder, Relaying, ReserveTerms, Terms};
use gridbay_core::buyer::record::{RECORD_BYTES, Record};
use gridbay_core::cluster::{Card, Cluster, Member, RANKS, RelayWay, Visit};
use gridbay_core::key::OrderKey;
use gridbay_core::presence::{Presence, Reach, Way};
use gridbay_core::relay::{Signed, Tickets, Wish};
use gridbay_core::seller::JobMemo;
use gridbay_core::withheld::{BYTES as WITHHELD_BYTES, Withheld};
use gridbay_protocol::checkpoint::{MANIFEST_BYTES, Manifest};
use gridbay_protocol::codec;
use gridbay_protocol::ids::{AccountId, ClassId, ContentId, LeaseId, OfferId};
use gridbay_protocol::job::{InputFile, JobExit, JobSpec, path_is_inside};
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::offer::OfferTerms;
use gridbay_protocol::order::{BuyPart, Group, Step};
use gridbay_protocol::units::{Credits, Price};
use said::{carried, copy, links};
use std::sync::LazyLock;

pub(crate) const REQUEST: Target = decoder(
    "agent_request",
    "bytes as a request of another node's agent: one encoding; names made of it are safe for a folder",
    request,
    || requests().iter().map(codec::encode).collect(),
);
pub(crate) const REPLY: Target = decoder(
    "agent_reply",
    "bytes as an answer of another node's agent: one encoding",
    |bytes| strict::only::<AgentReply>(bytes, REPLY_BYTES, |_| {}),
    || replies().iter().map(codec::encode).collect(),
);
pub(crate) const START: Target = decoder(
    "signed_start",
    "bytes as a buyer's order to start a job: one encoding, and none verifies that was not signed",
    start,
    || vec![codec::encode(&signed_start())],
);
pub(crate) const ORDER_RECORD: Target = decoder(
    "order_record",
    "bytes on disk as a buyer's order: one encoding",
    order_record,
    || records().iter().map(codec::encode).collect(),
);
pub(crate) const JOB_MEMO: Target = decoder(
    "job_memo",
    "bytes on disk as a seller's memory of a job: one encoding",
    job_memo,
    || vec![codec::encode(&memo())],
);
pub(crate) const MANIFEST: Target = decoder(
    "checkpoint_manifest",
    "bytes of a seller as a checkpoint's list of files: one encoding, and paths that stay inside",
    manifest,
    || vec![codec::encode(&kept())],
);
pub(crate) const WITHHELD: Target = decoder(
    "withheld_offers",
    "bytes on disk as the offers that a short disk holds back: one encoding",
    withheld,
    || {
        let ledger = Ledger::busy();
        let terms = ledger.state.offers().map(|(_, offer)| offer.terms.clone());
        vec![codec::encode(&terms.collect::<Vec<OfferTerms>>())]
    },
);
pub(crate) const COPIES: Target = decoder(
    "kept_copies",
    "bytes on disk as what a node knows of the copies that it keeps: one encoding",
    said::copies,
    || vec![codec::encode(&vec![said::held()])],
);
pub(crate) const ADVERTS: Target = decoder(
    "adverts_heard",
    "gossiped bytes to a node that knows the ledger: only a seller's own signed advert is passed on",
    heard,
    || vec![ADVERT.clone()],
);

const JOB_ID: RunId = RunId {
    lease: LeaseId([0x1e; 32]),
    task: 3,
    attempt: 1,
};

fn spec() -> JobSpec {
    golden::values::<JobSpec>(Family::Job).remove(0)
}

fn signed_start() -> SignedStart {
    let key = ledgers::key(9);
    let start = Start {
        job: JOB_ID,
        offer: OfferId([0x0f; 32]),
        tasks: 8,
        spec: spec(),
        salt: [0x5a; 32],
        key: key.public(),
        resume: None,
    };
    SignedStart::new(&NETWORK, start, &key)
}

fn card() -> Card {
    Card {
        public: [0xca; 32],
        places: vec!["192.0.2.7:4100".into(), "[2001:db8::7]:4100".into()],
        outside: Some("198.51.100.7:40100".into()),
    }
}

fn cluster() -> Cluster {
    let member = Member {
        node: ledgers::key(9).public(),
        ranks: vec![1, 4],
        card: card(),
        relays: vec![RelayWay {
            node: ledgers::key(8).public(),
            place: "192.0.2.9:7412".into(),
            ticket: [0x71; 16],
        }],
    };
    Cluster {
        lease: JOB_ID.lease,
        secret: [0x5e; 32],
        ranks: vec![0, 3],
        others: vec![member],
    }
}

fn wish() -> Signed<Wish> {
    let key = ledgers::key(9);
    let wish = Wish {
        relay: ledgers::key(8).public(),
        carries: JOB_ID.lease,
        paid_by: Some(LeaseId([0x2e; 32])),
        pairs: vec![Tickets([0x71; 32])],
        key: key.public(),
    };
    Signed::new(&NETWORK, wish, &key)
}

fn visit() -> Signed<Visit> {
    let key = ledgers::key(9);
    let visit = Visit {
        lease: JOB_ID.lease,
        node: ledgers::key(8).public(),
        owner: ledgers::key(7).public(),
        key: key.public(),
    };
    Signed::new(&NETWORK, visit, &key)
}

fn requests() -> Vec<AgentRequest> {
    let poll = PollJob {
        job: JOB_ID,
        stdout_from: 70_000,
        stderr_from: 0,
    };
    vec![
        AgentRequest::Genesis,
        AgentRequest::Start(Box::new(signed_start())),
        AgentRequest::Stop(JOB_ID),
        AgentRequest::Poll(vec![poll; POLL_JOBS]),
        AgentRequest::Content {
            content: ContentId([0xcc; 32]),
            from: 0,
        },
        AgentRequest::Output {
            job: JOB_ID,
            path: "out/result.csv".into(),
            from: 512,
        },
        AgentRequest::Connect(Box::new(cluster())),
        AgentRequest::Links(JOB_ID.lease),
        AgentRequest::Visit(Box::new(visit())),
        AgentRequest::Relay(Box::new(wish())),
        AgentRequest::Mirror,
        AgentRequest::Advert,
        AgentRequest::Adverts(None),
        AgentRequest::Adverts(Some((AccountId([0xaa; 32]), ledgers::key(9).public()))),
        AgentRequest::Checkpoint(JOB_ID),
        AgentRequest::Kept {
            job: JOB_ID,
            content: ContentId([0xcd; 32]),
            from: 1 << 19,
            seller: None,
        },
        AgentRequest::Kept {
            job: JOB_ID,
            content: ContentId([0xcd; 32]),
            from: 1 << 19,
            seller: Some(ledgers::key(9).public()),
        },
        AgentRequest::Keep(Box::new(copy())),
        AgentRequest::CopyOf {
            job: JOB_ID,
            seller: ledgers::key(9).public(),
        },
    ]
}

fn replies() -> Vec<AgentReply> {
    let exits = golden::values::<JobExit>(Family::Job).into_iter();
    let ended = exits.map(|exit| Phase::Ended {
        exit,
        started_ms: 1_750_000_000_000,
        ended_ms: 1_750_000_001_000,
        cpu_ms: 900,
        rss_kib: 4_096,
    });
    let running = Phase::Running {
        started_ms: 1_750_000_000_000,
    };
    let report = |phase| JobReport {
        job: JOB_ID,
        phase,
        stdout: b"hello\n".to_vec(),
        stderr: vec![],
        stdout_len: 6,
        stderr_len: 0,
        dropped: match phase {
            Phase::Ended {
                exit: JobExit::Signal(_),
                ..
            } => 99,
            _ => 0,
        },
    };
    let phases = [Phase::Unknown, Phase::Staging, running];
    vec![
        AgentReply::Ok,
        AgentReply::Refused(StartRefusal::NoUnit),
        AgentReply::Reports(phases.into_iter().chain(ended).map(report).collect()),
        AgentReply::Chunk {
            total: 5,
            bytes: b"hello".to_vec(),
        },
        AgentReply::NotFound,
        AgentReply::Present(Box::new(presence())),
        AgentReply::Links(Box::new(links())),
        AgentReply::Carried(Box::new(carried())),
        AgentReply::Mirror(7_412),
        AgentReply::Adverts(golden::values(Family::Advert)),
        AgentReply::NotKept(KeepRefusal::NoLease),
        AgentReply::Copy(Box::new(copy())),
        AgentReply::Checkpoint {
            manifest: b"a manifest".to_vec(),
            age_ms: 1_500,
        },
    ]
}

fn presence() -> Presence {
    let reach = |rank, way| Reach {
        rank,
        way,
        reached_ms: way.map(|_| 4_000),
        round_trip_us: way.map(|_| 310),
        mtu: way.map(|_| 8_900),
        handshake_ms: way.map(|_| 90_000),
        sent: 12,
        received: 1 << 40,
        probes: (7, 6),
    };
    Presence {
        card: card(),
        reach: vec![reach(1, Some(Way::Relay)), reach(2, None)],
    }
}

fn records() -> Vec<Record> {
    let limit = Credits::from_micros(99_999).expect("in range");
    let step = |units, price| Step {
        units,
        price: Price(price),
    };
    let sealed = Terms::Sealed(BidTerms {
        steps: vec![step(4, 70_000), step(12, 300)],
        min: 2,
        budget: limit,
        patience: 2_400,
    });
    let buy = Terms::Buy(BuyTerms {
        parts: vec![BuyPart {
            class: ClassId([0xc1; 32]),
            units: 3,
            offers: vec![OfferId([1; 32])],
        }],
        limit,
        patience: 0,
        surcharge: Credits::ZERO,
    });
    let record = |terms| {
        Record::new(NewOrder {
            worth: None,
            relay: Relaying::Free,
            request: None,
            key: OrderKey(0x0123_4567_89ab_cdef),
            entropy: [0xe7; 32],
            name: "sweep".into(),
            accepted_ms: 1_750_000_000_000,
            class: ClassId([0xc1; 32]),
            terms,
            slots: 60,
            tasks: 3,
            spec: spec(),
        })
    };
    let reserve = Terms::Reserve(ReserveTerms {
        groups: vec![Group {
            units: 3,
            offers: vec![OfferId([2; 32])],
        }],
        earliest: 40,
        latest: 90,
        value: limit,
        channels: Some(Channels { low: 1, high: 8 }),
    });
    [sealed, buy, reserve].map(record).into()
}

fn memo() -> JobMemo {
    JobMemo {
        job: JOB_ID,
        offer: OfferId([0x0f; 32]),
        buyer: ledgers::key(9).public(),
        spec: spec(),
    }
}

fn request(bytes: &[u8]) -> Verdict {
    strict::only::<AgentRequest>(bytes, REQUEST_BYTES, |request| match request {
        AgentRequest::Stop(job) => {
            let name = job.to_string();
            let safe = |c: char| c.is_ascii_hexdigit() || c == '-';
            assert!(name.len() < 64 && name.chars().all(safe), "{name}");
        }
        AgentRequest::Start(signed) => assert!(
            signed.verify(&NETWORK).is_err() || **signed == signed_start(),
            "a forged start"
        ),
        AgentRequest::Connect(cluster) if cluster.is_valid() => {
            let others = cluster.others.iter().flat_map(|m| &m.ranks);
            let mut ranks: Vec<u32> = others.chain(&cluster.ranks).copied().collect();
            let all = ranks.len();
            ranks.sort_unstable();
            ranks.dedup();
            assert!(ranks.len() == all && all <= RANKS as usize, "{cluster:?}");
        }
        _ => {}
    })
}

fn start(bytes: &[u8]) -> Verdict {
    strict::only::<SignedStart>(bytes, REQUEST_BYTES, |signed| {
        assert_eq!(signed.verify(&NETWORK).is_ok(), *signed == signed_start());
    })
}

fn order_record(bytes: &[u8]) -> Verdict {
    let read = Record::decode(bytes);
    strict::only::<Record>(bytes, RECORD_BYTES, |record| {
        assert_eq!(read.as_ref(), Ok(record));
        assert_ne!(record.order.work_salt(), record.seal_salt());
    })
}

fn job_memo(bytes: &[u8]) -> Verdict {
    let read = JobMemo::decode(bytes);
    strict::only::<JobMemo>(bytes, REQUEST_BYTES, |memo| {
        assert_eq!(read.as_ref(), Ok(memo));
        memo.spec.is_valid();
    })
}

/// Two files, one of them empty.
fn kept() -> Manifest {
    let file = |path: &str, bytes| InputFile {
        path: path.to_owned(),
        content: ContentId([0xcc; 32]),
        bytes,
        executable: false,
    };
    Manifest {
        files: vec![file("count", 3), file("state/0", 0)],
    }
}

fn manifest(bytes: &[u8]) -> Verdict {
    let read = Manifest::decode(bytes);
    strict::only::<Manifest>(bytes, MANIFEST_BYTES, |manifest| {
        assert_eq!(read.is_some(), manifest.is_valid());
        if let Some(read) = &read {
            assert_eq!(read, manifest);
            let inside = |file: &InputFile| path_is_inside(&file.path);
            assert!(manifest.files.iter().all(inside), "{manifest:?}");
        }
    })
}

fn withheld(bytes: &[u8]) -> Verdict {
    let read = Withheld::decode(bytes);
    strict::only::<Vec<OfferTerms>>(bytes, WITHHELD_BYTES, |terms| {
        assert_eq!(read.as_ref(), Ok(terms));
    })
}

/// The advert of member 1 of the busy ledger.
static ADVERT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let ledger = Ledger::busy();
    let (seller, node) = (ledger.member(1), ledgers::key(150).public());
    Adverts::default()
        .say(&ledger.state, seller, node, &ledgers::key(1), 0)
        .expect("a seller with offers has something to say")
});

fn heard(bytes: &[u8]) -> Verdict {
    let ledger = Ledger::busy_ref();
    let mut adverts = Adverts::default();
    let verdict = adverts.hear(&ledger.state, Heard::Told, 0, bytes);
    let accepted = matches!(verdict, adverts::Verdict::Accept);
    assert_eq!(accepted, bytes == *ADVERT, "{verdict:?}");
    assert_eq!(adverts.live(&ledger.state).count(), usize::from(accepted));
    if accepted {
        let again = adverts.hear(&ledger.state, Heard::Told, 0, bytes);
        assert!(matches!(again, adverts::Verdict::Ignore), "{again:?}");
    }
    Verdict::of(accepted)
}
