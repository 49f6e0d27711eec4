//! The answer to a query: which nodes, with which of their offers, in order.

use super::Query;
use super::group::{self, Search};
use super::order::{self, BY_PRICE, Key};
use super::subject::{Fact, Line, Subject};
use super::truth::truth;

/// A node of the answer.
#[derive(Clone, Debug)]
pub struct Found<'s, 'a> {
    /// The node.
    pub subject: &'s Subject<'a>,
    /// Its lines that fit, in order; at least one.
    pub lines: Vec<&'s Line<'a>>,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Answer<'s, 'a> {
    /// The nodes, in order; those of a group in the same order.
    pub found: Vec<Found<'s, 'a>>,
    /// Nodes that fit each on its own, before a group was chosen or the list was cut.
    pub fitting: usize,
    /// Of the search for a group, if the query wants one.
    pub search: Option<Search>,
}

/// A node that fits, with what it is ordered by.
struct Fitting<'s, 'a> {
    found: Found<'s, 'a>,
    place: Vec<Option<Fact<'a>>>,
}

/// Answers a query about some nodes.
pub fn find<'s, 'a>(query: &Query, subjects: &'s [Subject<'a>]) -> Answer<'s, 'a> {
    let keys: &[Key] = match query.keys.as_slice() {
        [] => &BY_PRICE,
        keys => keys,
    };
    let fits = |subject: &Subject<'a>, line: &Line<'a>| {
        let condition = query.condition.as_ref();
        condition.is_none_or(|condition| truth(condition, subject, line) == Some(true))
    };
    let fitting = subjects.iter().filter_map(|subject| {
        let lines = subject.lines.iter().filter(|line| fits(subject, line));
        ordered(keys, subject, lines)
    });
    let mut fitting: Vec<Fitting<'s, 'a>> = fitting.collect();
    fitting.sort_by(|a, b| {
        let id = |fitting: &Fitting<'_, '_>| {
            let subject = fitting.found.subject;
            (subject.node, subject.seller)
        };
        order::compare(keys, &a.place, &b.place).then_with(|| id(a).cmp(&id(b)))
    });
    let count = fitting.len();
    let mut found: Vec<Found<'s, 'a>> = fitting.into_iter().map(|f| f.found).collect();
    let mut search = None;
    if let Some(group) = &query.group {
        let nodes: Vec<&Subject<'a>> = found.iter().map(|f| f.subject).collect();
        let (members, searched) = group::choose(group, &nodes);
        let members = members.unwrap_or_default();
        let mut index = 0;
        found.retain(|_| {
            index += 1;
            members.binary_search(&(index - 1)).is_ok()
        });
        search = Some(searched);
    }
    if let Some(limit) = query.limit {
        found.truncate(limit as usize);
    }
    Answer {
        found,
        fitting: count,
        search,
    }
}

/// A node with its lines that fit, if there are any.
fn ordered<'s, 'a>(
    keys: &[Key],
    subject: &'s Subject<'a>,
    lines: impl Iterator<Item = &'s Line<'a>>,
) -> Option<Fitting<'s, 'a>> {
    let placed = lines.map(|line| (order::place(keys, subject, line), line));
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by(|(a, x), (b, y)| order::compare(keys, a, b).then(x.offer.cmp(&y.offer)));
    let lines = placed.iter().map(|(_, line)| *line).collect();
    let place = placed.into_iter().next()?.0;
    let found = Found { subject, lines };
    Some(Fitting { found, place })
}
