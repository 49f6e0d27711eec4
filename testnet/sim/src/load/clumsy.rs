//! Blunders: one kind of entry for every reason that the ledger has to refuse one.
//!
//! A blunder looks at the ledger for a case in which it is one, and is not made if there is none. It is
//! handed in like any entry; mistakes with sealed bids are made by clients.

use super::buyer::micros;
use super::desk::{Desk, Key};
use super::owner::key_list;
use super::seller::{self, HOARD};
use super::share;
use crate::found::{credits, node_key};
use crate::world::World;
use gridbay_ledger::{Order, Stage};
use gridbay_protocol::account::Roles;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OrderId};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::{Buy, BuyPart, Commit};
use gridbay_protocol::units::{Credits, Price};

type Blunder = fn(&mut Desk<'_>) -> Option<SignedEntry>;

/// All blunders, by the refusal that they are for.
const BLUNDERS: &[Blunder] = &[
    expired,
    window,
    used,
    no_account,
    role,
    key_taken,
    funds,
    overflow,
    token_used,
    grant_over,
    grant_far,
    account_quota,
    not_member,
    no_validator,
    no_class,
    no_offer,
    offer_class,
    offer_quota,
    class_units,
    no_order,
    order_quota,
    sealed_already,
    sealed,
    exiting,
    closing,
    no_lease,
    nothing_to_deliver,
    nothing_to_fail,
    heartbeat_twice,
    idle,
    nothing_to_complain,
    firm_slots,
    surcharge,
    nothing_to_appeal,
    unbookable,
    share::no_pool,
    share::wrong_weights,
    share::claimed_twice,
    final_order,
    founder,
    still_open,
];

impl World {
    /// Somebody hands in what the ledger refuses.
    pub(super) fn blunder(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let first = self.load.rng.index(BLUNDERS.len());
        for i in 0..BLUNDERS.len() {
            if self.write(to, BLUNDERS[(first + i) % BLUNDERS.len()]) {
                self.cover.deed("blunder");
                return;
            }
        }
    }
}

impl World {
    /// Whoever has as much as an account may have asks for more.
    pub(super) fn overdo(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let quotas: [Blunder; 3] = [offer_quota, class_units, order_quota];
        for quota in quotas {
            if self.write(to, quota) {
                self.cover.deed("blunder");
            }
        }
    }
}

impl Desk<'_> {
    fn transfer(&mut self, to: AccountId, amount: Credits) -> EntryBody {
        let memo = Hash32(self.load.rng.bytes32());
        EntryBody::Transfer { to, amount, memo }
    }
    /// Two accounts, the first with its key.
    fn two(&mut self) -> Option<(AccountId, Key, AccountId)> {
        let (from, key) = self.owner()?;
        let (to, _) = self.owner()?;
        (from != to).then_some((from, key, to))
    }
    pub(super) fn by_owner(&mut self, body: EntryBody) -> Option<SignedEntry> {
        let (account, key) = self.owner()?;
        Some(self.sign(account, &key, body))
    }
    /// An order of such a kind, with its owner's key.
    fn order(&mut self, wanted: impl Fn(&Order) -> bool) -> Option<(OrderId, Order, Key)> {
        let orders: Vec<_> = self.state.orders().filter(|(_, o)| wanted(o)).collect();
        let (id, order) = self.load.rng.pick(&orders).copied()?;
        Some((*id, order.clone(), self.key_of(&order.account)?))
    }
    fn cancel(&mut self, wanted: impl Fn(&Order) -> bool) -> Option<SignedEntry> {
        let (order, record, key) = self.order(wanted)?;
        Some(self.sign(record.account, &key, EntryBody::Cancel { order }))
    }
    fn commitment(&mut self, class: ClassId) -> EntryBody {
        let seal = Hash32(self.load.rng.bytes32());
        EntryBody::Commit(Commit {
            class,
            seal,
            bracket: 0,
        })
    }
    /// A purchase in the class where most trade is.
    fn purchase_of(&mut self, slots: u32, limit: Credits) -> Option<SignedEntry> {
        let work = Hash32(self.load.rng.bytes32());
        self.by_owner(EntryBody::Buy(Buy {
            parts: vec![BuyPart::anywhere(self.classes[0], 1)],
            slots,
            limit,
            stands_until: 0,
            surcharge: Credits::ZERO,
            work,
        }))
    }
    fn opening(&mut self, grant: Grant, by: &Key, token: &Key) -> SignedEntry {
        let grant = SignedGrant::new(&self.state.network(), grant, &by.secret);
        let inviter = grant.grant.inviter;
        self.open_with(grant, inviter, token)
    }
    fn open_with(&mut self, grant: SignedGrant, inviter: AccountId, token: &Key) -> SignedEntry {
        let new = Key::fresh(&mut self.load.rng);
        let body = EntryBody::OpenAccount {
            grant: Some(Box::new(grant)),
            keys: key_list(&[(&new, Roles::ALL)]),
            endowment: Credits::ZERO,
        };
        self.sign(inviter, token, body)
    }
    /// Opens an account by an invitation that is valid until then.
    fn invited_until(&mut self, valid_until: u64) -> Option<SignedEntry> {
        let (inviter, key) = self.owner()?;
        let token = Key::fresh(&mut self.load.rng);
        let grant = Grant {
            inviter,
            key: key.public,
            token: token.public,
            endowment: Credits::ZERO,
            valid_until,
        };
        Some(self.opening(grant, &key, &token))
    }
    /// Somebody who offers as often as an account may.
    fn hoarder(&mut self) -> Option<(AccountId, Key)> {
        let full = |(account, _): &(AccountId, Key)| {
            self.state.offers_of(account).count() >= limits::OFFERS_PER_ACCOUNT
        };
        self.owners().into_iter().find(full)
    }
}

fn expired(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let body = desk.transfer(to, micros(1));
    Some(desk.sign_until(from, &key, body, desk.state.height()))
}

fn window(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let body = desk.transfer(to, micros(1));
    let until = desk.state.height() + 1 + limits::ENTRY_WINDOW;
    Some(desk.sign_until(from, &key, body, until))
}

fn used(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let height = desk.state.height();
    let handed = desk.load.handed.iter();
    let valid: Vec<_> = handed.filter(|e| e.entry.valid_until > height).collect();
    let early = &valid[..valid.len().div_ceil(2)];
    let n = desk.load.rng.clone().index(early.len());
    early.get(n).map(|entry| (*entry).clone())
}

fn no_account(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let nobody = AccountId(desk.load.rng.bytes32());
    let body = desk.transfer(nobody, micros(1));
    desk.by_owner(body)
}

fn role(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, _, to) = desk.two()?;
    let key = Key::fresh(&mut desk.load.rng);
    let body = desk.transfer(to, micros(1));
    Some(desk.sign(from, &key, body))
}

fn key_taken(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = desk.owner()?;
    let (other, foreign) = desk.owner()?;
    let keys = key_list(&[(&key, Roles::ALL), (&foreign, Roles::TRADE)]);
    let body = EntryBody::SetKeys { keys };
    (account != other).then(|| desk.sign(account, &key, body))
}

fn funds(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let body = desk.transfer(to, credits(1_000_000));
    Some(desk.sign(from, &key, body))
}

fn overflow(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.purchase_of(2, Credits::MAX)
}

/// The guest whose invitation it was has its account.
fn token_used(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let mut invited = desk.load.invited.iter();
    let (_, invitation) = invited.find(|(guest, _)| desk.account(**guest).is_some())?;
    let invitation = invitation.clone();
    let token = gridbay_protocol::keys::SecretKey::from_seed(&invitation.token_seed);
    let inviter = invitation.grant.grant.inviter;
    Some(desk.open_with(invitation.grant, inviter, &Key::new(token)))
}

fn grant_over(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.invited_until(desk.state.height())
}

fn grant_far(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.invited_until(desk.state.height() + 2 + limits::INVITATION_WINDOW)
}

/// The patron's quota is small; before it is used up this opens an account.
fn account_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.open_client()
}

fn not_member(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = (0..desk.load.clients.len()).find_map(|n| desk.client(n))?;
    let new = Key::fresh(&mut desk.load.rng);
    let body = EntryBody::OpenAccount {
        grant: None,
        keys: key_list(&[(&new, Roles::ALL)]),
        endowment: Credits::ZERO,
    };
    Some(desk.sign(account, &key, body))
}

fn no_validator(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let account = desk.account(desk.patron)?;
    let key = desk.load.keys.get(desk.patron)?.clone();
    let tip = Hash32(desk.load.rng.bytes32());
    Some(desk.sign(account, &key, EntryBody::RegisterBeacon { tip }))
}

fn no_class(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let class = ClassId(desk.load.rng.bytes32());
    let body = desk.commitment(class);
    desk.by_owner(body)
}

fn no_offer(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.by_owner(EntryBody::WithdrawOffer { label: u32::MAX })
}

fn offer_class(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let offers: Vec<_> = desk.state.offers().collect();
    let (_, offer) = desk.load.rng.pick(&offers).copied()?;
    let key = desk.key_of(&offer.seller)?;
    let mut classes = desk.classes.iter();
    let terms = OfferTerms {
        class: *classes.find(|class| **class != offer.terms.class)?,
        ..offer.terms.clone()
    };
    Some(desk.sign(offer.seller, &key, EntryBody::SetOffer(terms)))
}

fn offer_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (seller, key) = desk.hoarder()?;
    let terms = seller::hoarded(desk.classes[2], desk.patron, u32::MAX);
    Some(desk.sign(seller, &key, EntryBody::SetOffer(terms)))
}

fn class_units(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (seller, key) = desk.hoarder()?;
    let offers: Vec<_> = desk.state.offers_of(&seller).collect();
    let (_, offer) = offers.iter().find(|(_, o)| o.terms.label >= HOARD)?;
    let terms = OfferTerms {
        units: limits::OFFER_UNITS,
        node: node_key(desk.patron),
        ..offer.terms.clone()
    };
    Some(desk.sign(seller, &key, EntryBody::SetOffer(terms)))
}

fn no_order(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let order = OrderId(desk.load.rng.bytes32());
    desk.by_owner(EntryBody::Cancel { order })
}

fn order_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let class = desk.classes[1];
    let full = |(account, _): &(AccountId, Key)| {
        let orders = desk.state.orders_of(account);
        let orders = orders.filter(|(_, order)| order.class == class);
        orders.count() >= limits::ORDERS_PER_ACCOUNT_CLASS
    };
    let (account, key) = desk.owners().into_iter().find(full)?;
    let body = desk.commitment(class);
    Some(desk.sign(account, &key, body))
}

fn is_sealed(order: &Order) -> bool {
    matches!(order.stage, Stage::Sealed { .. })
}

/// The second seal enters the book in the next round, and is never opened.
fn sealed_already(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let round = desk.state.calendar().round(desk.state.height() + 1);
    let (_, order, key) = desk.order(|order| is_sealed(order) && order.round == round)?;
    let body = desk.commitment(order.class);
    Some(desk.sign(order.account, &key, body))
}

fn sealed(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.cancel(is_sealed)
}

fn exiting(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.cancel(|order| order.exiting)
}

fn closing(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let next = desk.state.height() + 1;
    if !desk.state.calendar().closes_round(next) {
        return None;
    }
    desk.cancel(|order| !is_sealed(order) && !order.exiting)
}

/// Takes back what was opened a moment ago.
fn final_order(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let calendar = desk.state.calendar();
    let next = desk.state.height() + 1;
    let round = calendar.round(next);
    if calendar.closes_round(next) {
        return None;
    }
    desk.cancel(|order| order.bid().is_some() && order.lease.is_none() && order.round + 1 == round)
}

/// A member would leave.
fn founder(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let record = desk.state.account(&from)?;
    (record.sponsor == from).then_some(())?;
    Some(desk.sign(from, &key, EntryBody::CloseAccount { to }))
}

/// Somebody would leave who has something open.
fn still_open(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let state = desk.state;
    let user = |account: &AccountId| {
        state
            .account(account)
            .is_some_and(|a| a.sponsor != *account)
    };
    let (_, order, key) = desk.order(|order| user(&order.account))?;
    let to = state.account(&order.account)?.sponsor;
    Some(desk.sign(order.account, &key, EntryBody::CloseAccount { to }))
}

fn no_lease(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let lease = LeaseId(desk.load.rng.bytes32());
    desk.by_owner(EntryBody::Deliver { lease })
}

/// The buyer says that he delivers.
fn nothing_to_deliver(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (lease, account, key) = bought(desk)?;
    Some(desk.sign(account, &key, EntryBody::Deliver { lease }))
}

/// A seller's node is there a second time in a slot.
fn heartbeat_twice(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let state = desk.state;
    let beaten = |seller: &AccountId, node| state.has_beaten(seller, node);
    let offers = state.offers().map(|(_, offer)| offer);
    let offers = offers.filter(|o| beaten(&o.seller, &o.terms.node));
    let offers: Vec<_> = offers.map(|o| (o.seller, o.terms.label)).collect();
    let (seller, label) = desk.load.rng.pick(&offers).copied()?;
    let key = desk.key_of(&seller)?;
    Some(desk.sign(seller, &key, EntryBody::Heartbeat { label }))
}

/// A seller's node says that it is there, and serves nobody.
fn idle(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let state = desk.state;
    let serves = |offer| {
        let mut leases = state.leases();
        leases.any(|(_, lease)| lease.has_delivered(offer))
    };
    let offers = state.offers().filter(|(id, _)| !serves(id));
    let offers = offers.filter(|(_, o)| !state.has_beaten(&o.seller, &o.terms.node));
    let offers: Vec<_> = offers.map(|(_, o)| (o.seller, o.terms.label)).collect();
    let (seller, label) = desk.load.rng.pick(&offers).copied()?;
    let key = desk.key_of(&seller)?;
    Some(desk.sign(seller, &key, EntryBody::Heartbeat { label }))
}

/// A buyer complains of a slot that is long over.
fn nothing_to_complain(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (lease, account, key) = bought(desk)?;
    let running = desk.state.lease(&lease)?;
    let (offer, slot) = (running.shares.first()?.offer, running.slot.checked_sub(3)?);
    let body = EntryBody::Complain { lease, offer, slot };
    Some(desk.sign(account, &key, body))
}

fn nothing_to_fail(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (lease, account, key) = bought(desk)?;
    Some(desk.sign(account, &key, EntryBody::Fail { lease }))
}

/// A lease whose buyer sells nothing of it.
fn bought(desk: &mut Desk<'_>) -> Option<(LeaseId, AccountId, Key)> {
    let (state, load) = (desk.state, &mut desk.load);
    let leases = state.leases().filter(|(_, lease)| {
        let mut sellers = lease.shares.iter().map(|s| state.offer(&s.offer));
        sellers.all(|offer| offer.is_some_and(|o| o.seller != lease.account))
    });
    let leases: Vec<_> = leases.collect();
    let (id, lease) = load.rng.pick(&leases).copied()?;
    Some((*id, lease.account, desk.key_of(&lease.account)?))
}

fn firm_slots(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let slots = desk.state.policy().max_firm_slots + 1;
    desk.purchase_of(slots, micros(1))
}

/// Money for evicting others, where nobody is evicted.
fn surcharge(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    if desk.state.policy().buy.evicts() {
        return None;
    }
    let work = Hash32(desk.load.rng.bytes32());
    desk.by_owner(EntryBody::Buy(Buy {
        parts: vec![BuyPart::anywhere(desk.classes[0], 1)],
        slots: 1,
        limit: micros(1),
        stands_until: 0,
        surcharge: micros(1),
        work,
    }))
}

/// Units under reservation for more than the posted price.
fn unbookable(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let class = desk.state.class(&desk.classes[0])?;
    let terms = OfferTerms {
        reserve: Price(class.reference_price.0 + 1),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Reservation,
        ..seller::hoarded(desk.classes[0], desk.patron, HOARD)
    };
    desk.by_owner(EntryBody::SetOffer(OfferTerms { units: 1, ..terms }))
}

fn nothing_to_appeal(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let bid = desk.imagined()?;
    desk.appeal_for_nothing(bid)
}
