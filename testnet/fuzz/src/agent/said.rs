//! What nodes say of leases and copies, signed.

use super::{JOB_ID, card, kept};
use crate::golden::NETWORK;
use crate::ledgers;
use crate::{Verdict, strict};
use gridbay_core::agent::Copy;
use gridbay_core::keeper::{BYTES, Held};
use gridbay_core::relay::{ByRelay, Carried, Link, Links, Signed};

pub(super) fn links() -> Signed<Links> {
    let by = ByRelay {
        ticket: [0x71; 16],
        sent: 70_000,
        received: 5,
        answers: true,
        used: true,
    };
    let link = Link {
        node: ledgers::key(9).public(),
        reached: true,
        relayed: vec![by],
    };
    let said = Links {
        lease: JOB_ID.lease,
        links: vec![link],
    };
    Signed::new(&NETWORK, said, &ledgers::key(9))
}

pub(super) fn carried() -> Signed<Carried> {
    let said = Carried {
        carries: JOB_ID.lease,
        paid_by: None,
        places: card().places,
        left: 1 << 30,
        bytes: vec![[70_000, 5]],
    };
    Signed::new(&NETWORK, said, &ledgers::key(8))
}

pub(super) fn copy() -> Signed<Copy> {
    let said = Copy {
        job: JOB_ID,
        snapshot: kept().snapshot(),
        taken_ms: 1_750_000_000_000,
    };
    Signed::new(&NETWORK, said, &ledgers::key(9))
}

/// A copy as its keeper remembers it.
pub(super) fn held() -> Held {
    Held {
        slot: 3,
        copy: copy(),
        seller: ledgers::key(9).public(),
        buyer: ledgers::key(7).public(),
        gone: Some(70_000),
    }
}

pub(super) fn copies(bytes: &[u8]) -> Verdict {
    let read = Held::decode_all(bytes);
    strict::only::<Vec<Held>>(bytes, BYTES, |held| {
        assert_eq!(read.as_ref(), Ok(held));
    })
}
