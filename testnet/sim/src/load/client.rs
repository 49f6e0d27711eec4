//! Clients: accounts without a node. A member opens them; they sign by hand and make every mistake
//! that a sealed bid allows.

use super::buyer::micros;
use super::desk::Desk;
use super::key::Key;
use super::memory::Client;
use super::opening::{Opening, SLIPS, Slip};
use super::owner::key_list;
use super::seller;
use crate::world::World;
use gridbay_protocol::account::{Roles, opened_by};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32, OrderId};
use gridbay_protocol::order::{Amendment, Bid, Buy, BuyPart, Commit, Step, Wish, order_of};
use gridbay_protocol::units::Price;

/// Looks at a bid before its client forgets it: four seconds, less than two rounds while blocks
/// come.
const LOOKS: u32 = 28;
/// Size bracket of a client's commitments.
const BRACKET: u8 = 2;

impl Desk<'_> {
    /// A client's account with the key that counts, once the ledger has it.
    pub(super) fn client(&self, client: usize) -> Option<(AccountId, Key)> {
        let client = self.load.clients.get(client)?;
        let account = self.state.account(&client.account)?;
        let mut keys = client.keys.iter();
        let key = keys.find(|key| account.roles(&key.public).is_some())?;
        Some((client.account, key.clone()))
    }
    /// The patron opens an account for somebody new, with much money or little.
    pub(super) fn open_client(&mut self) -> Option<SignedEntry> {
        let account = self.account(self.patron)?;
        let patron = self.load.keys.get(self.patron)?.clone();
        let key = Key::fresh(&mut self.load.rng);
        let most = if self.load.rng.chance(300_000) {
            1_000
        } else {
            9_000_000
        };
        let body = EntryBody::OpenAccount {
            grant: None,
            keys: key_list(&[(&key, Roles::ALL)]),
            endowment: micros(self.load.rng.range(0, most)),
        };
        let entry = self.sign(account, &patron, body);
        let sponsor = self.state.account(&account)?;
        if sponsor.seats(1).open < self.state.policy().accounts_per_member {
            self.load.clients.push(Client {
                account: opened_by(&entry.id()),
                keys: vec![key],
            });
        }
        Some(entry)
    }
    fn bid(&mut self, slip: Slip) -> Bid {
        let class = self.load.class(self.classes);
        let rng = &mut self.load.rng;
        let units = rng.range(1, 4) as u32;
        let price = Price(rng.range(20, 300));
        let slot = u64::from(units) * price.0;
        Bid {
            class,
            steps: vec![Step { units, price }],
            min: 1,
            slots: rng.range(1, 4) as u32,
            budget: match slip {
                Slip::Budget => micros(slot - 1),
                _ => micros(slot * 10),
            },
            stands_until: match slip {
                Slip::Standing => 1,
                _ => self.state.height() + rng.range(20, 100),
            },
            work: Hash32(rng.bytes32()),
        }
    }
    fn amendment(&mut self, account: &AccountId) -> Amendment {
        let own: Vec<OrderId> = self.state.orders_of(account).map(|(id, _)| *id).collect();
        let any = self.state.orders().map(|(id, _)| *id).next();
        let order = match self.load.rng.below(10) {
            0 => OrderId(self.load.rng.bytes32()),
            1 => any.unwrap_or_default(),
            _ => self.load.rng.pick(&own).copied().unwrap_or_default(),
        };
        let mut bid = self.bid(Slip::Amends);
        let live = self.state.order(&order);
        if let Some(live) = live {
            bid.class = live.class;
        }
        if let Some(old) = live.and_then(|live| live.bid()).map(|live| &live.bid)
            && self.load.rng.chance(700_000)
        {
            let times = self.load.rng.range(1, 3);
            let steps = old.steps.iter().map(|step| Step {
                units: step.units,
                price: Price(step.price.0 * times),
            });
            bid = Bid {
                steps: steps.collect(),
                stands_until: bid.stands_until,
                ..old.clone()
            };
        }
        Amendment { order, bid }
    }
    fn commit(&mut self, client: usize) -> Option<(SignedEntry, Opening)> {
        let (account, key) = self.client(client)?;
        let slip = self.load.rng.pick(&SLIPS).copied()?;
        let wish = match slip {
            Slip::Amends => self.amendment(&account).into(),
            _ => self.bid(slip).into(),
        };
        let wish: Wish = wish;
        let salt = self.load.rng.bytes32();
        let commit = Commit {
            class: wish.class(),
            seal: wish.seal(&self.state.network(), &account, &salt),
            bracket: BRACKET,
        };
        let entry = self.sign(account, &key, EntryBody::Commit(commit));
        let opening = Opening {
            client,
            commit: entry.id(),
            wish,
            salt,
            slip,
            looks: 0,
        };
        Some((entry, opening))
    }
    /// A bid that was never committed.
    pub(super) fn imagined(&mut self) -> Option<Opening> {
        let client = self.load.rng.index(self.load.clients.len());
        self.commit(client).map(|(_, opening)| opening)
    }
    fn purchase(&mut self, client: usize) -> Option<SignedEntry> {
        let (account, key) = self.client(client)?;
        let class = self.load.class(self.classes);
        let rng = &mut self.load.rng;
        let units = rng.range(1, 4) as u32;
        let buy = Buy {
            parts: vec![BuyPart::anywhere(class, units)],
            slots: rng.range(1, 3) as u32,
            limit: micros(rng.range(100, 1_500) * u64::from(units)),
            stands_until: rng.range(0, 2) * 1_000,
            surcharge: micros(0),
            work: Hash32(rng.bytes32()),
        };
        Some(self.sign(account, &key, EntryBody::Buy(buy)))
    }
    /// Opens, if it is time for what this client does; whether it is to look again.
    fn open(&mut self, opening: &mut Opening) -> (Option<SignedEntry>, bool) {
        opening.looks += 1;
        let again = opening.looks < LOOKS;
        let Some((account, key)) = self.client(opening.client) else {
            return (None, again);
        };
        let Some(order) = self.state.order(&order_of(&opening.commit)) else {
            // Gone: not yet in a block, or unopened when its time was over.
            let appeal = self.appeal(opening);
            let again = again && appeal.is_none();
            return (appeal, again);
        };
        let (calendar, next) = (self.state.calendar(), self.state.height() + 1);
        let first = calendar.last_of_round(order.round) + 1;
        let last = calendar.last_of_round(order.round + 1) - 1;
        let is_open = order.bid().is_some();
        let due = match opening.slip {
            Slip::Forgets => false,
            Slip::Early => next < first,
            Slip::Late => next > last,
            Slip::Twice if is_open => true,
            _ => (first..=last).contains(&next),
        };
        if !due {
            return (None, again);
        }
        let entry = self.sign(account, &key, EntryBody::Open(opening.open()));
        let again = again && opening.slip == Slip::Twice && !is_open;
        (Some(entry), again)
    }
}

impl World {
    /// One of the clients trades, or a new one comes.
    pub(super) fn client_acts(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let client = self.load.rng.index(self.load.clients.len());
        match self.load.rng.below(20) {
            _ if self.load.clients.len() < 2 => {
                if self.write(to, |desk| desk.open_client()) {
                    self.cover.deed("account opened");
                }
            }
            0..=12 => self.commit_by_hand(to, client),
            13..=16 => {
                if self.write(to, |desk| desk.purchase(client)) {
                    self.cover.deed("buy by hand");
                }
            }
            17 => self.plan_by_hand(to, client),
            18 if self.load.clients.len() > 2 => self.leave_by_hand(to, client),
            _ => self.offer_by_hand(to, client),
        }
    }
    /// A client leaves, and its patron gets what it had.
    fn leave_by_hand(&mut self, to: usize, client: usize) {
        let left = self.write(to, |desk| {
            let (account, key) = desk.client(client)?;
            let to = desk.state.account(&account)?.sponsor;
            Some(desk.sign(account, &key, EntryBody::CloseAccount { to }))
        });
        if left {
            self.cover.deed("account closed");
        }
    }
    fn commit_by_hand(&mut self, to: usize, client: usize) {
        let mut opening = None;
        self.write(to, |desk| {
            let (entry, made) = desk.commit(client)?;
            opening = Some(Box::new(made));
            Some(entry)
        });
        if let Some(opening) = opening {
            self.cover.deed("bid by hand");
            self.look_again(opening);
        }
    }
    pub(super) fn open_by_hand(&mut self, mut opening: Box<Opening>) {
        let mut again = true;
        if let Some(to) = self.some_validator() {
            self.write(to, |desk| {
                let (entry, wait) = desk.open(&mut opening);
                again = wait;
                entry
            });
        }
        if again {
            self.look_again(opening);
        }
    }
    /// Units at a node that does not know of them: nobody delivers.
    fn offer_by_hand(&mut self, to: usize, client: usize) {
        let node = self.load.rng.index(self.plan.nodes());
        let terms = self.terms(node, seller::HOARD);
        let offered = self.write(to, |desk| {
            let (account, key) = desk.client(client)?;
            Some(desk.sign(account, &key, EntryBody::SetOffer(terms)))
        });
        if offered {
            self.cover.deed("offer that nobody delivers");
        }
    }
}
