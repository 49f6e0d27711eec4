//! Admission of contracts against tick-by-tick checks of the load and plain restatements of the
//! policies.

use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::contract::{
    Aggregate, Answer, Batch, Contract, Contracts, CostPolicy, Error, Field, Input, Period, Policy,
    Provider, Reason, admit_contract, clear, limits,
};

use crate::contract_oracle as oracle;
use crate::support::Dice;

fn contracts(dice: &mut Dice, ids: std::ops::Range<u64>) -> Vec<Contract<u64>> {
    ids.map(|id| oracle::contract(dice, id)).collect()
}

#[test]
fn answers_equal_those_of_checks_tick_by_tick() {
    let mut dice = Dice(11);
    let (mut signed, mut in_place, mut refused) = (0, 0, 0);
    for _ in 0..5_000 {
        let provider = oracle::provider(&mut dice);
        let count = dice.below(7);
        let mut others = contracts(&mut dice, 1..1 + count);
        let contract = oracle::contract(&mut dice, 0);
        let expected = oracle::admit(&provider, &contract, &others.iter().collect::<Vec<_>>());
        dice.shuffle(&mut others);
        let answer = admit_contract(&provider, &contract, &others).unwrap();
        assert_eq!(answer, expected, "{provider:?} {contract:?} {others:?}");
        match answer {
            Answer::Signed => signed += 1,
            Answer::InPlaceOf(_) => in_place += 1,
            Answer::Refused(_) => refused += 1,
        }
    }
    assert!(
        signed > 300 && in_place > 100 && refused > 500,
        "{signed} {in_place} {refused}"
    );
}

fn book(dice: &mut Dice) -> Input<u64> {
    let count = dice.below(5);
    Input {
        provider: oracle::provider(dice),
        signed: contracts(dice, 20..20 + count),
        offered: contracts(dice, 0..8),
    }
}

#[test]
fn whole_books_equal_the_plain_ones_in_any_order() {
    let mut dice = Dice(12);
    let (mut displaced, mut abandoned) = (0, 0);
    for _ in 0..3_000 {
        let mut input = book(&mut dice);
        let expected = oracle::clear(&input);
        dice.shuffle(&mut input.signed);
        dice.shuffle(&mut input.offered);
        dice.shuffle(&mut input.provider.supply);
        let outcome = clear(&input).unwrap();
        assert_eq!(outcome, expected, "{input:?}");
        assert_eq!(Contracts::<u64>::audit(&input, &outcome), Ok(()));
        abandoned += outcome.abandoned.len();
        displaced += outcome
            .refused
            .iter()
            .filter(|(_, reason)| *reason == Reason::Displaced)
            .count();
    }
    assert!(displaced > 50 && abandoned > 100, "{displaced} {abandoned}");
}

#[test]
fn what_is_signed_fits_and_what_was_left_out_for_want_of_room_does_not() {
    let mut dice = Dice(13);
    for _ in 0..3_000 {
        let input = book(&mut dice);
        let sigmas = match input.provider.policy {
            Policy::Average => 0,
            Policy::Oblivious | Policy::HighValueOnly { .. } => continue,
            _ => 2,
        };
        let outcome = clear(&input).unwrap();
        let gone = |id: u64| outcome.abandoned.iter().any(|gone| gone.id == id);
        let standing: Vec<&Contract<u64>> = input
            .signed
            .iter()
            .filter(|c| !gone(c.id))
            .chain(
                input
                    .offered
                    .iter()
                    .filter(|c| outcome.accepted.contains(&c.id)),
            )
            .collect();
        let fits = |contract: &Contract<u64>| {
            let others: Vec<&Contract<u64>> = standing
                .iter()
                .copied()
                .filter(|other| other.id != contract.id)
                .collect();
            oracle::fits(&input.provider.supply, contract, &others, sigmas)
        };
        for contract in &input.offered {
            let refused = outcome.refused.iter().find(|(id, _)| *id == contract.id);
            match refused.map(|(_, reason)| *reason) {
                None => assert!(fits(contract)),
                Some(Reason::Unprofitable) => {}
                Some(_) => assert!(!fits(contract)),
            }
        }
        assert!(input.signed.iter().all(|c| !gone(c.id) || !fits(c)));
    }
}

#[test]
fn an_audit_sees_wrong_outcomes() {
    let mut dice = Dice(14);
    let mut input = book(&mut dice);
    input.provider.policy = Policy::Conservative;
    input.provider.cost_policy = CostPolicy::Any;
    input.provider.supply.clear();
    let outcome = clear(&input).unwrap();
    assert!(outcome.accepted.is_empty() && outcome.refused.len() == 8);
    let audit = |outcome: &_| Contracts::<u64>::audit(&input, outcome);
    assert_eq!(audit(&outcome), Ok(()));
    let mut overbooked = outcome.clone();
    overbooked.refused.remove(0);
    assert!(audit(&overbooked).unwrap_err().contains("one answer"));
    overbooked.accepted.push(outcome.refused[0].0);
    assert!(audit(&overbooked).unwrap_err().contains("does not fit"));
}

#[test]
fn by_real_loss_a_contract_nearly_done_stays_and_a_hopeless_one_goes() {
    let contract = |id, value, completed, dropped| Contract {
        id,
        start: 0,
        end: 100,
        mean: 1_000,
        var: 0,
        value,
        batch: Batch {
            jobs: 10,
            aggregate: Aggregate::new(1_000_000, 64).unwrap(),
            completed,
            dropped,
            earned: 1_000 * u64::from(completed),
            ..Batch::WHOLE
        },
    };
    let answer = |policy, offered_value| {
        let provider = Provider {
            policy,
            cost_policy: CostPolicy::Any,
            supply: vec![Period {
                start: 0,
                len: 100,
                cpus: 2,
                cost: 80,
            }],
        };
        // Revenues 10,000 and 12,000. At tick 90 the last job of the first brings 10,000 - 9,000 *
        // 0.9^4 for a cost of 800; the second cannot bring more than 6,000 * 0.5^4 for as much.
        let others = [contract(1, 100, 9, 0), contract(2, 120, 0, 5)];
        admit_contract(&provider, &contract(3, offered_value, 0, 0), &others).unwrap()
    };
    let (by_revenue, by_loss) = (
        Policy::PreemptConservative,
        Policy::PreemptLeastLoss { now: 90 },
    );
    assert_eq!(answer(by_revenue, 250), Answer::InPlaceOf(1));
    assert_eq!(answer(by_loss, 250), Answer::InPlaceOf(2));
    // One that brings less than it costs displaces the hopeless one, which brings still less, and
    // no other.
    assert_eq!(answer(by_revenue, 4), Answer::Refused(Reason::Overload));
    assert_eq!(answer(by_loss, 4), Answer::InPlaceOf(2));
    assert_eq!(answer(by_loss, 3), Answer::Refused(Reason::Overload));
}

#[test]
fn the_largest_contracts_fit_without_overflow() {
    let mut dice = Dice(15);
    let largest = |id: u64| Contract {
        id,
        start: limits::TIME_MAX - limits::SPAN_MAX,
        end: limits::TIME_MAX,
        mean: limits::MEAN_MAX,
        var: u64::MAX,
        value: limits::MONEY_MAX,
        batch: Batch {
            jobs: limits::BATCH_JOBS_MAX,
            aggregate: Aggregate::new(limits::ALPHA_PPM_MAX, limits::BETA16_MAX).unwrap(),
            penalty: limits::MONEY_MAX,
            completed: 0,
            dropped: 0,
            earned: limits::SUM_MAX,
            owed: limits::SUM_MAX,
        },
    };
    let signed: Vec<Contract<u64>> = (0..512).map(largest).collect();
    let offered: Vec<Contract<u64>> = (512..limits::CONTRACTS_MAX as u64).map(largest).collect();
    for _ in 0..12 {
        let mut provider = oracle::provider(&mut dice);
        provider.supply = vec![Period {
            start: limits::TIME_MAX - limits::SPAN_MAX,
            len: limits::SPAN_MAX,
            cpus: limits::CPUS_MAX,
            cost: limits::MONEY_MAX,
        }];
        let mut input = Input {
            provider,
            signed: signed.clone(),
            offered: offered.clone(),
        };
        let outcome = clear(&input).unwrap();
        assert_eq!(
            outcome.accepted.len() + outcome.refused.len(),
            offered.len()
        );
        input.offered.push(largest(9_999));
        assert_eq!(
            clear(&input),
            Err(Error::Setting(limits::OutOfRange(Field::Contracts)))
        );
    }
}

#[test]
fn bad_contracts_and_supplies_are_refused_by_name() {
    let mut dice = Dice(16);
    let mut good = book(&mut dice);
    good.provider.policy = Policy::Oblivious;
    let period = |start, len| Period {
        start,
        len,
        cpus: 1,
        cost: 1,
    };
    let with = |change: &dyn Fn(&mut Input<u64>)| {
        let mut input = good.clone();
        change(&mut input);
        let error = clear(&input).unwrap_err();
        input.offered.reverse();
        input.provider.supply.reverse();
        assert_eq!(clear(&input), Err(error.clone()));
        error
    };
    let field = |id, field| Error::OutOfRange { id, field };
    let setting = |field| Error::Setting(limits::OutOfRange(field));
    assert_eq!(
        with(&|input| input.offered[5].id = 2),
        Error::DuplicateId(2)
    );
    let inverted = with(&|input| input.offered[5].end = input.offered[5].start);
    assert_eq!(inverted, Error::Inverted(5));
    let late = with(&|input| input.offered[5].end = u64::MAX);
    assert_eq!(late, field(5, Field::Time));
    let long = with(&|input| input.offered[5].end = limits::TIME_MAX);
    assert_eq!(long, field(5, Field::Length));
    let heavy = with(&|input| input.offered[0].mean = u64::MAX);
    assert_eq!(heavy, field(0, Field::Mean));
    let dear = with(&|input| input.offered[0].value = u64::MAX);
    assert_eq!(dear, field(0, Field::Value));
    let jobless = with(&|input| input.offered[0].batch.jobs = 0);
    assert_eq!(jobless, field(0, Field::Jobs));
    let overdone = with(&|input| input.offered[0].batch.dropped = u32::MAX);
    assert_eq!(overdone, field(0, Field::Completed));
    let overpaid = with(&|input| input.offered[0].batch.earned = u64::MAX);
    assert_eq!(overpaid, field(0, Field::Paid));
    let overlap = with(&|input| input.provider.supply = vec![period(0, 5), period(4, 5)]);
    assert_eq!(overlap, Error::SupplyOverlaps { at: 4 });
    let empty = with(&|input| input.provider.supply = vec![period(0, 0)]);
    assert_eq!(empty, setting(Field::Length));
    let late = with(&|input| input.provider.supply = vec![period(u64::MAX, 1)]);
    assert_eq!(late, setting(Field::Time));
    let many = (0..limits::PERIODS_MAX as u64 + 1).map(|at| period(at, 1));
    let many: Vec<Period> = many.collect();
    let many = with(&|input| input.provider.supply = many.clone());
    assert_eq!(many, setting(Field::Periods));
    let threshold = u64::MAX;
    let high = with(&|input| input.provider.policy = Policy::HighValueOnly { threshold });
    assert_eq!(high, setting(Field::Threshold));
    let now = u64::MAX;
    let later = with(&|input| input.provider.policy = Policy::PreemptLeastLoss { now });
    assert_eq!(later, setting(Field::Time));
}
