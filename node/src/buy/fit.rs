//! The cheapest class for an order, of those that are large enough.
//!
//! Each is quoted, by the order's own way of buying. What sellers ask of the order and what it is
//! likely to cost decide, whichever is more; a class that cannot serve the order comes last. The
//! first of equals is the smallest.

use crate::api::ApiError;
use crate::api::types::{ClassPrice, Quote, Want};
use gridbay_protocol::units::{Credits, MS_PER_HOUR};

/// A class that is large enough, with the quote for the order there.
pub(crate) struct Candidate {
    /// The class.
    pub(crate) class: ClassPrice,
    /// The quote, or why there is none.
    pub(crate) quote: Result<Quote, ApiError>,
    /// Whether the order may come to something there.
    pub(crate) serves: bool,
}

/// The best of them.
pub(crate) fn cheapest(candidates: Vec<Candidate>) -> Option<Candidate> {
    candidates.into_iter().min_by_key(Candidate::rank)
}

impl Candidate {
    /// Of an order in a class.
    pub(crate) fn of(class: ClassPrice, quote: Result<Quote, ApiError>, want: &Want) -> Candidate {
        let hopeless = |quote: &Quote| want.how.way().hopeless(quote).is_some();
        let serves = quote.as_ref().is_ok_and(|quote| !hopeless(quote));
        Candidate {
            class,
            quote,
            serves,
        }
    }

    fn rank(&self) -> (bool, bool, Credits, u32, u64, u64, String) {
        let class = &self.class;
        let price = self.quote.as_ref().map_or(Credits::MAX, going);
        (
            !self.serves,
            self.quote.is_err(),
            price,
            class.vcpu.saturating_add(class.gpu),
            class.memory_mib,
            class.disk_mib,
            class.class.clone(),
        )
    }
}

/// The price per node-hour that an order is likely to pay, or the most where nothing tells.
pub(crate) fn going(quote: &Quote) -> Credits {
    let likely = quote.likely.and_then(|likely| hourly(likely, quote));
    let price = quote.asked.max(likely);
    price
        .or_else(|| hourly(quote.most, quote))
        .unwrap_or(Credits::MAX)
}

fn hourly(amount: Credits, quote: &Quote) -> Option<Credits> {
    let node_ms = u64::from(quote.nodes) * u64::from(quote.seconds) * 1_000;
    amount.share_ceil(MS_PER_HOUR, node_ms.max(1))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use gridbay_protocol::ids::ClassId;

    fn credits(text: &str) -> Credits {
        text.parse().unwrap()
    }

    /// A class of four units, of which nobody has told a price.
    pub(crate) fn class(name: &str, vcpu: u32, memory_mib: u64) -> ClassPrice {
        ClassPrice {
            class: name.to_owned(),
            id: ClassId([1; 32]),
            vcpu,
            memory_mib,
            disk_mib: 1_024,
            gpu: 0,
            units_offered: 4,
            units_leased: 0,
            reserve: None,
            buy: None,
            last: None,
            last_height: None,
            waiting: 0,
        }
    }

    pub(crate) fn quote(asked: Option<&str>, likely: Option<&str>) -> Quote {
        Quote {
            among: None,
            class: String::new(),
            nodes: 2,
            seconds: 1_800,
            slots: 900,
            max_price: credits("9"),
            most: credits("9"),
            likely: likely.map(credits),
            posted: None,
            needed_now: credits("1"),
            spendable: credits("100"),
            funded: true,
            units_offered: 4,
            units_free: 4,
            nodes_in_reach: None,
            asked: asked.map(credits),
            too_low: false,
            deadline: None,
            share: None,
        }
    }

    /// Name, processors, whether it serves, what sellers ask, what is likely.
    type Row<'a> = (&'a str, u32, bool, Option<&'a str>, Option<&'a str>);

    fn best(candidates: Vec<Row<'_>>) -> String {
        let candidates = candidates
            .into_iter()
            .map(|(name, vcpu, serves, asked, likely)| {
                let (class, quote) = (class(name, vcpu, 512), Ok(quote(asked, likely)));
                Candidate {
                    class,
                    quote,
                    serves,
                }
            });
        candidates.min_by_key(Candidate::rank).unwrap().class.class
    }

    #[test]
    fn the_cheapest_is_taken_and_never_the_first_by_name() {
        let of = |b, a| best(vec![("a", 4, true, a, None), ("b", 1, true, b, None)]);
        assert_eq!(of(Some("1"), Some("4")), "b");
        assert_eq!(of(Some("4"), Some("1")), "a");
        assert_eq!(of(Some("2"), Some("2")), "b", "the smaller of equals");
        let lacking = vec![
            ("a", 4, true, Some("9"), None),
            ("b", 1, false, Some("1"), None),
        ];
        assert_eq!(best(lacking), "a", "the cheap one cannot serve it");
        // Two nodes for half an hour: 3 credits are 3 per node-hour.
        let busy = vec![
            ("a", 1, true, Some("1"), Some("3")),
            ("b", 1, true, Some("2"), None),
        ];
        assert_eq!(best(busy), "b", "what it is likely to cost counts too");
    }
}
