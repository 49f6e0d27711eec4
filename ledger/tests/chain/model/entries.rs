//! The random entries: most of them sound, some not.

use super::group::{random_offer, random_parts};
use super::share::random_claim;
use super::{Dice, Memory};
use crate::appeals::{appeal, receipts};
use crate::groups::large;
use crate::reserving::random_reservation;
use crate::trade::{bid, order, terms};
use crate::world::{World, credits, key};
use crate::{contracts, deadline};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, ClassId, EntryId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::offer::{PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::{Amendment, Bid, Buy, BuyPart, ContractEntry, Open, Wish};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Price;
use std::sync::Arc;

pub(super) fn entry(world: &mut World, dice: &mut Dice, memory: &mut Memory) -> Arc<Authentic> {
    let n = dice.below(4) as u8 + 1;
    let leases: Vec<LeaseId> = world.state.leases().map(|(id, _)| *id).collect();
    let orders: Vec<OrderId> = world.state.orders().map(|(id, _)| *id).collect();
    let lease = dice.pick(&leases).unwrap_or(LeaseId([5; 32]));
    let chosen = dice.pick(&orders).unwrap_or(OrderId([5; 32]));
    let body = match dice.below(64) {
        0 => EntryBody::Transfer {
            to: world.member(n % 4 + 1),
            amount: credits(dice.below(2_000) + 1),
            memo: Hash32([dice.below(250) as u8; 32]),
        },
        1 => random_terms(world, dice),
        25 => random_offer(world, dice),
        2 if dice.below(3) == 0 => EntryBody::WithdrawOffer {
            label: dice.below(3) as u32,
        },
        2..=7 => return delivery(world, dice, n, lease),
        8 => {
            let owner = world.state.order(&chosen).map(|o| o.account);
            let by = (1..=4)
                .find(|m| Some(world.member(*m)) == owner)
                .unwrap_or(n);
            return world.by(by, EntryBody::Cancel { order: chosen });
        }
        9..=11 | 45 | 58..=60 => {
            let wish = random_bid(world, dice);
            return sealing(world, memory, n, wish.into());
        }
        43 => {
            let wish = random_reservation(world, dice);
            return sealing(world, memory, n, wish.into());
        }
        44 => {
            let mut terms = terms(world, 2, dice.below(2) as u32 + 1, dice.below(15), None);
            if dice.below(8) == 0 {
                // Now and then one that was auctioned.
                terms.label = 0;
            }
            terms.mechanism = Primary::Reservation;
            // Only two sellers reserve: units sold ahead are auctioned too, and with more of them
            // no buy would have to displace anybody.
            return world.by(n % 2 + 1, EntryBody::SetOffer(terms));
        }
        48 => return amending(world, dice, memory, n),
        12..=16 | 61..=63 if !memory.sealed.is_empty() => return opening(world, dice, memory),
        17..=21 | 39..=42 | 46..=47 | 52..=57 => EntryBody::Buy(random_buy(world, dice)),
        49..=51 => EntryBody::Share(random_claim(world, dice)),
        22 if !memory.sent.is_empty() => {
            let at = dice.below(memory.sent.len() as u64) as usize;
            return memory.sent[at].clone();
        }
        26 => EntryBody::SetOffer(deadline::random_offer(world, dice)),
        27..=30 => EntryBody::Deadline(deadline::random_job(world, dice)),
        23..=24 if !memory.kept_out.is_empty() => return appealing(world, dice, memory),
        31..=38 => return contracting(world, dice, n),
        _ => return garbage(world, dice, n),
    };
    world.by(n, body)
}

fn random_terms(world: &World, dice: &mut Dice) -> EntryBody {
    let reserve = dice.below(30);
    let buy = (dice.below(4) > 0).then(|| reserve + dice.below(30));
    let units = dice.below(2) as u32 + 1;
    let mut terms = terms(world, dice.below(2) as u32, units, reserve, buy);
    if dice.below(6) == 0 {
        terms.reclaim = Reclaim::Notice(30);
    }
    if dice.below(4) == 0 {
        (terms.buy_price, terms.reclaim) = (None, Reclaim::None);
        terms.mechanism = Primary::Share(PoolTerms {
            cap_ppm: 1_000_000 - dice.below(500_000) as u32 / terms.units,
            sixteenths: dice.below(17) as u32,
        });
        terms.units += 1;
    }
    if dice.below(30) == 0 {
        terms.class = ClassId([9; 32]);
    }
    EntryBody::SetOffer(terms)
}

fn sealing(world: &mut World, memory: &mut Memory, n: u8, wish: Wish) -> Arc<Authentic> {
    let commit = world.commit(n, &wish, 3);
    memory.sealed.push((n, commit.clone(), wish));
    commit
}

/// An amendment of a bid of the account, now and then of somebody else's or of another shape.
fn amending(world: &mut World, dice: &mut Dice, memory: &mut Memory, n: u8) -> Arc<Authentic> {
    let any = dice.below(12) == 0;
    let own = |account| any || account == world.member(n);
    let bids = world.state.orders().filter(|(_, o)| own(o.account));
    let bids = bids.filter_map(|(id, order)| Some((*id, order.bid()?.bid.clone())));
    let bids: Vec<(OrderId, Bid)> = bids.collect();
    if bids.is_empty() {
        return garbage(world, dice, n);
    }
    let (order, old) = bids[dice.below(bids.len() as u64) as usize].clone();
    let mut bid = random_bid(world, dice);
    bid.steps = old.steps;
    let times = dice.below(2) + 1;
    for step in &mut bid.steps {
        step.price = Price(step.price.0 * times + 1);
    }
    (bid.min, bid.slots, bid.work) = (old.min, old.slots, old.work);
    bid.stands_until += 20;
    bid.budget = credits(bid.value(bid.units()).micros() + 200 + dice.below(300));
    sealing(world, memory, n, Wish::Amendment(Amendment { order, bid }))
}

/// A complaint by the buyer, of the running slot or the one before.
fn complaint(world: &World, dice: &mut Dice, lease: LeaseId) -> Option<Arc<Authentic>> {
    let running = world.state.lease(&lease)?;
    let buyer = (1..=4).find(|m| world.member(*m) == running.account)?;
    let slot = running.slot.checked_sub(dice.below(2))?;
    let offer = running.shares[0].offer;
    Some(world.by(buyer, EntryBody::Complain { lease, offer, slot }))
}

/// A word on a lease, mostly by the seller of its first share.
fn delivery(world: &World, dice: &mut Dice, n: u8, lease: LeaseId) -> Arc<Authentic> {
    let seller = world.state.lease(&lease).map(|l| l.shares[0].offer);
    let seller = seller.and_then(|o| world.state.offer(&o)).map(|o| o.seller);
    let seller = (1..=4).find(|m| Some(world.member(*m)) == seller);
    let by = if dice.below(5) == 0 {
        n
    } else {
        seller.unwrap_or(n)
    };
    match dice.below(12) {
        0 => world.by(by, EntryBody::Fail { lease }),
        1 => {
            complaint(world, dice, lease).unwrap_or_else(|| world.by(by, EntryBody::Fail { lease }))
        }
        2..=4 => {
            let label = dice.below(3) as u32;
            world.by(by, EntryBody::Heartbeat { label })
        }
        _ => world.by(by, EntryBody::Deliver { lease }),
    }
}

/// An opening, mostly of a bid that can be opened now.
fn opening(world: &mut World, dice: &mut Dice, memory: &mut Memory) -> Arc<Authentic> {
    let calendar = world.state.calendar();
    let round = calendar.round(world.state.height() + 1);
    let ripe = |(_, commit, _): &(u8, Arc<Authentic>, Wish)| {
        let order = world.state.order(&order(&commit.id()));
        order.is_some_and(|o| o.round + 1 == round && o.is_sealed())
    };
    let ripe = memory.sealed.iter().position(ripe);
    let any = dice.below(memory.sealed.len() as u64) as usize;
    let at = ripe.filter(|_| dice.below(10) > 0).unwrap_or(any);
    let (owner, commit, mut wish) = memory.sealed[at].clone();
    if dice.below(20) == 0 {
        match &mut wish {
            Wish::Bid(bid) => bid.slots += 1,
            Wish::Reservation(reservation) => reservation.slots += 1,
            Wish::Amendment(amendment) => amendment.bid.slots += 1,
        }
    }
    let open = world.open(owner, &commit, &wish);
    if dice.below(6) == 0 {
        memory.kept_out.push((owner, open));
        return garbage(world, dice, owner);
    }
    open
}

/// An appeal for an opening that was kept out, mostly one that still helps, with receipts that
/// mostly suffice.
fn appealing(world: &World, dice: &mut Dice, memory: &mut Memory) -> Arc<Authentic> {
    let order_of = |open: &Authentic| match &open.entry().body {
        EntryBody::Open(open) => order(&open.commit),
        _ => panic!("only openings are kept out"),
    };
    let waits = |(_, open): &(u8, Arc<Authentic>)| world.state.unopened(&order_of(open)).is_some();
    let ripe = memory.kept_out.iter().position(waits);
    let any = dice.below(memory.kept_out.len() as u64) as usize;
    let (owner, open) = memory.kept_out[ripe.unwrap_or(any)].clone();
    let calendar = world.state.calendar();
    let unopened = world.state.unopened(&order_of(&open));
    let tip = unopened.map_or(0, |o| calendar.last_of_round(o.round));
    let signers: &[u8] = match dice.below(8) {
        0 => &[101],
        1 => &[101, 105],
        _ => &[101, 102],
    };
    let late = u64::from(dice.below(10) == 0);
    let receipts = receipts(world, open.id(), tip + late, signers);
    appeal(world, owner, &open, receipts)
}

/// A word about a contract, mostly by the one who may say it.
fn contracting(world: &mut World, dice: &mut Dice, n: u8) -> Arc<Authentic> {
    let contracts: Vec<OrderId> = world.state.contracts().map(|(id, _)| *id).collect();
    let proposes = contracts.len() < 2 && dice.below(2) == 0;
    let Some(contract) = dice.pick(&contracts).filter(|_| !proposes) else {
        let mut terms = contracts::terms(world);
        let slot = world.state.calendar().slot(world.state.height() + 1);
        terms.provider = world.member(n % 4 + 1);
        (terms.first, terms.last) = (slot, slot + dice.below(5));
        terms.jobs = dice.below(4) as u32 + 1;
        terms.job.slots = dice.below(2) as u32 + 1;
        // Worth no less than its penalty, it falls to it within the time that every world is given
        // to end.
        terms.job.value = credits(dice.below(500) + 100);
        terms.job.penalty = credits(dice.below(100));
        terms.beta16 = dice.below(40) as u32;
        terms.stands_until = world.state.height() + 1 + dice.below(20);
        return world.says(n, ContractEntry::Propose(Box::new(terms)));
    };
    let found = world.state.contract(&contract).unwrap().clone();
    let (client, provider) = (found.client, found.terms.provider);
    let number = |account| (1..=4).find(|m| world.member(*m) == account).unwrap();
    let (client, provider) = (number(client), number(provider));
    let jobs = world.state.contract_jobs(&contract).map(|(id, _)| *id);
    let jobs: Vec<OrderId> = jobs.collect();
    let job = dice.pick(&jobs).unwrap_or(contract);
    let account = world.member(provider);
    let orders = world.state.orders_of(&account).map(|(id, _)| *id);
    let orders: Vec<OrderId> = orders.collect();
    let order = dice.pick(&orders).unwrap_or(contract);
    let work = Hash32([world.fresh() as u8; 32]);
    let (by, entry) = match dice.below(12) {
        0..=2 => (provider, ContractEntry::Sign { contract }),
        3..=5 => (client, ContractEntry::Request { contract, work }),
        6 => (client, ContractEntry::Complete { contract, job }),
        7 if dice.below(4) == 0 => (client, ContractEntry::Close { contract }),
        _ => {
            let serve = ContractEntry::Serve {
                contract,
                job,
                order,
            };
            (provider, serve)
        }
    };
    let by = if dice.below(10) == 0 { n } else { by };
    world.says(by, entry)
}

fn random_bid(world: &mut World, dice: &mut Dice) -> Bid {
    let units = dice.below(3) as u32 + 1;
    let price = dice.below(60) + 2;
    let mut steps = vec![(units, price)];
    if dice.below(2) == 0 {
        steps.push((dice.below(3) as u32 + 1, dice.below(price)));
    }
    let mut bid = bid(world, &steps, dice.below(4) as u32 + 1);
    if dice.below(6) == 0 {
        bid.class = large();
    }
    bid.min = dice.below(u64::from(bid.units())) as u32 + 1;
    bid.budget = credits(bid.value(bid.units()).micros() + dice.below(300));
    bid.stands_until = world.state.height() + dice.below(40);
    let fresh = world.fresh();
    bid.work = Hash32([fresh as u8; 32]);
    bid
}

fn random_buy(world: &mut World, dice: &mut Dice) -> Buy {
    let offers: Vec<OfferId> = world.state.offers().map(|(id, _)| *id).collect();
    let named = match dice.below(3) {
        0 => dice.pick(&offers).into_iter().collect(),
        _ => vec![],
    };
    let fresh = world.fresh();
    let part = BuyPart {
        class: world.class,
        units: dice.below(3) as u32 + 1,
        offers: named,
    };
    Buy {
        parts: random_parts(dice, part),
        slots: dice.below(2) as u32 + 1,
        limit: credits(dice.below(400)),
        stands_until: world.state.height() * dice.below(2) + dice.below(24),
        surcharge: credits(match world.state.policy().buy.evicts() {
            true => dice.below(3) * 60,
            false => 0,
        }),
        work: Hash32([fresh as u8; 32]),
    }
}

/// Entries that nobody should take, or that are at the edge of what is legal.
fn garbage(world: &mut World, dice: &mut Dice, n: u8) -> Arc<Authentic> {
    let member = world.member(n);
    match dice.below(7) {
        0 => world.sign(
            AccountId([9; 32]),
            &key(n),
            EntryBody::WithdrawOffer { label: 0 },
        ),
        1 => world.sign(member, &key(77), EntryBody::WithdrawOffer { label: 0 }),
        2 => world.by(
            n,
            EntryBody::Transfer {
                to: AccountId([1; 32]),
                amount: credits(1),
                memo: Hash32([0; 32]),
            },
        ),
        3 => {
            let mut buy = random_buy(world, dice);
            buy.limit = credits(i64::MAX as u64);
            buy.slots = 100;
            world.by(n, EntryBody::Buy(buy))
        }
        4 => {
            let mut bid = random_bid(world, dice);
            bid.steps[0].price = Price::MAX;
            let open = Open {
                commit: EntryId([dice.below(9) as u8; 32]),
                wish: bid.into(),
                salt: [0; 32],
            };
            world.by(n, EntryBody::Open(open))
        }
        5 => {
            let mut dear = terms(world, 3, 1, 0, None);
            dear.reserve = Price::MAX;
            dear.buy_price = Some(Price::MAX);
            world.by(n, EntryBody::SetOffer(dear))
        }
        _ => {
            let height = world.state.height();
            let body = EntryBody::RegisterBeacon {
                tip: Hash32(world.state.beacon_tip(&validator(n)).unwrap()),
            };
            world.sign_until(member, &key(n), body, height + dice.below(3))
        }
    }
}

fn validator(n: u8) -> gridbay_protocol::ids::ValidatorId {
    gridbay_protocol::validator::validator_id(&key(100 + n).public())
}
