//! How long the block that closes a round takes while thousands of bids stand that nobody serves:
//! next to a block in the middle of a round, in the same run.
//!
//! `cargo bench -p gridbay-ledger --bench standing` prints one line per case. The bar is what such
//! a block may take from a node's pages and requests, which wait behind it; the run fails only
//! beyond three times the bar, so that a busy machine does not fail it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridbay_ledger::{Draft, State};
use gridbay_protocol::account::{AccountKey, Roles, opened_by};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::{Bid, Commit, Open, Step};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::{Credits, Price};
use gridbay_protocol::validator::validator_id;
use gridbay_sample as sample;

/// A tenth of the time in which a page is to be there.
const BAR: Duration = Duration::from_millis(20);
/// Accounts that the founder opens; each seals one bid a round.
const ACCOUNTS: usize = 450;
const SALT: [u8; 32] = [8; 32];

/// An account and its key.
struct Signer {
    account: AccountId,
    key: SecretKey,
}

struct Market {
    genesis: Genesis,
    class: ClassId,
    founder: Signer,
    bidders: Vec<Signer>,
    state: State,
    chain: Chain,
}

fn key(n: usize, kind: u8) -> SecretKey {
    let mut seed = [kind; 32];
    seed[..8].copy_from_slice(&(n as u64).to_be_bytes());
    SecretKey::from_seed(&seed)
}

fn credits(micros: u64) -> Credits {
    Credits::from_micros(micros).expect("a small amount")
}

impl Market {
    fn found() -> Market {
        let chain = Chain::new(&[7; 32], 1_000);
        let own = key(0, 1);
        let mut member = sample::member("founder", own.public(), credits(10_000_000_000));
        let (consensus, node) = (key(0, 2).public(), key(0, 3).public());
        member.validator = Some(sample::validator(consensus, node, chain.tip()));
        let class = sample::class("small", 1, 512, 10);
        let id = class.key.id();
        let genesis = Genesis {
            policy: Policy::local(),
            ..sample::genesis("bench", vec![class], vec![member])
        };
        Market {
            founder: Signer {
                account: genesis.account(&genesis.members[0]),
                key: own,
            },
            class: id,
            bidders: vec![],
            state: State::genesis(&genesis).expect("a legal genesis"),
            genesis,
            chain,
        }
    }
    fn sign(&self, by: &Signer, body: EntryBody) -> Arc<Authentic> {
        let network = self.genesis.network();
        let entry = Entry {
            network,
            account: by.account,
            key: by.key.public(),
            valid_until: self.state.height() + 100,
            body,
        };
        let formed = WellFormed::check(&network, SignedEntry::new(entry, &by.key));
        let formed = formed.expect("a legal entry");
        Arc::new(formed.authenticate().expect("a right signature"))
    }
    fn open_accounts(&mut self) {
        let (bidders, opened) = (0..ACCOUNTS)
            .map(|n| {
                let key = key(n, 4);
                let roles = Roles::ALL;
                let keys = vec![AccountKey {
                    key: key.public(),
                    roles,
                }];
                let entry = self.sign(
                    &self.founder,
                    EntryBody::OpenAccount {
                        grant: None,
                        keys,
                        endowment: credits(10_000_000),
                    },
                );
                let account = opened_by(&entry.id());
                (Signer { account, key }, entry)
            })
            .unzip();
        self.bidders = bidders;
        self.decide(opened);
    }
    fn draft(&self, entries: Vec<Arc<Authentic>>) -> Draft {
        let proposer = validator_id(&key(0, 2).public());
        let tip = self.state.beacon_tip(&proposer);
        let reveal = self.chain.clone().preimage(&tip.expect("it has a tip"));
        Draft {
            proposer,
            time_ms: self.state.time_ms() + 250,
            reveal: reveal.expect("the chain is long enough"),
            last_commit: None,
            evidence: vec![],
            entries,
            hints: vec![],
        }
    }
    fn decide(&mut self, entries: Vec<Arc<Authentic>>) {
        let proposed = self.state.propose(self.draft(entries));
        let left_out = proposed.left_out.len();
        assert_eq!(left_out, 0, "{:?}", proposed.left_out.first());
        self.state.commit(proposed.delta);
    }
    fn closes(&self) -> bool {
        let calendar = self.genesis.policy.calendar;
        calendar.closes_round(self.state.height() + 1)
    }
    /// Goes on to the first block of a round.
    fn round_begins(&mut self) {
        while !self.closes() {
            self.decide(vec![]);
        }
        self.decide(vec![]);
    }
    /// A seller asks more than anybody bids.
    fn offer(&mut self) {
        let terms = OfferTerms {
            label: 1,
            class: self.class,
            node: key(0, 3).public(),
            units: 4,
            reserve: Price(1_000),
            buy_price: None,
            reclaim: Reclaim::None,
            mechanism: Primary::Ausubel,
        };
        let offer = self.sign(&self.founder, EntryBody::SetOffer(terms));
        self.decide(vec![offer]);
    }
    /// Every account bids once more, below what is asked.
    fn bid(&mut self, time: usize) {
        let class = self.class;
        let bid = |n: usize| Bid {
            class,
            steps: vec![Step {
                units: 1,
                price: Price(1 + n as u64 % 100),
            }],
            min: 1,
            slots: 1,
            budget: credits(1_000),
            stands_until: self.state.height() + 5_000,
            work: Hash32([time as u8; 32]),
        };
        let bids: Vec<Bid> = (0..ACCOUNTS).map(bid).collect();
        let network = self.genesis.network();
        self.round_begins();
        let commits = self.bidders.iter().zip(&bids).map(|(by, bid)| {
            let seal = bid.seal(&network, &by.account, &SALT);
            self.sign(
                by,
                EntryBody::Commit(Commit {
                    class,
                    seal,
                    bracket: 0,
                }),
            )
        });
        let commits: Vec<Arc<Authentic>> = commits.collect();
        self.decide(commits.clone());
        self.round_begins();
        let opens = bids.into_iter().zip(&commits).zip(&self.bidders);
        let opens = opens.map(|((bid, commit), by)| {
            let open = Open {
                commit: commit.id(),
                wish: bid.into(),
                salt: SALT,
            };
            self.sign(by, EntryBody::Open(open))
        });
        self.decide(opens.collect());
    }
    /// The median of nine proposals of the next block, without an entry.
    fn propose(&self) -> Duration {
        let draft = self.draft(vec![]);
        let mut times: Vec<Duration> = (0..9)
            .map(|_| {
                let begun = Instant::now();
                black_box(self.state.propose(draft.clone()));
                begun.elapsed()
            })
            .collect();
        times.sort_unstable();
        times[times.len() / 2]
    }
}

/// Prints the case of so many bids of each account, and says whether it is within three bars.
fn report(market: &mut Market, times: usize) -> bool {
    market.round_begins();
    market.round_begins();
    let without = market.propose();
    while !market.closes() {
        market.decide(vec![]);
    }
    let took = market.propose();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{:>6} bids stand, a round closes {:8.2} ms | it goes on {:8.2} ms | bar {:.0} ms",
        times * ACCOUNTS,
        millis(took),
        millis(without),
        millis(BAR),
    );
    took <= 3 * BAR
}

fn main() -> ExitCode {
    let mut market = Market::found();
    market.open_accounts();
    market.offer();
    let mut good = true;
    for time in 1..=16 {
        market.bid(time);
        if time.is_power_of_two() {
            good &= report(&mut market, time);
        }
    }
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
