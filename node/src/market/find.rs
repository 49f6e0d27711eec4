//! Queries: first over the nodes known here, then over those that the DHT leads to.
//!
//! 1. The query is read; a mistake is reported with its column and a correction.
//! 2. Adverts and ledger are copied out of the core ([`Shelf`]), and the query is answered beside
//!    it.
//! 3. If that is less than was asked for, sellers are sought in the DHT ([`crate::discovery`]), for
//!    two seconds at the most, and if one was found the query is answered again.

use crate::api::Answer;
use crate::api::types::count;
use crate::api::types::{FindGroup, FindReport, FindRequest, FindStep, FoundNode, FoundOffer};
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::gone;
use crate::discovery::Sought;
use gridbay_core::query::answer::{Answer as Found, Found as Node};
use gridbay_core::query::explain::{Step, explain};
use gridbay_core::query::group::{Group, Search};
use gridbay_core::query::{Query, QueryError, bucket, find};
use gridbay_core::shelf::Shelf;
use gridbay_protocol::keys::PublicKey;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nodes of one answer at the most.
const SHOWN: usize = 1_000;

impl NodeBackend {
    /// Which sellers' nodes fit a query.
    pub async fn find(&self, request: FindRequest) -> Answer<FindReport> {
        let query: Query = request
            .query
            .parse()
            .map_err(|error| mistake(&request.query, &error))?;
        let query = Arc::new(query);
        let shelf = Arc::new(self.query(|core| core.shelf()).await?);
        let report = self.answer(&request, &query, &shelf).await?;
        let asked = query.limit.into_iter().chain(request.limit).min();
        let wanted = asked.unwrap_or(1).max(1) as usize;
        let together = query.group.is_some() && !report.nodes.is_empty();
        if together || report.nodes.len() >= wanted.min(SHOWN) {
            return Ok(report);
        }
        let buckets = bucket::of_query(&query);
        let sought = self.discovery.seek(&buckets, &shelf).await.map_err(gone)?;
        let Sought { asked, learnt } = sought;
        if learnt == 0 {
            return Ok(FindReport { asked, ..report });
        }
        let shelf = Arc::new(self.query(|core| core.shelf()).await?);
        let report = self.answer(&request, &query, &shelf).await?;
        Ok(FindReport {
            asked,
            learnt,
            ..report
        })
    }

    /// Answers from a shelf, beside the threads that must not wait.
    async fn answer(
        &self,
        request: &FindRequest,
        query: &Arc<Query>,
        shelf: &Arc<Shelf>,
    ) -> Answer<FindReport> {
        let (query, shelf) = (Arc::clone(query), Arc::clone(shelf));
        let measured = self.discovery.measured();
        let (limit, told) = (request.limit, request.explain);
        let work = move || report(&query, &shelf, &measured, limit, told);
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            let hint = "its message is in the node's log";
            ApiError::new(ErrorCode::Internal, error.to_string(), hint)
        })
    }
}

fn mistake(text: &str, error: &QueryError) -> ApiError {
    let column = error.column(text);
    let message = format!("column {column}: {}", error.problem);
    ApiError::new(ErrorCode::Usage, message, error.problem.hint())
        .with_details(json!({ "byte": error.at, "column": column }))
}

fn report(
    query: &Query,
    shelf: &Shelf,
    measured: &BTreeMap<PublicKey, u64>,
    limit: Option<u32>,
    told: bool,
) -> FindReport {
    let subjects = shelf.subjects(measured);
    let Found {
        mut found,
        fitting,
        search,
    } = find(query, &subjects);
    let most = limit.map_or(SHOWN, |limit| (limit as usize).min(SHOWN));
    if query.group.is_none() {
        found.truncate(most);
    }
    let group = query.group.as_ref().zip(search);
    let steps = match told || found.is_empty() {
        true => explain(query, &subjects),
        false => Vec::new(),
    };
    FindReport {
        query: query.to_string(),
        known: count(subjects.len()),
        fitting: count(fitting),
        group: group.map(|(group, search)| of_group(group, &search, !found.is_empty())),
        nodes: found.iter().map(|node| of_node(node, measured)).collect(),
        asked: 0,
        learnt: 0,
        steps: steps.into_iter().map(of_step).collect(),
    }
}

fn of_node(node: &Node<'_, '_>, measured: &BTreeMap<PublicKey, u64>) -> FoundNode {
    let subject = node.subject;
    let offers = node.lines.iter().map(|line| FoundOffer {
        offer: line.offer,
        class: line.class.name.clone(),
        free: line.free,
        price: line.price,
        buy: line.buy,
        mechanism: line.mechanism.to_owned(),
        firm: line.firm,
    });
    FoundNode {
        node: subject.node,
        seller: subject.seller,
        attributes: subject.texts.clone(),
        rtt_us: subject.rtt,
        rtt_measured: measured.contains_key(&subject.node),
        offers: offers.collect(),
    }
}

fn of_step(step: Step) -> FindStep {
    FindStep {
        condition: step.condition,
        left: count(step.left),
        alone: count(step.alone),
        unknown: count(step.unknown),
        nearest: step.nearest.map(|value| value.to_string()),
    }
}

fn of_group(group: &Group, search: &Search, found: bool) -> FindGroup {
    FindGroup {
        wanted: group.to_string(),
        found,
        siteless: count(search.siteless),
        candidates: count(search.candidates),
        sites: count(search.sites),
        pairs: count(search.pairs),
        near_pairs: count(search.near_pairs),
        unknown_pairs: count(search.unknown_pairs),
        gave_up: search.gave_up,
        longest_us: search.longest,
    }
}
