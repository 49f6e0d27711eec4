//! Jobs by deadlines: sellers that plan, buyers that ask them, and those that ask for units that
//! nobody gives.

use super::buyer::micros;
use super::desk::Desk;
use super::key::Key;
use super::seller::HOARD;
use crate::found::node_key;
use crate::world::World;
use gridbay_core::buy::{DeadlineWish, Terms};
use gridbay_core::input::Command;
use gridbay_ledger::Offer;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32, OfferId};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::Deadline;

/// Label of a node's planned offer; those of its others are below.
const PLANNED: u32 = 2;
const SHAPES: [Shape; 3] = [Shape::Linear, Shape::Convex, Shape::Concave];

/// Whether an offer takes jobs.
fn takes(offer: &Offer) -> bool {
    offer.active && matches!(offer.terms.mechanism, Primary::Deadline(_))
}

impl World {
    /// Terms of an offer whose units are planned.
    fn planned(&mut self, node: usize, label: u32, bond_ppm: u32) -> OfferTerms {
        let terms = self.terms(node, label);
        let min_gain_ppm = [0, 0, 800_000][self.load.rng.index(3)];
        OfferTerms {
            class: self.classes()[0],
            buy_price: None,
            reclaim: Reclaim::None,
            mechanism: Primary::Deadline(DeadlineTerms {
                min_gain_ppm,
                bond_ppm,
            }),
            node: node_key(node),
            ..terms
        }
    }
    /// A node's units for jobs, or a change of them.
    pub(crate) fn plan_offer(&mut self, node: usize) {
        let terms = self.planned(node, PLANNED, 250_000);
        self.command(node, "planned offer", Command::SetOffer(terms));
    }
    /// A client's, at a node that does not know of it; some clients could not stake a thing.
    pub(super) fn plan_by_hand(&mut self, to: usize, client: usize) {
        let node = self.load.rng.index(self.plan.nodes());
        let terms = self.planned(node, HOARD + 1, 1_000_000);
        let offered = self.write(to, |desk| {
            let (account, key) = desk.client(client)?;
            Some(desk.sign(account, &key, EntryBody::SetOffer(terms)))
        });
        if offered {
            self.cover.deed("planned offer that nobody delivers");
        }
    }
    /// A bag of tasks for one of the sellers that plan.
    pub(crate) fn deadline(&mut self, node: usize) {
        let offers = self.core(node).map(|core| core.state().offers());
        let offers = offers.into_iter().flatten().filter(|(_, o)| takes(o));
        let offers: Vec<_> = offers.map(|(id, o)| (*id, o.terms.clone())).collect();
        let Some((offer, of)) = self.load.rng.pick(&offers).cloned() else {
            return;
        };
        let rng = &mut self.load.rng;
        let tasks = rng.range(1, 6) as u32;
        let unit_slots = u64::from(tasks) + rng.range(0, 4);
        let soft = rng.range(1, 4) as u32;
        let hard = soft + rng.range(0, 5) as u32;
        let least = of.reserve.0 * unit_slots;
        let pmin = least + rng.range(0, 200);
        let pmax = pmin.max(1) + rng.range(0, 2_000);
        let terms = Terms::Deadline(DeadlineWish {
            offer,
            unit_slots,
            soft,
            hard,
            pmax: micros(pmax),
            pmin: micros(pmin),
            shape: SHAPES[rng.index(3)],
        });
        self.order(node, "job by deadline", of.class, tasks, hard, terms);
    }
    /// One of what the ledger takes no job for.
    pub(crate) fn ask_in_vain(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let vain: [fn(&mut Desk<'_>) -> Option<SignedEntry>; 4] =
            [not_planned, too_much_work, below_reserve, job_quota];
        let which = self.load.rng.index(vain.len());
        if self.write(to, vain[which]) {
            self.cover.deed("job in vain");
        }
    }
}

impl Desk<'_> {
    /// A job that an offer would do, by somebody who can pay for it.
    fn job(&mut self) -> Option<(AccountId, Key, Deadline, OfferTerms)> {
        let offers = self.state.offers().filter(|(_, o)| takes(o));
        let offers: Vec<(OfferId, OfferTerms)> =
            offers.map(|(id, o)| (*id, o.terms.clone())).collect();
        let (offer, terms) = self.load.rng.pick(&offers).cloned()?;
        let (account, key) = self.owner()?;
        let least = terms.reserve.0 * 2;
        let job = Deadline {
            class: terms.class,
            offer,
            tasks: 1,
            unit_slots: 2,
            soft: 2,
            hard: 4,
            pmax: micros(least + 50),
            pmin: micros(least),
            shape: Shape::Linear,
            work: Hash32(self.load.rng.bytes32()),
        };
        Some((account, key, job, terms))
    }
    fn ask(&mut self, account: AccountId, key: &Key, job: Deadline) -> SignedEntry {
        self.sign(account, key, EntryBody::Deadline(job))
    }
}

fn not_planned(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key, mut job, _) = desk.job()?;
    let other = desk.state.offers().find(|(_, offer)| !takes(offer));
    job.offer = other.map_or(OfferId([0; 32]), |(id, _)| *id);
    Some(desk.ask(account, &key, job))
}

fn too_much_work(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key, mut job, terms) = desk.job()?;
    job.unit_slots = u64::from(terms.units) * u64::from(job.hard) + 1;
    Some(desk.ask(account, &key, job))
}

fn below_reserve(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key, mut job, terms) = desk.job()?;
    job.pmin = micros((terms.reserve.0 * job.unit_slots).checked_sub(1)?);
    Some(desk.ask(account, &key, job))
}

/// An account with as many jobs at an offer as it may have asks for one more; before that, this is
/// a job like any other.
fn job_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let jobs = desk.state.orders().filter_map(|(_, order)| {
        let job = order.deadline()?;
        Some((order.account, job.deadline.clone()))
    });
    let most = jobs.max_by_key(|(account, job)| {
        let same = |(_, o): &(_, &gridbay_ledger::Order)| {
            let at = o.deadline().map(|d| d.deadline.offer);
            o.account == *account && at == Some(job.offer)
        };
        desk.state.orders().filter(same).count()
    });
    let (account, mut job) = match most {
        Some(most) => most,
        None => desk.job().map(|(account, _, job, _)| (account, job))?,
    };
    let key = desk.key_of(&account)?;
    job.work = Hash32(desk.load.rng.bytes32());
    Some(desk.ask(account, &key, job))
}
