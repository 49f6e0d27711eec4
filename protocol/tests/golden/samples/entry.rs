//! Signed entries: every kind, and every variant within a kind.

use super::{NETWORK, block, deadline, key, micros, posted};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, EntryId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::{
    Amendment, Bid, Buy, BuyPart, Claim, Commit, ContractEntry, ContractTerms, Group, JobTerms,
    Open, Reservation, Step,
};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::units::{Credits, Price};

/// The account that all samples speak for.
pub(crate) const ACCOUNT: AccountId = AccountId([0xa1; 32]);
/// Seed of the key that signs the samples without a grant.
pub(crate) const SIGNER: u8 = 1;
/// Seed of the token key that signs the opening by invitation.
pub(crate) const TOKEN: u8 = 9;

/// The body, signed by the key of seed `signer`.
pub(crate) fn signed(body: EntryBody, signer: u8) -> SignedEntry {
    let key = key(signer);
    let entry = Entry {
        network: NETWORK,
        account: ACCOUNT,
        key: key.public(),
        valid_until: 2_400,
        body,
    };
    SignedEntry::new(entry, &key)
}

/// Three keys, each with other roles, in order.
pub(crate) fn keys() -> Vec<AccountKey> {
    let roles = [Roles::ALL, Roles::TRADE, Roles::SPEND.with(Roles::OPERATE)];
    let mut keys: Vec<_> = (2u8..)
        .zip(roles)
        .map(|(seed, roles)| AccountKey {
            key: key(seed).public(),
            roles,
        })
        .collect();
    keys.sort_by_key(|k| k.key);
    keys
}
/// A grant by the signer's key for the token.
pub(crate) fn grant() -> SignedGrant {
    let grant = Grant {
        inviter: ACCOUNT,
        key: key(SIGNER).public(),
        token: key(TOKEN).public(),
        endowment: micros(50_000_000),
        valid_until: 40_000,
    };
    SignedGrant::new(&NETWORK, grant, &key(SIGNER))
}
/// An offer that is also sold at once, from `reclaim`.
pub(crate) fn offer(reclaim: Reclaim) -> OfferTerms {
    OfferTerms {
        label: 7,
        class: ClassId([0xc1; 32]),
        units: 32,
        reserve: Price(1_000),
        buy_price: matches!(reclaim, Reclaim::None).then_some(Price(5_555)),
        reclaim,
        mechanism: Primary::Ausubel,
        node: key(20).public(),
    }
}
/// An offer that is sold under another mechanism first.
pub(super) fn offer_under(mechanism: Primary) -> OfferTerms {
    OfferTerms {
        buy_price: None,
        mechanism,
        ..offer(Reclaim::None)
    }
}
/// Terms of a seller that plans.
pub(crate) const DEADLINE: DeadlineTerms = DeadlineTerms {
    min_gain_ppm: 800_000,
    bond_ppm: 250_000,
};
/// Terms of a pool.
pub(crate) const POOL: PoolTerms = PoolTerms {
    cap_ppm: 500_000,
    sixteenths: 8,
};
/// A bid of two steps.
pub(crate) fn bid() -> Bid {
    let step = |units, price| Step {
        units,
        price: Price(price),
    };
    Bid {
        class: ClassId([0xc1; 32]),
        steps: vec![step(4, 70_000), step(12, 300)],
        min: 2,
        slots: 1_800,
        budget: micros(1_000_000_000),
        stands_until: 12_000,
        work: Hash32([0xee; 32]),
    }
}
/// A reservation of two groups with a channel.
pub(crate) fn reservation() -> Reservation {
    let group = |units, offers: &[u8]| Group {
        units,
        offers: offers.iter().map(|&n| OfferId([n; 32])).collect(),
    };
    Reservation {
        class: ClassId([0xc1; 32]),
        groups: vec![group(2, &[1, 2]), group(3, &[])],
        slots: 32,
        earliest: 1_500,
        latest: 1_540,
        value: micros(1_000_000),
        channels: Some(Channels { low: 1, high: 11 }),
        work: Hash32([0xec; 32]),
    }
}
/// A buy from two named offers.
pub(crate) fn buy() -> Buy {
    let part = BuyPart {
        class: ClassId([0xc1; 32]),
        units: 3,
        offers: vec![OfferId([1; 32]), OfferId([2; 32])],
    };
    Buy {
        parts: vec![part],
        slots: 60,
        limit: micros(99_999),
        stands_until: 2_400,
        surcharge: micros(5_000),
        work: Hash32([0xed; 32]),
    }
}

/// A contract for a thousand jobs.
pub(crate) fn contract() -> ContractTerms {
    ContractTerms {
        provider: AccountId([0xa2; 32]),
        class: ClassId([0xc1; 32]),
        first: 4,
        last: 1_800,
        jobs: 1_000,
        job: JobTerms {
            units: 1,
            slots: 30,
            value: micros(2_000_000),
            hold: 60,
            decay: 120,
            penalty: micros(500_000),
        },
        alpha_ppm: 1_250_000,
        beta16: 32,
        stands_until: 2_400,
    }
}
fn contracts() -> [(&'static str, EntryBody); 6] {
    let contract = OrderId([0xc0; 32]);
    let (job, order) = (OrderId([0x0b; 32]), OrderId([0x0d; 32]));
    let work = Hash32([0xec; 32]);
    let propose = ContractEntry::Propose(Box::new(self::contract()));
    let serve = ContractEntry::Serve {
        contract,
        job,
        order,
    };
    [
        ("propose", propose),
        ("sign", ContractEntry::Sign { contract }),
        ("request", ContractEntry::Request { contract, work }),
        ("close", ContractEntry::Close { contract }),
        ("serve", serve),
        ("complete", ContractEntry::Complete { contract, job }),
    ]
    .map(|(name, entry)| (name, EntryBody::Contract(entry)))
}
/// A claim on a pool of processors and memory.
pub(crate) fn claim() -> Claim {
    Claim {
        offer: OfferId([3; 32]),
        rate: micros(12_345),
        utility: Utility::Log,
        weights: vec![2, 1],
        tasks: 100,
        slots: 1_800,
        budget: micros(1_000_000_000),
        stands_until: 12_000,
        work: Hash32([0xec; 32]),
    }
}

/// Receipts of the first two sample validators for one entry.
pub(crate) fn receipts(entry: EntryId) -> Vec<SignedReceipt> {
    let receipt = |n| {
        let receipt = Receipt {
            entry,
            height: 2_396,
            validator: block::member(n),
        };
        SignedReceipt::new(receipt, &NETWORK, &block::key_of(&receipt.validator))
    };
    vec![receipt(0), receipt(1)]
}

fn offers() -> [(&'static str, EntryBody); 5] {
    [
        ("set_offer.firm", offer(Reclaim::None)),
        ("set_offer.reservation", offer_under(Primary::Reservation)),
        (
            "set_offer.deadline",
            offer_under(Primary::Deadline(DEADLINE)),
        ),
        ("set_offer.share", offer_under(Primary::Share(POOL))),
        ("set_offer.notice", offer(Reclaim::Notice(300))),
    ]
    .map(|(name, terms)| (name, EntryBody::SetOffer(terms)))
}
fn deadlines() -> [(&'static str, EntryBody); 3] {
    [
        ("deadline.linear", Shape::Linear),
        ("deadline.convex", Shape::Convex),
        ("deadline.concave", Shape::Concave),
    ]
    .map(|(name, shape)| (name, EntryBody::Deadline(deadline::order(shape))))
}

fn openings(open: &Open) -> [(&'static str, EntryBody); 3] {
    let amendment = Amendment {
        order: OrderId([0xad; 32]),
        bid: bid(),
    };
    let with = |wish| Open {
        wish,
        ..open.clone()
    };
    [
        ("open", open.clone()),
        ("open.reservation", with(reservation().into())),
        ("open.amendment", with(amendment.into())),
    ]
    .map(|(name, open)| (name, EntryBody::Open(open)))
}

fn buys() -> [(&'static str, EntryBody); 3] {
    let elsewhere = BuyPart::anywhere(ClassId([0xc2; 32]), 5);
    let group = Buy {
        parts: [buy().parts, vec![elsewhere]].concat(),
        ..buy()
    };
    let anywhere = Buy {
        parts: vec![BuyPart::anywhere(ClassId([0xc1; 32]), 3)],
        stands_until: 0,
        surcharge: micros(0),
        ..buy()
    };
    [
        ("buy.anywhere", anywhere),
        ("buy.named", buy()),
        ("buy.group", group),
    ]
    .map(|(name, buy)| (name, EntryBody::Buy(buy)))
}

fn claims() -> [(&'static str, EntryBody); 2] {
    let linear = Claim {
        utility: Utility::Linear,
        ..claim()
    };
    [("share.log", claim()), ("share.linear", linear)]
        .map(|(name, claim)| (name, EntryBody::Share(claim)))
}

/// All samples by name; names begin with the name of the kind.
pub(crate) fn all() -> Vec<(&'static str, SignedEntry)> {
    let open_direct = EntryBody::OpenAccount {
        grant: None,
        keys: keys(),
        endowment: micros(1),
    };
    let open_granted = EntryBody::OpenAccount {
        grant: Some(Box::new(grant())),
        keys: keys(),
        endowment: Credits::ZERO,
    };
    let to = AccountId([0xa2; 32]);
    let transfer = EntryBody::Transfer {
        to,
        amount: micros(10_000_000),
        memo: Hash32::default(),
    };
    let commit = Commit {
        class: ClassId([0xc1; 32]),
        seal: bid().seal(&NETWORK, &ACCOUNT, &[0x5a; 32]),
        bracket: 4,
    };
    let open = Open {
        commit: EntryId([0xe1; 32]),
        wish: bid().into(),
        salt: [0x5a; 32],
    };
    let mut appeal = Appeal {
        key: key(SIGNER).public(),
        valid_until: 2_399,
        open: open.clone(),
        receipts: vec![],
    };
    appeal.receipts = receipts(appeal.opening(&NETWORK, &ACCOUNT));
    let (lease, order) = (LeaseId([0x1e; 32]), OrderId([0x0d; 32]));
    let tip = Hash32([0xbe; 32]);
    let (offer, slot) = (OfferId([0x0f; 32]), 3);
    let bodies = [
        ("set_keys", EntryBody::SetKeys { keys: keys() }),
        ("open_account.direct", open_direct),
        ("open_account.granted", open_granted),
        ("register_beacon", EntryBody::RegisterBeacon { tip }),
        ("close_account", EntryBody::CloseAccount { to }),
        ("transfer", transfer),
        ("withdraw_offer", EntryBody::WithdrawOffer { label: 7 }),
        ("deliver", EntryBody::Deliver { lease }),
        ("fail", EntryBody::Fail { lease }),
        ("cancel", EntryBody::Cancel { order }),
        ("heartbeat", EntryBody::Heartbeat { label: 7 }),
        ("complain", EntryBody::Complain { lease, offer, slot }),
        ("commit", EntryBody::Commit(commit)),
        ("appeal", EntryBody::Appeal(Box::new(appeal))),
    ];
    bodies
        .into_iter()
        .chain(openings(&open))
        .chain(buys())
        .chain(offers())
        .chain(deadlines())
        .chain(contracts())
        .chain(claims())
        .chain(posted::entries())
        .map(|(name, body)| {
            let by_token = name == "open_account.granted";
            (name, signed(body, if by_token { TOKEN } else { SIGNER }))
        })
        .collect()
}
