//! Tests of people's mistakes: the message, and the place that it names.

use crate::query::{COMPARISONS, DEPTH, LIST, QUERY_BYTES, Query};

/// The column, the problem and the hint of a wrong query.
fn told(text: &str) -> (usize, String, String) {
    let error = text.parse::<Query>().expect_err(text);
    (
        error.column(text),
        error.problem.to_string(),
        error.problem.hint(),
    )
}

#[test]
fn types_are_named_with_what_is_meant() {
    for (text, column, problem, hint) in [
        (
            "mem >= 8",
            8,
            "mem is a size, and 8 is a number",
            "write 8GiB",
        ),
        (
            "cpu >= 4 && rtt(me) < 50",
            23,
            "rtt(me) is a duration, and 50 is a number",
            "write 50ms",
        ),
        (
            "price < 5GiB",
            9,
            "price is money, in credits per unit-hour, and 5GiB is a size",
            "write money, in credits per unit-hour such as 4 or 0.25",
        ),
        (
            "class == 4",
            10,
            "class is a text, and 4 is a number",
            "write \"4\"",
        ),
        (
            "firm == 1",
            9,
            "firm is true or false, and 1 is a number",
            "write true or false such as true",
        ),
        (
            "site < \"b\"",
            6,
            "site is a text: none is larger than another",
            "write site == …, site != … or site in […]",
        ),
        (
            "arch in [\"amd64\", 64]",
            19,
            "arch is a text, and 64 is a number",
            "write \"64\"",
        ),
    ] {
        let expected = (column, problem.to_owned(), hint.to_owned());
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn names_and_signs_are_mended() {
    for (text, column, part) in [
        ("memory >= 8GiB", 1, "did you mean mem?"),
        ("cpu >= 4 && prise < 5", 13, "did you mean price?"),
        ("reliability > 0.9", 1, "as in x.reliability"),
        ("arch == amd64", 9, "write \"amd64\""),
        ("arch == 'amd64'", 9, "double quotes"),
        ("cpu = 4", 5, "write =="),
        ("cpu >= 4 & mem >= 8GiB", 10, "write &&"),
        ("cpu >= -1", 8, "below zero"),
        ("cpu", 1, "compare it, as in cpu >= 4"),
        ("4 <= cpu", 1, "write the name first"),
        ("!cpu >= 4", 1, "as in !(cpu < 4)"),
        ("rtt < 5ms", 1, "write rtt(me)"),
        ("rtt(you) < 5ms", 1, "write rtt(me)"),
        ("rtt_between < 5ms", 1, "choose 4 nodes with rtt_between"),
        ("mem >= 1.5GiB", 8, "1536MiB"),
        ("mem >= 8G", 8, "KiB, MiB"),
        ("price < 0.1234567", 9, "six decimals"),
        ("site == \"a", 9, "after the text"),
        ("cpu >= 4 mem >= 8GiB", 10, "&&, ||"),
        ("(cpu >= 4", 10, "&&, || or )"),
        ("cpu >= 4 &&", 12, "cpu >= 4"),
        ("sort price", 6, "the word by"),
        ("sort by x.n", 9, "sort by price"),
        ("limit 0", 7, "number of nodes"),
        ("choose 2 nodes from 3 sites", 21, "number of sites"),
        ("choose 2 nodes limit 1", 16, "leave out `limit`"),
        ("choose 2.5 nodes", 8, "number of nodes"),
        ("choose 2 nodes with rtt_between < 5", 35, "20ms"),
        ("é == 4", 1, "docs/discovery.md"),
        ("site in [\"é\"] §", 15, "docs/discovery.md"),
    ] {
        let (at, problem, hint) = told(text);
        assert_eq!(at, column, "{text}: {problem}");
        assert!(hint.contains(part), "{text}: {hint}");
    }
}

#[test]
fn what_a_query_may_ask_is_bounded() {
    let nested = |n: usize| format!("{}cpu >= 4{}", "(".repeat(n), ")".repeat(n));
    assert!(nested(DEPTH).parse::<Query>().is_ok());
    assert!(told(&nested(DEPTH + 1)).1.contains("brackets"));
    assert!(told(&nested(2_000)).1.contains("brackets"));
    let many = |n: usize| vec!["cpu >= 4"; n].join(" && ");
    assert!(many(COMPARISONS).parse::<Query>().is_ok());
    assert!(told(&many(COMPARISONS + 1)).1.contains("comparisons"));
    let list = |n: usize| format!("cpu in [{}]", vec!["4"; n].join(", "));
    assert!(list(LIST).parse::<Query>().is_ok());
    assert!(told(&list(LIST + 1)).1.contains("lists"));
    assert!(told("cpu in []").1.contains("lists"));
    assert!(told(&" ".repeat(QUERY_BYTES + 1)).1.contains("bytes"));
    assert_eq!("".parse::<Query>().unwrap().to_string(), "");
}
