//! The examples of `docs/discovery.md`, with their results.

use super::sample::{Shop, Stall, class, node};
use crate::query::bucket::{self, Bucket};
use crate::query::explain::explain;
use crate::query::{Query, find};

/// Five nodes of three sites.
fn shop() -> Shop {
    let small = || class("small", 2, 4 << 10, 0);
    let large = || class("large", 8, 16 << 10, 1);
    let said = |site, arch| [("site", site), ("arch", arch), ("os", "linux")];
    Shop::of(vec![
        Stall::new(0, &said("cs.a.edu", "amd64"), &[(60, 1), (61, 20)])
            .rtt_ms(3)
            .sells(small(), 4, "2")
            .sells(large(), 2, "6"),
        Stall::new(1, &said("cs.a.edu", "amd64"), &[(60, 2), (61, 20)])
            .rtt_ms(4)
            .sells(large(), 1, "4"),
        Stall::new(2, &said("b.edu", "amd64"), &[(60, 20), (61, 1)])
            .rtt_ms(40)
            .sells(large(), 8, "3"),
        Stall::new(3, &said("b.edu", "arm64"), &[(60, 20), (61, 2)])
            .rtt_ms(41)
            .sells(large(), 8, "1"),
        Stall::new(4, &[("arch", "amd64")], &[]).sells(large(), 3, "2.5"),
    ])
}

fn found(text: &str) -> Vec<usize> {
    let shop = shop();
    let subjects = shop.subjects();
    let query: Query = text.parse().unwrap();
    let answer = find(&query, &subjects);
    let place = |key| (0..5).find(|n| node(*n) == key).unwrap();
    answer.found.iter().map(|f| place(f.subject.node)).collect()
}

#[test]
fn examples() {
    for (text, nodes) in [
        ("", vec![3, 0, 4, 2, 1]),
        (
            r#"cpu >= 4 && mem >= 8GiB && arch == "amd64" && site in ["*.edu"] && price < 5 && rtt(me) < 50ms"#,
            vec![2, 1],
        ),
        // The cheap units of node 0 are small, its large ones dear: no line of it is both.
        ("cpu >= 4 && price < 3", vec![3, 4]),
        ("gpu >= 1 sort by rtt(me)", vec![0, 1, 2, 3, 4]),
        ("gpu >= 1 sort by rtt(me) desc limit 2", vec![3, 2]),
        // A site that nobody told is not another site.
        (r#"site != "*.a.edu""#, vec![3, 2]),
        (r#"!(site == "*.a.edu")"#, vec![3, 2]),
        ("gpu >= 1 choose 3 nodes", vec![3, 4, 2]),
        ("gpu >= 1 choose 3 nodes from 2 sites", vec![3, 2, 1]),
        ("gpu >= 1 choose 2 nodes from 1 site", vec![3, 2]),
        (
            "gpu >= 1 choose 2 nodes with rtt_between < 4ms sort by price desc",
            vec![0, 1],
        ),
        (
            "gpu >= 1 choose 2 nodes from 2 sites with rtt_between < 20ms",
            vec![],
        ),
        (
            "gpu >= 1 choose 2 nodes from 2 sites with rtt_between <= 21ms",
            vec![3, 0],
        ),
    ] {
        assert_eq!(found(text), nodes, "{text}");
    }
}

#[test]
fn nothing_found_is_explained() {
    let shop = shop();
    let subjects = shop.subjects();
    let query: Query = r#"arch == "amd64" && mem >= 8GiB && rtt(me) < 50ms && price < 3"#
        .parse()
        .unwrap();
    assert_eq!(find(&query, &subjects).found.len(), 0);
    let steps = explain(&query, &subjects);
    let rows: Vec<_> = steps
        .iter()
        .map(|s| (s.condition.as_str(), s.left, s.alone, s.unknown))
        .collect();
    assert_eq!(
        rows,
        [
            ("arch == \"amd64\"", 4, 1, 0),
            ("mem >= 8GiB", 4, 1, 0),
            ("rtt(me) < 50ms", 3, 1, 1),
            ("price < 3", 0, 3, 0),
        ]
    );
    let nearest = |n: usize| steps[n].nearest.as_ref().map(ToString::to_string);
    assert_eq!(nearest(1).as_deref(), Some("4GiB"));
    assert_eq!(nearest(3).as_deref(), Some("3"));
    assert_eq!((nearest(0), nearest(2)), (None, None));
}

#[test]
fn every_node_that_fits_is_in_the_buckets_that_are_looked_up() {
    let shop = shop();
    let subjects = shop.subjects();
    for (text, bucket) in [
        ("price < 5", ("sellers", "")),
        ("cpu >= 5 && price < 5", ("cpu", "4")),
        ("cpu > 1 && mem >= 8GiB", ("mem", "8")),
        (r#"mem >= 8GiB && site in ["*.edu"]"#, ("site", "edu")),
        (r#"site == "cs*.A.edu""#, ("site", "a.edu")),
        (r#"site == "*edu" && arch == "amd64""#, ("arch", "amd64")),
        (r#"class == "Large" && site == "b.edu""#, ("class", "large")),
        (r#"os == "linux" || cpu >= 4"#, ("sellers", "")),
    ] {
        let query: Query = text.parse().unwrap();
        let buckets = bucket::of_query(&query);
        let (kind, name) = bucket;
        let expected = Bucket {
            kind,
            name: name.to_owned(),
        };
        assert_eq!(buckets, [expected], "{text}");
        for found in find(&query, &subjects).found {
            let own = bucket::of_node(found.subject);
            assert!(own.len() <= bucket::BUCKETS);
            assert!(buckets.iter().any(|b| own.contains(b)), "{text}");
        }
    }
    let two: Query = r#"arch in ["amd64", "arm64"]"#.parse().unwrap();
    assert_eq!(bucket::of_query(&two).len(), 2);
}
