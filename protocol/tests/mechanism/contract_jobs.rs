//! Jobs under contract: utilities, schedules, admission, payouts and biases against plain
//! restatements.

use gridbay_protocol::mechanism::contract::{
    Aggregate, Error, Field, Job, Machine, Request, admit_job, first_price, limits, payout,
    schedule,
};

use crate::contract_oracle as oracle;
use crate::support::Dice;

#[test]
fn utilities_equal_those_counted_down_one_by_one() {
    let mut dice = Dice(1);
    for _ in 0..2_000 {
        let mut job = oracle::job(&mut dice, 0, 20);
        job.value %= 2_000;
        for t in 0..40 {
            let (value, dead) = oracle::utility(&job, t);
            assert_eq!(
                (job.effective(t), job.timed_out(t)),
                (value, dead),
                "{job:?} {t}"
            );
            assert!(job.utility(t) <= i128::from(job.value));
            assert!(job.utility(t) >= -i128::from(job.penalty));
            assert!(job.utility(t + 1) <= job.utility(t));
        }
    }
}

fn small(dice: &mut Dice, most: u64) -> (Machine, Vec<Job<u64>>) {
    let machine = oracle::machine(dice);
    let count = dice.below(most + 1);
    let mut jobs = oracle::jobs(dice, count, machine.now);
    for job in &mut jobs {
        job.value %= 500;
        job.penalty %= 500;
    }
    (machine, jobs)
}

#[test]
fn schedules_equal_the_plain_ones_in_any_order_of_jobs() {
    let mut dice = Dice(2);
    let (mut ran, mut dropped) = (0, 0);
    for _ in 0..1_500 {
        let (machine, mut jobs) = small(&mut dice, 14);
        let expected = oracle::schedule(&machine, &jobs);
        dice.shuffle(&mut jobs);
        assert_eq!(schedule(&machine, &jobs), Ok(expected.clone()));
        ran += expected.rows.len();
        dropped += expected.dropped.len();
    }
    assert!(ran > 1_000 && dropped > 1_000, "{ran} {dropped}");
}

#[test]
fn no_processor_runs_two_jobs_and_the_total_is_the_sum_of_the_gains() {
    let mut dice = Dice(3);
    for _ in 0..1_500 {
        let (machine, jobs) = small(&mut dice, 30);
        let result = schedule(&machine, &jobs).unwrap();
        let job = |id: &u64| jobs.iter().find(|job| job.id == *id).unwrap();
        let mut busy: Vec<(u32, u64, u64)> = Vec::new();
        let mut total = 0;
        for row in &result.rows {
            let job = job(&row.id);
            let end = row.start + job.len;
            assert!(row.start >= machine.now.max(machine.free[row.processor as usize]));
            assert!(
                busy.iter()
                    .all(|&(p, from, to)| p != row.processor || end <= from || to <= row.start)
            );
            busy.push((row.processor, row.start, end));
            let (worth, dead) = oracle::utility(job, end - job.arrival);
            let gain = worth - i128::from(machine.cost) * i128::from(job.len);
            assert!(!dead && gain >= -i128::from(job.penalty));
            total += gain;
        }
        let owed = |id: &u64| i128::from(job(id).penalty);
        assert_eq!(
            result.total,
            total - result.dropped.iter().map(owed).sum::<i128>()
        );
        assert_eq!(result.order.len(), jobs.len());
        assert_eq!(result.rows.len() + result.dropped.len(), jobs.len());
        let free_at = |(index, free): (usize, &u64)| {
            let ends = busy.iter().filter(|(p, ..)| *p as usize == index);
            ends.map(|(_, _, to)| *to)
                .max()
                .unwrap_or(*free.max(&machine.now))
        };
        let first = machine.free.iter().enumerate().map(free_at).min().unwrap();
        assert_eq!(result.span, first - machine.now);
    }
}

#[test]
fn jobs_are_admitted_if_the_rate_of_profit_rises() {
    let mut dice = Dice(4);
    let (mut yes, mut no, mut idle) = (0, 0, 0);
    for _ in 0..2_000 {
        let (machine, mut pending) = small(&mut dice, 10);
        let new = Job {
            value: dice.below(500),
            ..oracle::job(&mut dice, 99, machine.now)
        };
        let old = oracle::schedule(&machine, &pending);
        let mut all = pending.clone();
        all.push(new.clone());
        let after = oracle::schedule(&machine, &all);
        let (a, b) = (i128::from(old.span), i128::from(after.span));
        let expected = if a == 0 {
            after.total > old.total
        } else {
            after.total * a > old.total * b
        };
        dice.shuffle(&mut pending);
        assert_eq!(admit_job(&machine, &pending, &new), Ok(expected));
        yes += u32::from(expected);
        no += u32::from(!expected);
        idle += u32::from(a == 0);
    }
    assert!(yes > 200 && no > 200 && idle > 200, "{yes} {no} {idle}");
}

#[test]
fn first_price_orders_by_value_per_work() {
    let mut dice = Dice(5);
    for _ in 0..1_000 {
        let mut requests: Vec<Request<u64>> = (0..dice.below(12))
            .map(|id| Request {
                id,
                arrival: dice.below(3),
                value: dice.below(30),
                size: dice.within(1, 4) as u32,
                len: dice.within(1, 4),
            })
            .collect();
        dice.shuffle(&mut requests);
        let order = first_price(&requests).unwrap();
        let request = |id: &u64| requests.iter().find(|r| r.id == *id).unwrap();
        assert_eq!(order.len(), requests.len());
        for pair in order.windows(2) {
            let (a, b) = (request(&pair[0]), request(&pair[1]));
            // 144 is a multiple of every product of size and length here.
            let rate = |r: &Request<u64>| r.value * 144 / (u64::from(r.size) * r.len);
            assert!(
                rate(a) > rate(b) || (rate(a) == rate(b) && (a.arrival, a.id) < (b.arrival, b.id))
            );
        }
    }
}

#[test]
fn payouts_equal_exact_fractions_and_never_exceed_the_payments() {
    let mut dice = Dice(6);
    for _ in 0..3_000 {
        // With powers of two for the total the fraction and its powers are exact in 32 bits.
        let total = 1u32 << dice.below(9);
        let completed = dice.below(u64::from(total) + 1) as u32;
        let (alpha, beta) = (dice.below(4) as u32, dice.below(4) as u32);
        let payments: Vec<i64> = (0..total)
            .map(|_| dice.below(2_000_000) as i64 - 500_000)
            .collect();
        let aggregate = Aggregate::new(alpha * 1_000_000, 16 * beta).unwrap();
        let earned: i128 = payments
            .iter()
            .filter(|p| **p > 0)
            .map(|p| i128::from(*p))
            .sum();
        let owed: i128 = payments
            .iter()
            .filter(|p| **p < 0)
            .map(|p| -i128::from(*p))
            .sum();
        let scaled = earned * i128::from(alpha) * i128::from(completed).pow(beta);
        let exact = scaled / i128::from(total).pow(beta) - owed;
        assert_eq!(payout(&payments, aggregate, completed, total), Ok(exact));

        // Any other alpha and beta: within the payments, more for more jobs, whatever their order.
        let alpha_ppm = dice.below(1_000_001) as u32;
        let aggregate = Aggregate::new(alpha_ppm, dice.below(257) as u32).unwrap();
        let paid = payout(&payments, aggregate, completed, total).unwrap();
        assert!((-owed..=earned - owed).contains(&paid));
        let all = payout(&payments, aggregate, total, total).unwrap();
        assert!(paid <= all && all <= earned * i128::from(alpha_ppm) / 1_000_000 - owed);
        let mut shuffled = payments.clone();
        dice.shuffle(&mut shuffled);
        assert_eq!(payout(&shuffled, aggregate, completed, total), Ok(paid));
    }
}

#[test]
fn biases_are_close_to_the_formula_in_floats() {
    let mut dice = Dice(7);
    for _ in 0..5_000 {
        let total = dice.within(1, 5_000) as u32;
        let dropped = dice.below(u64::from(total)) as u32;
        let (alpha_ppm, beta16) = (dice.below(3_000_000) as u32, dice.below(129) as u32);
        let mean = dice.below(1 << 40);
        let f = |jobs: u32| {
            let fraction = f64::from(jobs) / f64::from(total);
            f64::from(alpha_ppm) / 1e6 * fraction.powf(f64::from(beta16) / 16.0)
        };
        let left = total - dropped;
        let x = f64::from(left) * f(left) - f64::from(left - 1) * f(left - 1) - 1.0;
        let bias = Aggregate::new(alpha_ppm, beta16)
            .unwrap()
            .bias(total, dropped, mean)
            .unwrap();
        let error = (bias as f64 - mean as f64 * x).abs();
        // Each power is off by at most some sixteen units of 2^-32, and is weighed with the number
        // of jobs.
        let tolerance = 1.0 + mean as f64 * f64::from(left) * 100.0 / 2f64.powi(32);
        assert!(
            error <= tolerance,
            "{total} {dropped} {alpha_ppm} {beta16} {mean}: {error}"
        );
    }
}

#[test]
fn the_largest_numbers_are_scheduled_without_overflow() {
    let (value, penalty) = (limits::MONEY_MAX, limits::MONEY_MAX);
    let now = limits::TIME_MAX;
    for (len, cost, bias) in [
        (
            limits::SPAN_MAX,
            limits::MONEY_MAX,
            -(limits::BIAS_MAX as i64),
        ),
        (limits::SPAN_MAX, 0, limits::BIAS_MAX as i64),
        (1, limits::MONEY_MAX, limits::BIAS_MAX as i64),
    ] {
        let job = |id| Job {
            id,
            arrival: [0, now][id as usize % 2],
            len: [len, 1][id as usize % 3 / 2],
            value,
            hold: [0, limits::SPAN_MAX][id as usize % 5 / 4],
            decay: [1, limits::SPAN_MAX][id as usize % 7 / 6],
            penalty,
            bias,
        };
        let jobs: Vec<Job<u64>> = (0..limits::PENDING_MAX as u64 - 1).map(job).collect();
        let machine = Machine {
            now,
            cost,
            free: vec![0, now],
        };
        let result = schedule(&machine, &jobs).unwrap();
        assert_eq!(result.rows.len() + result.dropped.len(), jobs.len());
        assert!(admit_job(&machine, &jobs, &job(u64::MAX)).is_ok());
        let too_many = admit_job(
            &machine,
            &[jobs, vec![job(70_000)]].concat(),
            &job(u64::MAX),
        );
        assert!(matches!(too_many, Err(Error::Setting(out)) if out.0 == Field::Jobs));
    }
}

#[test]
fn bad_jobs_and_machines_are_refused_by_name() {
    let mut dice = Dice(8);
    let machine = Machine {
        now: 20,
        cost: 1,
        free: vec![0],
    };
    let jobs = oracle::jobs(&mut dice, 6, 20);
    let with = |change: &dyn Fn(&mut Vec<Job<u64>>)| {
        let mut jobs = jobs.clone();
        change(&mut jobs);
        let error = schedule(&machine, &jobs).unwrap_err();
        jobs.reverse();
        assert_eq!(schedule(&machine, &jobs), Err(error.clone()));
        let (last, first) = jobs.split_last().unwrap();
        assert_eq!(admit_job(&machine, first, last), Err(error.clone()));
        error
    };
    assert_eq!(with(&|jobs| jobs[5].id = 2), Error::DuplicateId(2));
    assert_eq!(with(&|jobs| jobs[3].arrival = 21), Error::NotArrived(3));
    let field = |id, field| Error::OutOfRange { id, field };
    assert_eq!(with(&|jobs| jobs[1].len = 0), field(1, Field::Length));
    assert_eq!(with(&|jobs| jobs[1].decay = 0), field(1, Field::Decay));
    assert_eq!(
        with(&|jobs| jobs[4].value = u64::MAX),
        field(4, Field::Value)
    );
    // The smallest guilty id, in whatever order they come.
    let two = with(&|jobs| {
        jobs[4].len = 0;
        jobs[2].penalty = u64::MAX;
    });
    assert_eq!(two, field(2, Field::Penalty));

    let refused = |machine: Machine| match schedule::<u64>(&machine, &[]) {
        Err(Error::Setting(out)) => out.0,
        other => panic!("{other:?}"),
    };
    let free = vec![];
    assert_eq!(
        refused(Machine {
            free,
            ..machine.clone()
        }),
        Field::Processors
    );
    let free = vec![u64::MAX];
    assert_eq!(
        refused(Machine {
            free,
            ..machine.clone()
        }),
        Field::Time
    );
    let cost = u64::MAX;
    assert_eq!(
        refused(Machine {
            cost,
            ..machine.clone()
        }),
        Field::Cost
    );
    let now = u64::MAX;
    assert_eq!(refused(Machine { now, ..machine }), Field::Time);
}
