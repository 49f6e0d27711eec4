//! Discovery queries, as users type them.

use crate::{Target, Verdict, decoder};
use gridbay_core::query::{Query, bucket, explain, find};

pub(crate) const QUERY: Target = decoder(
    "query",
    "text as a discovery query: a query that reads back as it is shown, or a mistake with its place and a hint",
    query,
    || {
        [
            r#"cpu >= 4 && mem >= 8GiB && arch == "amd64" && site in ["*.edu"] && price < 5 && rtt(me) < 50ms"#,
            r#"!(firm || x.gpu-model == "A\"\\*") && x.n != 0.25 sort by price desc, rtt(me) limit 9"#,
            "!x.ecc choose 4 nodes from >= 2 sites with rtt_between <= 20ms sort by free desc",
            "choose 1 node from 1 site",
            "",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
    },
);

fn query(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    match text.parse::<Query>() {
        Ok(query) => {
            let shown = query.to_string();
            assert_eq!(shown.parse().as_ref(), Ok(&query), "{shown}");
            assert!(find(&query, &[]).found.is_empty());
            assert_eq!(explain::explain(&query, &[]).len(), query.conjuncts().len());
            let buckets = bucket::of_query(&query);
            assert!((1..=bucket::ALTERNATIVES).contains(&buckets.len()));
            Verdict::Accepted
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.at), "{error}");
            assert!(error.column(text) <= 1 + text.chars().count());
            let (what, hint) = (error.problem.to_string(), error.problem.hint());
            assert!(!what.is_empty() && !hint.is_empty());
            Verdict::Refused
        }
    }
}
