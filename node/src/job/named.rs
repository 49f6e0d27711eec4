//! The order that a word in an address means: by its job's id, the beginning of that or of the
//! order's id, or by its name.
//!
//! A name means the job of that name that has not ended; if all of them have, the newest.

use super::handle::find;
use super::types::JobId;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{not_found, usage};
use crate::order::handle::job_id;
use gridbay_core::Core;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::key::OrderKey;

/// Ids that are told where a name means several jobs, at the most.
const TOLD: usize = 4;

impl NodeBackend {
    /// The whole id of the job that a word means.
    pub(crate) async fn meant_job(&self, text: String) -> Answer<JobId> {
        self.query(move |core| meant(core, &text, |_| true).map(|(key, _)| job_id(&key)))
            .await?
    }
}

/// The order that a word means among those that may be meant.
pub(crate) fn meant<'c>(
    core: &'c Core,
    text: &str,
    may_be: impl Fn(&OrderAgent) -> bool,
) -> Answer<(OrderKey, &'c OrderAgent)> {
    let by_id = JobId::try_from(text.to_owned()).map(|id| find(core, &id));
    match by_id {
        Ok(Err(ApiError {
            code: ErrorCode::NotFound,
            ..
        }))
        | Err(_) => {}
        Ok(found) => return found,
    }
    let named = core.buyer().orders().filter(|(_, agent)| {
        let order = agent.order();
        order.name == text && may_be(agent)
    });
    let named = named.map(|(key, agent)| Candidate {
        key: *key,
        is_over: agent.finish().is_some(),
        accepted_ms: agent.order().accepted_ms,
    });
    let key = one_of(text, named.collect())?;
    let agent = core.buyer().order(&key).ok_or_else(|| no_job(text))?;
    Ok((key, agent))
}

/// An order that has the name.
#[derive(Clone, Copy)]
struct Candidate {
    key: OrderKey,
    is_over: bool,
    accepted_ms: u64,
}

fn one_of(text: &str, mut named: Vec<Candidate>) -> Answer<OrderKey> {
    let going = named.iter().filter(|one| !one.is_over).count();
    if going > 0 {
        named.retain(|one| !one.is_over);
    }
    named.sort_by_key(|one| (std::cmp::Reverse(one.accepted_ms), one.key));
    match named.first() {
        None => Err(no_job(text)),
        Some(newest) if going < 2 => Ok(newest.key),
        Some(_) => {
            let ids = named.iter().take(TOLD).map(|one| one.key.to_string());
            let ids: Vec<String> = ids.collect();
            let why = format!("{going} jobs that have not ended are called {text}");
            Err(usage(why, format!("give the id: {}", ids.join(", "))))
        }
    }
}

fn no_job(text: &str) -> ApiError {
    not_found(
        format!("no job has the id or the name {text}"),
        "see gridbay job list --all; the beginning of an id has 8 digits or more",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_what_goes_on_or_else_the_newest() {
        let one = |key, is_over, accepted_ms| Candidate {
            key: OrderKey(key),
            is_over,
            accepted_ms,
        };
        let code = |named: Vec<Candidate>| one_of("v2", named).unwrap_err().code;
        assert_eq!(code(vec![]), ErrorCode::NotFound);
        let over = vec![one(1, true, 5), one(2, true, 9), one(3, true, 7)];
        assert_eq!(one_of("v2", over.clone()), Ok(OrderKey(2)));
        let with_one = [over, vec![one(4, false, 1)]].concat();
        assert_eq!(one_of("v2", with_one.clone()), Ok(OrderKey(4)));
        let with_two = [with_one, vec![one(5, false, 2)]].concat();
        let told = one_of("v2", with_two).unwrap_err();
        assert_eq!(told.code, ErrorCode::Usage);
        let ids = format!("give the id: {}, {}", OrderKey(5), OrderKey(4));
        assert_eq!(told.hint, ids);
    }
}
