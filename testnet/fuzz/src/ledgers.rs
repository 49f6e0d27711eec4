//! A small ledger in the middle of trading, from which targets that need a state start.
//!
//! Four members with a validator each; member 1 and 2 sell, 3 and 4 buy. [`Ledger::busy`] has
//! offers, leases of the auction and of a buy, an order that stands and a commitment that can be
//! opened next.

use gridbay_ledger::{CheckedBlock, Draft, Proposed, State};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::block::Header;
use gridbay_protocol::class::{Class, ClassKey};
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, Hash32, LeaseId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::{Bid, Buy, BuyPart, Commit, Open, Step, Wish};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::{Credits, Price};
use gridbay_protocol::validator::validator_id;
use gridbay_protocol::vote::{Certificate, CertificateSignature};
use gridbay_sample as sample;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Members of the genesis.
pub(crate) const MEMBERS: u8 = 4;
/// Salt of every sealed bid.
pub(crate) const SALT: [u8; 32] = [8; 32];
const CHAIN_STEPS: u32 = 2_000;

/// The key of a seed: member n has n, its validator 100 + n, its node 149 + n.
pub(crate) fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}

/// An amount in micro-credits, at most the largest.
pub(crate) fn credits(micros: u64) -> Credits {
    Credits::from_micros(micros).unwrap_or(Credits::MAX)
}

/// The beacon chain of a member's validator.
pub(crate) fn chain(n: u8) -> Chain {
    chains(n)[0].clone()
}

/// The first chain of a member's validator and the one that follows it.
pub(crate) fn chains(n: u8) -> &'static [Chain; 2] {
    static CHAINS: LazyLock<Vec<[Chain; 2]>> = LazyLock::new(|| {
        let both = |n| {
            let first = Chain::new(&[n; 32], CHAIN_STEPS);
            let second = first.renewed();
            [first, second]
        };
        (1..=MEMBERS).map(both).collect()
    });
    &CHAINS[usize::from(n) - 1]
}

fn class() -> Class {
    sample::class("small", 1, 1_024, 10)
}

/// Key of the only class.
pub(crate) fn class_key() -> ClassKey {
    class().key
}

/// Four members, of whom the first `validators` run one; heights pass every 250 ms.
pub(crate) fn genesis(validators: u8) -> Genesis {
    let member = |n: u8| Member {
        credit_line: credits(if n == 1 { 500 } else { 0 }),
        validator: (n <= validators).then(|| {
            let (key, node) = (key(100 + n).public(), key(149 + n).public());
            sample::validator(key, node, chain(n).tip())
        }),
        ..sample::member(&format!("member{n}"), key(n).public(), credits(1_000_000))
    };
    let members = (1..=MEMBERS).map(member).collect();
    Genesis {
        policy: Policy {
            heartbeat_ms: 250,
            max_firm_slots: 100,
            delivery_heights: 6,
            accounts_per_member: 3,
            buy: BuyPolicy {
                surcharge_ppm: 200_000,
            },
            ..Policy::local()
        },
        ..sample::genesis("fuzz", vec![class()], members)
    }
}

/// A block of the chain with its proof and what it did.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) header: Header,
    pub(crate) certificate: Certificate,
    pub(crate) entries: Vec<EntryId>,
    pub(crate) effects: Vec<Effect>,
}

/// A state, the chain behind it, and what its postings alone say about the money.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) state: State,
    pub(crate) blocks: Vec<Decided>,
    pub(crate) purses: BTreeMap<Purse, i128>,
    /// Commitments made, with their bids.
    pub(crate) sealed: Vec<(u8, EntryId, Wish)>,
    members: Vec<AccountId>,
}

static BUSY: LazyLock<Ledger> = LazyLock::new(|| {
    let mut ledger = Ledger::new();
    ledger.trade();
    ledger
});

impl Ledger {
    fn new() -> Ledger {
        let genesis = genesis(MEMBERS);
        let members: Vec<AccountId> = genesis.members.iter().map(|m| genesis.account(m)).collect();
        let endowment = |(id, m): (&AccountId, &Member)| {
            let purse = Purse::Account(*id);
            (purse, i128::from(m.endowment.micros()))
        };
        Ledger {
            state: State::genesis(&genesis).expect("the genesis is legal"),
            blocks: vec![],
            purses: members
                .iter()
                .zip(&genesis.members)
                .map(endowment)
                .collect(),
            sealed: vec![],
            members,
        }
    }
    /// A ledger in the middle of trading.
    pub(crate) fn busy() -> Ledger {
        BUSY.clone()
    }
    /// The same, for those who only look.
    pub(crate) fn busy_ref() -> &'static Ledger {
        &BUSY
    }
    /// Account of member n, 1 to 4.
    pub(crate) fn member(&self, n: u8) -> AccountId {
        self.members[usize::from(n) - 1]
    }

    /// An entry signed by a key; `None` if its values are out of range.
    pub(crate) fn signed(
        &self,
        account: AccountId,
        key: &SecretKey,
        valid_until: u64,
        body: EntryBody,
    ) -> Option<Arc<Authentic>> {
        let entry = Entry {
            network: self.state.network(),
            account,
            key: key.public(),
            valid_until,
            body,
        };
        let formed = WellFormed::check(&self.state.network(), SignedEntry::new(entry, key)).ok()?;
        Some(Arc::new(formed.authenticate().expect("just signed")))
    }
    /// An entry of member n.
    pub(crate) fn by(&self, n: u8, body: EntryBody) -> Arc<Authentic> {
        let until = self.state.height() + 50;
        self.signed(self.member(n), &key(n), until, body)
            .expect("values in range")
    }

    /// The draft of the next block by the validator whose turn it is.
    pub(crate) fn draft(&self, entries: Vec<Arc<Authentic>>) -> Draft {
        let turn = (self.state.height() % u64::from(MEMBERS)) as u8 + 1;
        let proposer = validator_id(&key(100 + turn).public());
        let tip = self.state.beacon_tip(&proposer).expect("a validator");
        let reveal = chains(turn)
            .iter()
            .find_map(|chain| chain.clone().preimage(&tip));
        Draft {
            proposer,
            time_ms: self.state.time_ms() + 250,
            reveal: reveal.expect("the tip is in one of the chains"),
            last_commit: self.blocks.last().map(|block| block.certificate.clone()),
            evidence: vec![],
            entries,
            hints: vec![],
        }
    }
    /// Makes a proposed block the last one.
    pub(crate) fn adopt(&mut self, proposed: Proposed) {
        let effects = proposed.delta.effects().to_vec();
        for effect in &effects {
            if let Effect::Posting(posting) = effect {
                let amount = i128::from(posting.amount.micros());
                *self.purses.entry(posting.from).or_default() -= amount;
                *self.purses.entry(posting.to).or_default() += amount;
            }
        }
        let block: &CheckedBlock = &proposed.block;
        self.blocks.push(Decided {
            header: block.header().clone(),
            certificate: self.certificate(block.header().height, block.id()),
            entries: block.entries().iter().map(|e| e.id()).collect(),
            effects,
        });
        self.state.commit(proposed.delta);
    }
    /// Precommits of the first three validators.
    fn certificate(&self, height: u64, block: BlockId) -> Certificate {
        let mut certificate = Certificate {
            height,
            round: 0,
            block,
            signatures: vec![],
        };
        for key in (101..=103).map(key) {
            let validator = validator_id(&key.public());
            let vote = codec::encode(&certificate.vote(validator));
            let signature = key.sign(Domain::Vote, &self.state.network(), &vote);
            certificate.signatures.push(CertificateSignature {
                validator,
                signature,
            });
        }
        certificate.signatures.sort_by_key(|s| s.validator);
        certificate
    }

    /// A block of these entries, all of which must be taken.
    fn block(&mut self, entries: Vec<Arc<Authentic>>) {
        let proposed = self.state.propose(self.draft(entries));
        assert!(proposed.left_out.is_empty(), "{:?}", proposed.left_out);
        self.adopt(proposed);
    }
    fn until(&mut self, height: u64) {
        while self.state.height() < height {
            self.block(vec![]);
        }
    }
    fn offer(&self, n: u8, label: u32, reserve: u64, reclaim: Reclaim) -> Arc<Authentic> {
        let terms = OfferTerms {
            label,
            class: class_key().id(),
            units: 4,
            reserve: Price(reserve),
            buy_price: matches!(reclaim, Reclaim::None).then_some(Price(20)),
            reclaim,
            mechanism: Primary::Ausubel,
            node: key(150).public(),
        };
        self.by(n, EntryBody::SetOffer(terms))
    }
    /// A sealed bid of member n for up to three units.
    fn seal(&mut self, n: u8, price: u64) -> Arc<Authentic> {
        let step = |units, price| Step {
            units,
            price: Price(price),
        };
        let bid = Bid {
            class: class_key().id(),
            steps: vec![step(2, price + 5), step(1, price)],
            min: 1,
            slots: 6,
            budget: credits(100_000),
            stands_until: 10_000,
            work: Hash32([n; 32]),
        };
        let seal = bid.seal(&self.state.network(), &self.member(n), &SALT);
        let entry = self.by(
            n,
            EntryBody::Commit(Commit {
                class: bid.class,
                seal,
                bracket: 2,
            }),
        );
        self.sealed.push((n, entry.id(), bid.into()));
        entry
    }
    /// The opening of the commitment at a place.
    fn open(&self, at: usize) -> Arc<Authentic> {
        let (n, commit, wish) = self.sealed[at].clone();
        let open = Open {
            commit,
            wish,
            salt: SALT,
        };
        self.by(n, EntryBody::Open(open))
    }
    fn deliveries(&self) -> Vec<Arc<Authentic>> {
        let waiting = self.state.leases().filter(|(_, l)| !l.is_delivered());
        let leases: Vec<LeaseId> = waiting.map(|(id, _)| *id).collect();
        let deliver = |lease| self.by(1, EntryBody::Deliver { lease });
        leases.into_iter().map(deliver).collect()
    }

    /// Offers, two auctions and a buy; ends within a round of openings.
    fn trade(&mut self) {
        let pay = EntryBody::Transfer {
            to: self.member(2),
            amount: credits(77),
            memo: Hash32([1; 32]),
        };
        let first = vec![
            self.offer(1, 0, 2, Reclaim::None),
            self.offer(1, 1, 3, Reclaim::None),
            self.by(4, pay),
        ];
        self.block(first);
        self.until(4);
        let commits = vec![self.seal(3, 9), self.seal(4, 12)];
        self.block(commits);
        self.until(8);
        self.block(vec![self.open(0), self.open(1)]);
        self.until(12);
        let deliveries = self.deliveries();
        assert!(!deliveries.is_empty(), "the auction was cleared");
        self.block(deliveries);
        let buy = Buy {
            parts: vec![BuyPart::anywhere(class_key().id(), 1)],
            slots: 3,
            limit: credits(5_000),
            stands_until: 0,
            surcharge: credits(0),
            work: Hash32([5; 32]),
        };
        self.block(vec![self.by(2, EntryBody::Buy(buy))]);
        self.until(16);
        let commits = vec![self.seal(2, 4), self.seal(4, 30)];
        self.block(commits);
        let deliveries = self.deliveries();
        self.block(deliveries);
        self.until(20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_ledger_is_busy() {
        let ledger = Ledger::busy();
        let totals = ledger.state.totals();
        assert!(totals.leases >= 2, "{totals:?}");
        assert!(totals.orders > totals.leases, "{totals:?}");
        assert!(ledger.state.leases().any(|(_, lease)| lease.is_firm()));
        assert!(totals.in_use > Credits::ZERO && totals.escrow > Credits::ZERO);
        let opening = ledger.open(3);
        assert!(ledger.state.admit(&opening).is_ok());
    }
}
