//! The class of an order that names none: the cheapest that fits, see [`crate::buy::fit`].

use super::plan::Plan;
use crate::api::types::{BidHow, How, Want, Wish};
use crate::backend::NodeBackend;
use crate::backend::failure::not_found;
use crate::buy::fit::{Candidate, cheapest};
use crate::market::desk::{Answer, Desk};

/// A class, and how many could serve the order of which it is the cheapest; `None` if it was named
/// or is the only one.
pub(crate) type Chosen = (String, Option<u32>);

impl NodeBackend {
    /// The class of an order: the one that it names, or else the cheapest that fits.
    pub(crate) async fn class_for(&self, want: &Want) -> Answer<Chosen> {
        if let Some(named) = &want.class {
            return Ok((named.clone(), None));
        }
        let classes = self.prices().await?;
        let (all, nodes) = (classes.len(), want.all_nodes());
        let also = want.how.also();
        let left = classes
            .into_iter()
            .filter(|class| also.iter().all(|also| also.class != class.class));
        let mut candidates = Vec::new();
        for class in left {
            let chosen = (class.class.clone(), None);
            let quote = move |at: &Desk<'_>, plan: Plan| plan.quote(at, nodes);
            let quote = self.planned_in(chosen, want.clone(), None, quote).await;
            candidates.push(Candidate::of(class, quote.flatten(), want));
        }
        choice(candidates, all)
    }

    /// The same for a wish without a way to buy: it compares bids, which every class can have.
    pub(crate) async fn class_for_wish(&self, wish: &Wish) -> Answer<Chosen> {
        let bid = Want {
            class: wish.class.clone(),
            nodes: wish.nodes,
            max_price: None,
            seconds: wish.seconds,
            budget: None,
            how: How::Ausubel(BidHow { divisible: false }),
        };
        self.class_for(&bid).await
    }
}

/// The best of the candidates, of so many classes in all.
fn choice(candidates: Vec<Candidate>, all: usize) -> Answer<Chosen> {
    let serving = candidates.iter().filter(|found| found.serves).count();
    let among = u32::try_from(serving).unwrap_or(u32::MAX);
    let best = cheapest(candidates).ok_or_else(|| {
        let hint = "`gridbay market prices` lists the classes";
        not_found("no class is left for the order", hint)
    })?;
    Ok((best.class.class, (all > 1).then_some(among)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::failure::usage;
    use crate::buy::fit::tests::class;

    #[test]
    fn a_choice_says_among_how_many() {
        let candidates = |serves: &[bool]| {
            let of = |(n, serves): (usize, &bool)| Candidate {
                class: class(&format!("class{n}"), 1, 512),
                quote: Err(usage("none", "try another")),
                serves: *serves,
            };
            serves.iter().enumerate().map(of).collect::<Vec<_>>()
        };
        let chosen = |serves: &[bool], all| choice(candidates(serves), all);
        assert_eq!(
            chosen(&[false, true], 2).unwrap(),
            ("class1".into(), Some(1))
        );
        assert_eq!(
            chosen(&[false, false], 3).unwrap(),
            ("class0".into(), Some(0))
        );
        assert_eq!(chosen(&[true], 1).unwrap(), ("class0".into(), None));
        let none = chosen(&[], 1).unwrap_err();
        assert!(none.message.contains("no class is left"), "{none:?}");
    }
}
