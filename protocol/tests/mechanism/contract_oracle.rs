//! The rules of contracts restated plainly, tick by tick and sum by sum, without calling production
//! code; and random jobs and contracts.

use gridbay_protocol::mechanism::contract::{
    Abandoned, Aggregate, Answer, Batch, Contract, CostPolicy, Input, Job, Machine, Outcome,
    Period, Policy, Provider, Reason, Row, Schedule,
};

use crate::support::Dice;

pub(crate) fn job(dice: &mut Dice, id: u64, now: u64) -> Job<u64> {
    let scale = [3, 40, 1_000_000][dice.below(3) as usize];
    let value = dice.below(scale);
    Job {
        id,
        arrival: now - dice.below(now.min(12) + 1),
        len: dice.within(1, 9),
        value,
        hold: dice.below(20),
        decay: dice.within(1, 15),
        penalty: [0, value, dice.below(scale)][dice.below(3) as usize],
        bias: dice.below(2 * scale) as i64 - scale as i64 / 2,
    }
}

pub(crate) fn jobs(dice: &mut Dice, count: u64, now: u64) -> Vec<Job<u64>> {
    (0..count).map(|id| job(dice, id, now)).collect()
}

pub(crate) fn machine(dice: &mut Dice) -> Machine {
    let now = dice.below(30);
    Machine {
        now,
        cost: dice.below(4) * dice.below(30),
        free: (0..dice.within(1, 5))
            .map(|_| dice.below(now + 12))
            .collect(),
    }
}

/// The effective utility of an end `t` ticks after the arrival, and whether the job is timed out
/// then. The value lost is counted up, one micro-credit at a time.
pub(crate) fn utility(job: &Job<u64>, t: u64) -> (i128, bool) {
    let mut utility = i128::from(job.value);
    let least = -i128::from(job.penalty);
    if t > job.hold {
        let decayed = job.value * (t - job.hold);
        let mut lost = 0;
        while (lost + 1) * job.decay <= decayed && utility > least {
            lost += 1;
            utility -= 1;
        }
    }
    let dead = t > job.hold && utility <= least;
    (utility.max(least) + i128::from(job.bias), dead)
}

/// FirstProfit with plain searches.
pub(crate) fn schedule(machine: &Machine, jobs: &[Job<u64>]) -> Schedule<u64> {
    let cost = |job: &Job<u64>| i128::from(machine.cost) * i128::from(job.len);
    let profit = |job: &Job<u64>| utility(job, machine.now + job.len - job.arrival).0 - cost(job);
    let mut waiting: Vec<&Job<u64>> = jobs.iter().collect();
    let mut free: Vec<u64> = machine.free.iter().map(|t| *t.max(&machine.now)).collect();
    let mut result = Schedule {
        order: vec![],
        rows: vec![],
        dropped: vec![],
        total: 0,
        span: 0,
    };
    while !waiting.is_empty() {
        let beats = |a: &Job<u64>, b: &Job<u64>| {
            let (a_rate, b_rate) = (profit(a) * i128::from(b.len), profit(b) * i128::from(a.len));
            a_rate > b_rate || (a_rate == b_rate && (a.arrival, a.id) < (b.arrival, b.id))
        };
        let best = (0..waiting.len())
            .find(|&i| {
                waiting
                    .iter()
                    .all(|b| b.id == waiting[i].id || beats(waiting[i], b))
            })
            .unwrap();
        let job = waiting.remove(best);
        let start = *free.iter().min().unwrap();
        let processor = free.iter().position(|&t| t == start).unwrap();
        let end = start + job.len;
        let (worth, dead) = utility(job, end - job.arrival);
        let gain = worth - cost(job);
        result.order.push(job.id);
        if dead || gain < -i128::from(job.penalty) {
            result.dropped.push(job.id);
            result.total -= i128::from(job.penalty);
        } else {
            free[processor] = end;
            result.total += gain;
            result.rows.push(Row {
                id: job.id,
                processor: processor as u32,
                start,
            });
        }
    }
    result.span = free.iter().min().unwrap() - machine.now;
    result
}

pub(crate) fn contract(dice: &mut Dice, id: u64) -> Contract<u64> {
    let start = dice.below(30);
    let jobs = dice.within(1, 9) as u32;
    let completed = dice.below(u64::from(jobs) + 1) as u32;
    Contract {
        id,
        start,
        end: dice.within(start + 1, start + 25),
        mean: dice.below(3_500),
        var: dice.below(4) * dice.below(300_000),
        value: dice.below(50),
        batch: Batch {
            jobs,
            aggregate: Aggregate::new(500_000 * dice.below(4) as u32, 16 * dice.below(4) as u32)
                .unwrap(),
            penalty: dice.below(40),
            completed,
            dropped: dice.below(u64::from(jobs - completed) + 1) as u32,
            earned: dice.below(600),
            owed: dice.below(100),
        },
    }
}

/// Nothing, or periods over most of the time of the contracts.
pub(crate) fn supply(dice: &mut Dice) -> Vec<Period> {
    let mut start = dice.below(3);
    let mut supply = Vec::new();
    for _ in 0..[0, 3, 3, 4, 4, 4, 5, 5][dice.below(8) as usize] {
        let len = dice.within(5, 25);
        supply.push(Period {
            start,
            len,
            cpus: dice.within(4, 12) as u32,
            cost: dice.below(25),
        });
        start += len + u64::from(dice.chance(15));
    }
    dice.shuffle(&mut supply);
    supply
}

pub(crate) fn provider(dice: &mut Dice) -> Provider {
    let policy = match dice.below(8) {
        0 => Policy::Oblivious,
        1 => Policy::Average,
        2 => Policy::Conservative,
        3 => Policy::HighValueOnly {
            threshold: dice.below(50),
        },
        4 | 5 => Policy::PreemptConservative,
        _ => Policy::PreemptLeastLoss {
            now: dice.below(40),
        },
    };
    let cost_policy = if dice.chance(25) {
        CostPolicy::Variable
    } else {
        CostPolicy::Any
    };
    Provider {
        policy,
        cost_policy,
        supply: supply(dice),
    }
}

/// CPUs and cost at a tick.
fn at(supply: &[Period], tick: u64) -> (i128, i128) {
    let period = supply
        .iter()
        .find(|p| (p.start..p.start + p.len).contains(&tick));
    period.map_or((0, 0), |p| (p.cpus.into(), p.cost.into()))
}

/// Whether the contract fits beside the others at every one of its ticks.
pub(crate) fn fits(
    supply: &[Period],
    contract: &Contract<u64>,
    others: &[&Contract<u64>],
    sigmas: i128,
) -> bool {
    (contract.start..contract.end).all(|tick| {
        let mut slack = 1_000 * at(supply, tick).0;
        let mut var = 0;
        for load in others.iter().chain([&contract]) {
            if (load.start..load.end).contains(&tick) {
                slack -= i128::from(load.mean);
                var += i128::from(load.var);
            }
        }
        slack >= 0 && sigmas * sigmas * var <= slack * slack
    })
}

/// Thousandths of a micro-credit that the mean load costs from a tick on.
fn cost(supply: &[Period], contract: &Contract<u64>, from: u64) -> i128 {
    let ticks = (contract.start..contract.end).filter(|tick| *tick >= from);
    ticks
        .map(|tick| at(supply, tick).1 * i128::from(contract.mean))
        .sum()
}

/// The pay of the contract if `done` of its jobs are done and pay `earned`; beta is whole.
fn pay(batch: &Batch, alpha_beta: (i128, u32), done: u32, earned: i128) -> i128 {
    // The production code rounds the fraction, its powers and the product to 32 bits, so do the
    // same from the text.
    let (alpha_ppm, beta) = alpha_beta;
    let one = 1i128 << 32;
    let fraction = i128::from(done) * one / i128::from(batch.jobs);
    let power = (0..beta).fold(one, |power, _| power * fraction / one);
    let factor = alpha_ppm * one / 1_000_000 * power / one;
    earned * factor / one
}

/// Alpha in ppm and whole beta of an aggregate function, found by asking it: at all jobs it is
/// alpha, at half of them alpha / 2^beta.
fn alpha_beta(aggregate: Aggregate) -> (i128, u32) {
    let whole = aggregate.at(1, 1) as i128;
    let alpha_ppm = (whole * 1_000_000) >> 32;
    let half = aggregate.at(1, 2) as i128;
    let beta = (0..5).find(|beta| whole >> beta == half);
    (alpha_ppm, beta.unwrap())
}

/// Gain of signing and loss of abandoning a contract, by their definitions.
fn gain_and_loss(supply: &[Period], contract: &Contract<u64>, now: u64) -> (i128, i128) {
    let batch = &contract.batch;
    let open = i128::from(batch.jobs - batch.completed - batch.dropped);
    let revenue = i128::from(contract.value) * i128::from(contract.end - contract.start);
    let coming = revenue * open / i128::from(batch.jobs);
    let f = alpha_beta(batch.aggregate);
    let (earned, owed) = (i128::from(batch.earned), i128::from(batch.owed));
    let full = pay(batch, f, batch.jobs - batch.dropped, earned + coming) - owed;
    let less = pay(batch, f, batch.completed, earned) - owed - open * i128::from(batch.penalty);
    let cost = cost(supply, contract, now);
    (full - (cost + 999) / 1_000, full - less - cost / 1_000)
}

/// The answer to an offered contract.
pub(crate) fn admit(
    provider: &Provider,
    contract: &Contract<u64>,
    others: &[&Contract<u64>],
) -> Answer<u64> {
    let supply = &provider.supply;
    let supplied = |tick: &u64| {
        supply
            .iter()
            .any(|p| (p.start..p.start + p.len).contains(tick))
    };
    let ticks = (contract.start..contract.end).filter(supplied).count() as i128;
    let margin = 1_000 * ticks * i128::from(contract.value) - cost(supply, contract, 0);
    if provider.cost_policy == CostPolicy::Variable && margin <= 0 {
        return Answer::Refused(Reason::Unprofitable);
    }
    let preempt = match provider.policy {
        Policy::Oblivious => return Answer::Signed,
        Policy::HighValueOnly { threshold } if contract.value > threshold => return Answer::Signed,
        Policy::HighValueOnly { .. } => return Answer::Refused(Reason::BelowThreshold),
        Policy::Average if fits(supply, contract, others, 0) => return Answer::Signed,
        Policy::Average => false,
        _ if fits(supply, contract, others, 2) => return Answer::Signed,
        Policy::Conservative => false,
        _ => true,
    };
    let revenue = |c: &Contract<u64>| i128::from(c.value) * i128::from(c.end - c.start);
    let mut best: Option<(i128, u64)> = None;
    for victim in others.iter().filter(|_| preempt) {
        let rest: Vec<&Contract<u64>> = others
            .iter()
            .copied()
            .filter(|o| o.id != victim.id)
            .collect();
        let (own, theirs) = match provider.policy {
            Policy::PreemptLeastLoss { now } => (
                gain_and_loss(supply, contract, now).0,
                gain_and_loss(supply, victim, now).1,
            ),
            _ => (revenue(contract), revenue(victim)),
        };
        let overlaps =
            (contract.start..contract.end).any(|t| (victim.start..victim.end).contains(&t));
        let better = best.is_none_or(|best| (theirs, victim.id) < best);
        if overlaps && theirs < own && better && fits(supply, contract, &rest, 2) {
            best = Some((theirs, victim.id));
        }
    }
    match best {
        Some((_, id)) => Answer::InPlaceOf(id),
        None => Answer::Refused(Reason::Overload),
    }
}

/// The offered contracts that are signed, the refused ones with their reasons, and the signed ones
/// abandoned with those that replace them.
pub(crate) fn clear(input: &Input<u64>) -> Outcome<u64> {
    let by_id = |list: &[Contract<u64>]| {
        let mut sorted = list.to_vec();
        sorted.sort_by_key(|c| c.id);
        sorted
    };
    let (signed, mut offered) = (by_id(&input.signed), by_id(&input.offered));
    offered.sort_by_key(|c| c.start);
    let mut standing: Vec<&Contract<u64>> = signed.iter().collect();
    let mut out: Vec<(u64, Result<u64, Reason>)> = Vec::new();
    for contract in &offered {
        match admit(&input.provider, contract, &standing) {
            Answer::Signed => {}
            Answer::InPlaceOf(id) => {
                standing.retain(|c| c.id != id);
                out.push((id, Ok(contract.id)));
            }
            Answer::Refused(reason) => {
                out.push((contract.id, Err(reason)));
                continue;
            }
        }
        standing.push(contract);
    }
    let sigmas = match input.provider.policy {
        Policy::Average => 0,
        _ => 2,
    };
    for contract in signed.iter().chain(&offered) {
        let for_room = out
            .iter()
            .any(|(id, why)| *id == contract.id && matches!(why, Ok(_) | Err(Reason::Overload)));
        if for_room && fits(&input.provider.supply, contract, &standing, sigmas) {
            out.retain(|(id, _)| *id != contract.id);
            standing.push(contract);
        }
    }
    let mut outcome = Outcome {
        accepted: vec![],
        refused: vec![],
        abandoned: vec![],
    };
    for contract in &offered {
        match out.iter().find(|(id, _)| *id == contract.id) {
            None => outcome.accepted.push(contract.id),
            Some((id, why)) => outcome
                .refused
                .push((*id, why.err().unwrap_or(Reason::Displaced))),
        }
    }
    for contract in &signed {
        if let Some((id, Ok(by))) = out.iter().find(|(id, _)| *id == contract.id) {
            outcome.abandoned.push(Abandoned { id: *id, by: *by });
        }
    }
    outcome
}
