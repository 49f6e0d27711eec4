//! The buyer has pairs of members that have no way carried by relays ([`crate::relay`]).
//!
//! 1. Every member is asked every [`LINKS_MS`] whom it reaches. A pair of which both ends have no
//!    way for some time needs relays.
//! 2. Relays that carry for nothing are asked first, [`SPARE`] of them for a lease, so that the
//!    death of one moves packets and loses no way.
//! 3. Where none of them carries for some pair, and the user pays for relays, one is leased: an
//!    order of its own, which ends with the order that it is for, or when no pair has needed it for
//!    [`IDLE_MS`].
//! 4. Each relay is asked anew every [`WISH_MS`]. One that does not answer twice is left alone for
//!    some time. A leased one counts as not serving meanwhile, as one does that claimed to carry
//!    what neither end has heard, where no single member can have made it look so: a complaint
//!    follows as for any job that does not run.
//! 5. It does not wait for that: another one is leased beside it, of another node. Once that
//!    carries, the earlier order ends.

use super::Buyer;
use super::ask::Question;
use super::carriers::{Carrier, Carriers};
use super::complaint::Try;
use super::order::OrderAgent;
use super::record::Record;
use super::relays::{Ends, Place, Relays, Wished};
use super::run::Run;
use super::source::Source;
use crate::agent::{AgentReply, AgentRequest, Phase};
use crate::buy::{BuyTerms, NewOrder, Relaying, Terms};
use crate::effect::Effect;
use crate::input::Now;
use crate::key::OrderKey;
use crate::relay::{Carried, Signed, Wish, relay_job};
use crate::signer::Signer;
use gridbay_ledger::State;
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits::OFFERS_PER_ACCOUNT;
use gridbay_protocol::order::BuyPart;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Milliseconds between two questions to a member for its ways.
const LINKS_MS: u64 = 1_500;
/// Milliseconds between two wishes.
const WISH_MS: u64 = 1_000;
/// Relays that carry for nothing for one lease.
const SPARE: usize = 2;
/// Milliseconds after which a leased relay that nobody needs is given up.
const IDLE_MS: u64 = 60_000;
/// Milliseconds between two orders for a relay.
const AGAIN_MS: u64 = 5_000;
/// Relays that are leased one after the other for one order at the most.
const LEASED: u32 = 32;
/// Orders for relays of one order that have not ended at the most.
const BESIDE: usize = 3;

/// The units of running relays.
type Units = Vec<(PublicKey, LeaseId, OfferId)>;

impl Buyer {
    /// Does what is due for the networks of an order.
    pub(super) fn relay(
        &mut self,
        key: OrderKey,
        market: &Carriers<'_>,
        signer: &Signer<'_>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let now_ms = now.mono_ms;
        self.end_unneeded(key, now_ms);
        let units = self.leased_for(key);
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        if !agent.order().spec.network || agent.order().relay == Relaying::Off {
            return;
        }
        let members = agent.introductions.members();
        let due = agent.relays.due(&members, now_ms, LINKS_MS);
        agent.relays.judge_pairs(now_ms);
        let pays = |lease: &LeaseId| units.iter().any(|(_, paid, _)| paid == lease);
        let own = agent.introductions.owner;
        agent.relays.keep_sources(own, now_ms, pays);
        agent.choose_relays(&units, market, now_ms);
        let wishes = agent.wishes(signer, now_ms);
        let short = agent.lacks_a_relay();
        for (lease, node) in due {
            let (question, request) = (Question::Links(lease, node), AgentRequest::Links(lease));
            self.ask(key, node, request, question, effects);
        }
        for wished in wishes {
            let signed = Signed::new(&market.state.network(), wished.wish.clone(), signer.key);
            let (to, request) = (wished.wish.relay, AgentRequest::Relay(Box::new(signed)));
            self.ask(key, to, request, Question::Relay(Box::new(wished)), effects);
        }
        if short {
            self.lease_relay(key, market, now);
        }
    }

    /// The units that relay for an order now.
    fn leased_for(&self, key: OrderKey) -> Units {
        let relays = self.orders.values();
        let relays = relays.filter(|a| a.order().relay == Relaying::For(key) && !a.is_over());
        let runs = relays.flat_map(|agent| agent.tasks.runs.values());
        let runs = runs.filter(|r| r.accepted && matches!(r.phase, Phase::Running { .. }));
        runs.map(|r| (r.node, r.job.lease, r.offer)).collect()
    }

    /// Whether a relay's order has a unit, and each of them satisfies something.
    fn relays_that(&self, key: &OrderKey, is: impl Fn(&Relays, &LeaseId) -> bool) -> bool {
        let Some(agent) = self.orders.get(key) else {
            return false;
        };
        let of = match &agent.order().relay {
            Relaying::For(of) => self.orders.get(of),
            _ => None,
        };
        let runs = agent.tasks.runs.values();
        let mut leases = runs
            .filter(|r| r.accepted && matches!(r.phase, Phase::Running { .. }))
            .map(|r| r.job.lease)
            .peekable();
        let all = |of: &OrderAgent| leases.peek().is_some() && leases.all(|l| is(&of.relays, &l));
        of.is_some_and(all)
    }

    /// Whether a later order for a relay of the same order carries.
    fn is_replaced(&self, key: &OrderKey) -> bool {
        let Some(own) = self.orders.get(key).map(OrderAgent::order) else {
            return false;
        };
        let later = |(_, a): &(&OrderKey, &OrderAgent)| {
            let order = a.order();
            order.relay == own.relay && order.accepted_ms > own.accepted_ms && !a.is_over()
        };
        let mut later = self.orders.iter().filter(later);
        later.any(|(key, _)| self.relays_that(key, Relays::pays_off))
    }

    /// Ends a relay's order if that for which it carries is over, or has not needed it for long, or
    /// another one has taken its place.
    fn end_unneeded(&mut self, key: OrderKey, now_ms: u64) {
        let Some(Relaying::For(of)) = self.orders.get(&key).map(|a| a.order().relay.clone()) else {
            return;
        };
        let of = self.orders.get(&of).filter(|agent| !agent.is_over());
        // After a restart nothing is known yet.
        let needs = |agent: &OrderAgent| now_ms < agent.relays.needed_ms + IDLE_MS;
        if !of.is_some_and(needs) || self.is_replaced(&key) {
            self.cancel(&key);
        }
    }

    /// Places the order for a relay, if the user pays for one and none is under way but such as
    /// have failed.
    fn lease_relay(&mut self, key: OrderKey, market: &Carriers<'_>, now: Now) {
        let theirs = |(_, a): &(&OrderKey, &OrderAgent)| a.order().relay == Relaying::For(key);
        let earlier = self.orders.iter().filter(theirs);
        let mut open = earlier.clone().filter(|(_, a)| a.finish().is_none());
        let failed = |key: &OrderKey| self.relays_that(key, Relays::has_failed);
        if open.clone().count() >= BESIDE || !open.all(|(key, _)| failed(key)) {
            return;
        }
        let number = earlier.count() as u32;
        let Some(agent) = self.orders.get_mut(&key).filter(|a| !a.is_over()) else {
            return;
        };
        let Some(order) = agent.relay_order(market, number, now) else {
            return;
        };
        agent.relays.lease_from_ms = now.mono_ms + AGAIN_MS;
        if self.orders.contains_key(&order.key) {
            return;
        }
        tracing::info!(order = %key, relay = %order.key, "a pair has no way: leasing a relay");
        let mut agent = OrderAgent::new(Record::new(order));
        agent.touch();
        self.orders.insert(agent.order().key, agent);
        self.make_room();
    }

    /// A member said how it reaches the others, or did not.
    pub(super) fn heard_links(
        &mut self,
        key: OrderKey,
        place: Place,
        reply: Option<AgentReply>,
        state: &State,
        now_ms: u64,
    ) {
        let Some(AgentReply::Links(signed)) = reply else {
            return;
        };
        let theirs = signed.verify(&state.network(), &place.1).is_ok();
        if let Some(agent) = self.orders.get_mut(&key).filter(|_| theirs)
            && signed.said.lease == place.0
            && signed.said.is_valid()
        {
            agent.relays.hear(place, *signed, now_ms);
        }
    }

    /// A relay answered a wish, or did not.
    pub(super) fn wish_answered(
        &mut self,
        key: OrderKey,
        wished: Wished,
        reply: Option<AgentReply>,
        state: &State,
        now_ms: u64,
    ) {
        let wish = wished.wish;
        let sound = |signed: &Signed<Carried>| {
            signed.said.answers(&wish) && signed.verify(&state.network(), &wish.relay).is_ok()
        };
        let answer = match reply {
            Some(AgentReply::Carried(signed)) => Some(*signed).filter(sound),
            _ => None,
        };
        let answer = answer.map(|signed| (wished.pairs, signed));
        if let Some(agent) = self.orders.get_mut(&key) {
            let source = (wish.carries, wish.relay, wish.paid_by);
            let next = now_ms + WISH_MS;
            agent.relays.answered(source, answer, next, now_ms);
        }
    }

    /// What a run of a relay's order shows if it does not carry as it should.
    pub(super) fn tried_to_carry(&self, key: OrderKey, run: &Run) -> Option<Try> {
        let Relaying::For(of) = &self.orders.get(&key)?.order().relay else {
            return None;
        };
        let relays = &self.orders.get(of)?.relays;
        let guilty = relays.is_guilty(&run.node).then_some(Try::Refused);
        guilty.or(relays.is_silent(&run.job.lease).then_some(Try::Silent))
    }
}

impl OrderAgent {
    /// The order for a relay: a unit of the cheapest class in which one is sold within the limit,
    /// of any node that sells it there.
    fn relay_order(&self, market: &Carriers<'_>, number: u32, now: Now) -> Option<NewOrder> {
        let Relaying::Paid(pay) = self.order().relay else {
            return None;
        };
        if number >= LEASED || now.mono_ms < self.relays.lease_from_ms {
            return None;
        }
        let needy = self.relays.needy();
        let serves = |c: &Carrier| needy.iter().any(|l| self.relays.serves(l, &c.node));
        let may = |c: &Carrier| {
            let dear = c.price.times(1).is_none_or(|price| price > pay.limit);
            !dear && !self.relays.fails_at(&c.node) && serves(c)
        };
        let sold: Vec<Carrier> = market.sold().into_iter().filter(may).collect();
        let class = sold.iter().min_by_key(|c| (c.price, c.class))?.class;
        let offers = sold.iter().filter(|c| c.class == class).map(|c| c.offer);
        let mut offers: Vec<OfferId> = offers.take(OFFERS_PER_ACCOUNT).collect();
        offers.sort_unstable();
        offers.dedup();
        let parts: [&[u8]; 3] = [&self.order().entropy, b"relay order", &number.to_be_bytes()];
        let entropy = hash(Domain::Agent, &parts);
        let name = hash(Domain::Agent, &[&entropy, b"key"]);
        let key = name
            .iter()
            .take(8)
            .fold(0, |key, byte| key << 8 | u64::from(*byte));
        Some(NewOrder {
            key: OrderKey(key),
            entropy,
            name: "relay".to_owned(),
            accepted_ms: now.wall_ms,
            class,
            terms: Terms::Buy(BuyTerms {
                parts: vec![BuyPart {
                    class,
                    units: 1,
                    offers,
                }],
                limit: pay.limit,
                patience: 0,
                surcharge: Credits::ZERO,
            }),
            slots: pay.slots,
            tasks: 1,
            spec: relay_job(self.order().spec.wall_seconds),
            worth: None,
            relay: Relaying::For(self.order().key),
            request: None,
        })
    }

    /// Adds relays where they are needed.
    fn choose_relays(&mut self, units: &Units, market: &Carriers<'_>, now_ms: u64) {
        let entropy = self.order().entropy;
        let relays = &mut self.relays;
        for carries in relays.needy() {
            for (node, lease, offer) in units {
                let known = |s: &Source| s.is(&carries, node, Some(*lease));
                let may = !relays.is_accused(node) && relays.serves(&carries, node);
                if may && !relays.sources.iter().any(known) {
                    let paid = Some((*lease, *offer));
                    let source = Source::new(carries, *node, paid, &entropy);
                    relays.sources.push(source);
                }
            }
            let mine = |s: &&Source| s.carries == carries && s.paid_by.is_none() && s.failures == 0;
            let mut known: Vec<PublicKey> =
                relays.sources.iter().filter(mine).map(|s| s.node).collect();
            if known.len() >= SPARE {
                continue;
            }
            // Each lease begins elsewhere, so that all do not ask the same node.
            let far =
                |node: &PublicKey| hash(Domain::Agent, &[b"relay of", &carries.0, node.as_bytes()]);
            let mut all = market.free();
            all.sort_by_key(far);
            all.dedup();
            for node in all {
                let asked = |s: &Source| s.is(&carries, &node, None);
                let new = !relays.sources.iter().any(asked) && relays.may_ask(&node, now_ms);
                let new = new && relays.serves(&carries, &node);
                if new && known.len() < SPARE {
                    known.push(node);
                    let source = Source::new(carries, node, None, &entropy);
                    relays.sources.push(source);
                }
            }
        }
    }

    /// The wishes that are due.
    fn wishes(&mut self, signer: &Signer<'_>, now_ms: u64) -> Vec<Wished> {
        let mut pairs: BTreeMap<(LeaseId, PublicKey), Vec<Ends>> = BTreeMap::new();
        for source in &self.relays.sources {
            let place = (source.carries, source.node);
            let of = || self.relays.pairs(&source.carries, &source.node);
            pairs.entry(place).or_insert_with(of);
        }
        let mut wishes = Vec::new();
        for source in &mut self.relays.sources {
            let mut pairs = pairs[&(source.carries, source.node)].clone();
            if pairs.is_empty() || !source.ask(now_ms) {
                continue;
            }
            pairs.sort_by_key(|pair| source.tickets(pair));
            let wish = Wish {
                relay: source.node,
                carries: source.carries,
                paid_by: source.paid_by.map(|(lease, _)| lease),
                pairs: pairs.iter().map(|pair| source.tickets(pair)).collect(),
                key: signer.key.public(),
            };
            wishes.push(Wished { wish, pairs });
        }
        wishes
    }

    /// Whether some pair has no relay, although those that cost nothing had their time.
    fn lacks_a_relay(&self) -> bool {
        let new = |s: &Source| s.answer.is_none() && s.failures == 0;
        let asking = self.relays.sources.iter().any(new);
        let needy = self.relays.needy();
        !asking && needy.iter().any(|lease| self.relays.is_short(lease))
    }
}
