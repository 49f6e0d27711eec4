//! Queries against an oracle, and people's mistakes.

mod groups;
mod mistakes;
mod oracle;
mod sample;
mod worked;

use super::{Query, find};
use sample::{Dice, Shop};

const ROUNDS: u64 = 2_000;

#[test]
fn what_is_printed_reads_back_as_the_same_query() {
    for seed in 0..ROUNDS {
        let query = sample::query(&mut Dice(seed));
        let text = query.to_string();
        assert_eq!(text.parse::<Query>().as_ref(), Ok(&query), "{text}");
    }
}

#[test]
fn conditions_agree_with_a_naive_evaluator() {
    let mut fitting = 0;
    for seed in 0..ROUNDS {
        let mut dice = Dice(seed);
        let query = sample::query(&mut dice);
        let shop = Shop::new(&mut dice, 12);
        let subjects = shop.subjects();
        let query = Query {
            group: None,
            limit: None,
            ..query
        };
        let answer = find(&query, &subjects);
        let expected = oracle::find(&query, &subjects);
        let found: Vec<_> = answer
            .found
            .iter()
            .map(|f| {
                (
                    f.subject.node,
                    f.lines.iter().map(|l| l.offer).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{query}");
        fitting += found.len();
        oracle::check_explanation(&query, &subjects);
    }
    assert!(fitting > 1_000, "queries that nothing fits show little");
}
