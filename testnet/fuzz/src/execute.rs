//! Execution of blocks: markets made of the bytes, and blocks that somebody changed.

use crate::ledgers::{self, Ledger, MEMBERS, SALT, credits, key};
use crate::mutate;
use crate::orders;
use crate::reader::Reader;
use crate::{Target, Verdict, machine};
use gridbay_ledger::{BlockRefusal, CheckedBlock, State};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::block::Block;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::{Commit, Open, Wish};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Price;
use std::sync::{Arc, LazyLock};

pub(crate) const MARKET: Target = machine(
    "execute_market",
    "blocks of entries chosen by the bytes: proposer and validator agree, money is conserved and is where \
     the postings say, what the proposer left out is refused from others",
    market,
    || mutate::tapes(24, 320),
    80,
);
pub(crate) const FORGED: Target = machine(
    "execute_forged",
    "bytes as the next block of a busy ledger: executed only if every root is right",
    forged,
    || NEXT.iter().map(Block::encode).collect(),
    1_000,
);

const BLOCKS: usize = 6;
const ENTRIES: usize = 6;

fn market(bytes: &[u8]) -> Verdict {
    let reader = &mut Reader::new(bytes);
    let mut ledger = Ledger::busy();
    let mut twin = ledger.state.clone();
    let mut taken = 0;
    for _ in 0..BLOCKS {
        let wanted = reader.below(ENTRIES + 1);
        let entries: Vec<_> = (0..wanted)
            .filter_map(|_| entry(reader, &mut ledger))
            .collect();
        taken += block(&mut ledger, &mut twin, entries);
        if reader.is_empty() {
            break;
        }
    }
    Verdict::of(taken > 0)
}

/// One block, made by one state and judged by the other. Returns how many entries took effect.
fn block(ledger: &mut Ledger, twin: &mut State, entries: Vec<Arc<Authentic>>) -> usize {
    let network = ledger.state.network();
    let proposed = ledger.state.propose(ledger.draft(entries.clone()));
    let made = proposed.block.block();
    let read = Block::decode(&made.encode()).expect("a proposer's block decodes");
    let checked = CheckedBlock::check(&network, read, |_, _| None).expect("it passes the checks");
    let delta = twin.execute(&checked).expect("a validator agrees");
    assert_eq!(delta.effects(), proposed.delta.effects());
    assert_eq!(delta.state_root(), proposed.delta.state_root());
    let left = proposed.left_out.first().map(|(id, _)| *id);
    if let Some(left) = entries.iter().find(|entry| Some(entry.id()) == left) {
        assert_refused(twin, made, left.signed());
    }
    let taken = made.entries.len();
    twin.commit(delta);
    ledger.adopt(proposed);
    assert_eq!(ledger.state.root(), twin.root());
    assert_money(ledger);
    taken
}

/// An entry that the proposer left out makes the block invalid wherever it stands.
fn assert_refused(state: &State, made: &Block, entry: &SignedEntry) {
    for at in 0..=made.entries.len() {
        let mut worse = made.clone();
        worse.entries.insert(at, entry.clone());
        let ids: Vec<[u8; 32]> = worse.entries.iter().map(|e| e.id().0).collect();
        worse.header.entries_root = Hash32(gridbay_ledger::log::merkle_root(&ids));
        let checked = CheckedBlock::check(&state.network(), worse, |_, _| None);
        let done = checked.and_then(|checked| state.execute(&checked));
        // The roots are judged last: to get there, the entry was admitted.
        let admitted = matches!(done, Ok(_) | Err(BlockRefusal::Root(_)));
        assert!(!admitted, "what was left out is admitted at {at}: {done:?}");
    }
}

/// The state holds the money where the postings put it, and none besides.
fn assert_money(ledger: &Ledger) {
    let purses = &ledger.purses;
    for (purse, amount) in purses {
        assert_eq!(i128::from(ledger.state.purse(purse)), *amount, "{purse:?}");
    }
    let totals = ledger.state.totals();
    assert_eq!(
        i128::from(totals.minted.micros()),
        purses.values().sum::<i128>()
    );
    let escrow = purses
        .iter()
        .filter(|(purse, _)| matches!(purse, Purse::Escrow(_)));
    let escrow = escrow.map(|(_, amount)| *amount).sum::<i128>();
    assert_eq!(i128::from(totals.escrow.micros()), escrow);
}

/// An entry of any kind, mostly of somebody who may send it; `None` if its values are out of range.
fn entry(reader: &mut Reader<'_>, ledger: &mut Ledger) -> Option<Arc<Authentic>> {
    let n = reader.below(usize::from(MEMBERS)) as u8 + 1;
    let until = match reader.below(8) {
        0 => reader.number(),
        _ => ledger.state.height() + 40,
    };
    let (mut account, mut signer) = (ledger.member(n), key(n));
    if reader.once_in(16) {
        account = AccountId([reader.byte(); 32]);
    }
    if reader.once_in(16) {
        signer = key(reader.byte());
    }
    let body = body(reader, ledger, n, &mut signer)?;
    let sealed = match &body {
        EntryBody::Commit(_) => ledger.sealed.pop(),
        _ => None,
    };
    let entry = ledger.signed(account, &signer, until, body);
    if let (Some((n, _, wish)), Some(entry)) = (sealed, &entry) {
        ledger.sealed.push((n, entry.id(), wish));
    }
    entry
}

fn body(
    reader: &mut Reader<'_>,
    ledger: &mut Ledger,
    n: u8,
    signer: &mut SecretKey,
) -> Option<EntryBody> {
    let leases: Vec<LeaseId> = ledger.state.leases().map(|(id, _)| *id).collect();
    let orders: Vec<OrderId> = ledger.state.orders().map(|(id, _)| *id).collect();
    let lease = reader.pick(&leases).unwrap_or(LeaseId([5; 32]));
    Some(match reader.below(22) {
        0 => EntryBody::Transfer {
            to: ledger.member(reader.below(4) as u8 + 1),
            amount: credits(reader.number()),
            memo: Hash32([reader.byte(); 32]),
        },
        1 => EntryBody::SetKeys {
            keys: account_keys(reader, n),
        },
        2 => opening(reader, ledger, n, signer),
        3 => EntryBody::RegisterBeacon {
            tip: Hash32(ledgers::chains(n)[reader.below(2)].tip()),
        },
        4 | 5 => EntryBody::SetOffer(offer(reader)),
        6 => EntryBody::WithdrawOffer {
            label: reader.below(3) as u32,
        },
        7 | 8 => EntryBody::Deliver { lease },
        9 => EntryBody::Fail { lease },
        10 => EntryBody::Cancel {
            order: reader.pick(&orders).unwrap_or(OrderId([5; 32])),
        },
        11 | 12 => EntryBody::Commit(commit(reader, ledger, n)),
        13 | 14 => {
            let at = reader.below(ledger.sealed.len());
            let (_, commit, wish) = ledger.sealed.get(at)?.clone();
            EntryBody::Open(Open {
                commit,
                wish,
                salt: SALT,
            })
        }
        // As often as buys.
        18 if reader.once_in(2) => EntryBody::Posted(orders::hire(reader)),
        15 => EntryBody::Deadline(orders::deadline(reader, ledger)),
        16 => EntryBody::Share(orders::claim(reader, ledger)),
        19 => EntryBody::CloseAccount {
            to: ledger.member(reader.below(4) as u8 + 1),
        },
        17 => EntryBody::Contract(orders::contract(reader, ledger)),
        20 => EntryBody::Heartbeat {
            label: reader.below(3) as u32,
        },
        21 => {
            let shares = ledger.state.lease(&lease).map(|held| held.shares.clone());
            let share = reader.pick(&shares.unwrap_or_default());
            EntryBody::Complain {
                lease,
                offer: share.map_or(OfferId([5; 32]), |share| share.offer),
                slot: ledger.state.lease(&lease).map_or(0, |held| held.slot),
            }
        }
        _ => EntryBody::Buy(orders::buy(reader, ledger)),
    })
}

fn commit(reader: &mut Reader<'_>, ledger: &mut Ledger, n: u8) -> Commit {
    let wish: Wish = match reader.below(4) {
        0 => orders::reservation(reader, ledger).into(),
        _ => orders::bid(reader, ledger).into(),
    };
    let seal = wish.seal(&ledger.state.network(), &ledger.member(n), &SALT);
    let class = wish.class();
    // The id of its entry is known only once that is signed.
    ledger.sealed.push((n, EntryId([0; 32]), wish));
    Commit {
        class,
        seal,
        bracket: reader.below(14) as u8,
    }
}

fn account_keys(reader: &mut Reader<'_>, n: u8) -> Vec<AccountKey> {
    let roles = [Roles::ALL, Roles::SPEND, Roles::TRADE, Roles::OPERATE];
    let mut keys: Vec<AccountKey> = (0..=reader.below(3))
        .map(|i| AccountKey {
            key: key(if i == 0 { n } else { reader.byte() }).public(),
            roles: reader.pick(&roles).unwrap_or(Roles::ALL),
        })
        .collect();
    keys.sort_by_key(|k| k.key);
    keys
}

fn opening(reader: &mut Reader<'_>, ledger: &Ledger, n: u8, signer: &mut SecretKey) -> EntryBody {
    let keys = vec![AccountKey {
        key: key(reader.byte()).public(),
        roles: Roles::ALL,
    }];
    if reader.once_in(2) {
        return EntryBody::OpenAccount {
            grant: None,
            keys,
            endowment: credits(reader.number()),
        };
    }
    let token = key(200 + reader.byte() % 8);
    let grant = Grant {
        inviter: ledger.member(n),
        key: key(n).public(),
        token: token.public(),
        endowment: credits(reader.number()),
        valid_until: ledger.state.height() + reader.number() % 100,
    };
    *signer = token;
    EntryBody::OpenAccount {
        grant: Some(Box::new(SignedGrant::new(
            &ledger.state.network(),
            grant,
            &key(n),
        ))),
        keys,
        endowment: credits(0),
    }
}

fn offer(reader: &mut Reader<'_>) -> OfferTerms {
    let reserve = reader.number();
    let mechanism = match reader.below(8) {
        1 => Primary::Reservation,
        2 => Primary::Share(PoolTerms {
            cap_ppm: reader.number() as u32,
            sixteenths: reader.below(18) as u32,
        }),
        0 => Primary::Deadline(DeadlineTerms {
            min_gain_ppm: reader.number() as u32,
            bond_ppm: reader.number() as u32,
        }),
        3 => Primary::Posted,
        _ => Primary::Ausubel,
    };
    let reclaim = match reader.below(4) {
        0 => Reclaim::Notice(reader.number() as u32),
        _ => Reclaim::None,
    };
    OfferTerms {
        label: reader.below(3) as u32,
        class: orders::class(reader),
        units: reader.number() as u32,
        reserve: Price(reserve),
        buy_price: reader
            .once_in(2)
            .then(|| Price(reserve.saturating_add(reader.number()))),
        reclaim,
        mechanism,
        node: key(150).public(),
    }
}

/// Blocks that the busy ledger would take next: an empty one and one with entries.
static NEXT: LazyLock<Vec<Block>> = LazyLock::new(|| {
    let mut ledger = Ledger::busy();
    let tapes: [&[u8]; 2] = [&[0; 40], b"entries of several kinds, drawn from any text"];
    let mut drafts = vec![vec![]];
    for tape in tapes {
        let reader = &mut Reader::new(tape);
        drafts.push((0..4).filter_map(|_| entry(reader, &mut ledger)).collect());
    }
    let propose = |entries| ledger.state.propose(ledger.draft(entries)).block;
    drafts
        .into_iter()
        .map(|entries| propose(entries).block().clone())
        .collect()
});

fn forged(bytes: &[u8]) -> Verdict {
    let ledger = Ledger::busy_ref();
    let Ok(block) = Block::decode(bytes) else {
        return Verdict::Refused;
    };
    let original = NEXT.iter().find(|next| next.id() == block.id());
    let done = CheckedBlock::check(&ledger.state.network(), block.clone(), |_, _| None)
        .and_then(|checked| ledger.state.execute(&checked));
    let Ok(delta) = done else {
        return Verdict::Refused;
    };
    assert!(
        original.is_none_or(|next| *next == block),
        "one id, two blocks"
    );
    assert_eq!(delta.state_root(), block.header.state_root);
    let mut state = ledger.state.clone();
    state.commit(delta);
    assert_eq!(
        (state.tip(), state.root()),
        (block.id(), block.header.state_root)
    );
    Verdict::Accepted
}
