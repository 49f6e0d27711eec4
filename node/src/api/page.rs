//! Lists by pages.
//!
//! 1. A request names how many lines it wants, and the place behind which they begin: `?limit=` and
//!    `?after=`. The header [`NEXT`] of an answer has the place of its last line, unless nothing
//!    follows.
//! 2. A place is the key by which the list is sorted, not a count of lines. So whatever comes or
//!    goes meanwhile, no line comes twice, and none is missed that stays.
//! 3. A place is good for the list and the filters for which it was given. What a caller makes of
//!    it reaches nothing that the list would not show anyway, so it is not signed.

use super::extract::LIST;
use super::{Answer, ApiError, ErrorCode};
use axum::Json;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use gridbay_protocol::ids::to_hex;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// The header with the place behind an answer's last line.
pub(crate) const NEXT: &str = "gridbay-next";
/// Bytes that tell of which list a place is.
const TAG: usize = 8;
/// Bytes of a key at the most.
const KEY: usize = 256;

/// The query of a list that has no filters.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Window {
    /// Lines at the most; all without it, and never more than 1,000.
    limit: Option<u32>,
    /// The header `gridbay-next` of the answer behind which these lines begin.
    #[param(min_length = 1, max_length = 528)]
    after: Option<String>,
}

impl Window {
    /// The part of a list that it asks for.
    pub(crate) fn of(&self, list: &str) -> Answer<Asked> {
        Asked::of(&[list], self.limit, self.after.as_deref())
    }
}

/// The part of a list that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Lines at the most.
    pub(crate) most: usize,
    tag: [u8; TAG],
    after: Option<Vec<u8>>,
}

/// Lines of a list, and the place of the last one unless nothing follows it.
pub(crate) struct Page<T> {
    pub(crate) lines: Vec<T>,
    pub(crate) next: Option<String>,
}

impl Asked {
    /// Of a list, named first, and its filters.
    ///
    /// # Errors
    /// The place is none of this list.
    pub(crate) fn of(list: &[&str], limit: Option<u32>, after: Option<&str>) -> Answer<Asked> {
        let mut tag = [0; TAG];
        let named = serde_json::to_vec(list).unwrap_or_default();
        tag.copy_from_slice(&blake3::derive_key("gridbay/page/1", &named)[..TAG]);
        let after = match after {
            None => None,
            Some(text) => Some(key(text, &tag)?),
        };
        let most = limit.map_or(usize::MAX, |most| LIST.min(most as usize));
        Ok(Asked { most, tag, after })
    }
    /// The key behind which lines begin.
    pub(crate) fn after(&self) -> Option<&[u8]> {
        self.after.as_deref()
    }
    /// The same of a list whose keys have one length.
    pub(crate) fn behind<const N: usize>(&self) -> Answer<Option<[u8; N]>> {
        let key = self.after().map(<[u8; N]>::try_from).transpose();
        key.map_err(|_| no_place())
    }
    /// The place of a line.
    pub(crate) fn place(&self, key: &[u8]) -> String {
        to_hex(&[&self.tag[..], key].concat())
    }
    /// Those of all `lines` that are asked for, ascending by `key`.
    pub(crate) fn of_all<T, K: AsRef<[u8]>>(
        &self,
        mut lines: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> Page<T> {
        if self.most != usize::MAX || self.after.is_some() {
            lines.sort_by(|a, b| key(a).as_ref().cmp(key(b).as_ref()));
        }
        if let Some(after) = self.after() {
            lines.retain(|line| key(line).as_ref() > after);
        }
        self.cut(lines, key)
    }
    /// The first of lines that begin at the place asked for; there are more if one is left over.
    pub(crate) fn cut<T, K: AsRef<[u8]>>(
        &self,
        mut lines: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> Page<T> {
        let more = lines.len() > self.most;
        lines.truncate(self.most);
        let last = lines.last().filter(|_| more);
        let next = last.map(|line| self.place(key(line).as_ref()));
        Page { lines, next }
    }
}

fn key(text: &str, tag: &[u8; TAG]) -> Answer<Vec<u8>> {
    if text.len() > 2 * (TAG + KEY) {
        return Err(no_place());
    }
    let bytes = data_encoding::HEXLOWER.decode(text.as_bytes());
    let bytes = bytes.map_err(|_| no_place())?;
    let key = bytes.strip_prefix(tag).filter(|key| !key.is_empty());
    key.map(<[u8]>::to_vec).ok_or_else(no_place)
}

fn no_place() -> ApiError {
    let why = "`after` is no place in this list with these filters";
    let hint = "give the header gridbay-next of its last answer as it is, or begin without after";
    ApiError::new(ErrorCode::Usage, why, hint)
}

/// A place whose line is so old that those behind it are not kept any more.
pub(crate) fn stale() -> ApiError {
    let why = "what follows `after` is not kept any more";
    ApiError::new(ErrorCode::Usage, why, "begin without after")
}

/// Adds the place to the headers of an answer.
pub(crate) fn with_next(next: Option<String>, answer: impl IntoResponse) -> Response {
    let mut headers = HeaderMap::new();
    if let Some(next) = next.and_then(|next| HeaderValue::try_from(next).ok()) {
        headers.insert(NEXT, next);
    }
    (headers, answer).into_response()
}

impl<T: Serialize> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        with_next(self.next, Json(self.lines))
    }
}

impl<T> Page<T> {
    /// The same of what is made of each line.
    pub(crate) fn map<U>(self, of: impl FnMut(T) -> U) -> Page<U> {
        let (lines, next) = (self.lines.into_iter().map(of).collect(), self.next);
        Page { lines, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn asked(limit: u32, after: Option<&str>) -> Answer<Asked> {
        Asked::of(&["things", "all"], Some(limit), after)
    }

    fn bytes(line: &u16) -> [u8; 2] {
        line.to_be_bytes()
    }

    proptest! {
        /// Lines come and go between pages; those that stay come once each, in their order.
        #[test]
        fn a_walk_sees_what_stays_once_and_nothing_twice(
            stays in proptest::collection::btree_set(any::<u16>(), 0..60),
            visits in proptest::collection::vec(any::<BTreeSet<u16>>(), 0..8),
            limit in 1_u32..9,
        ) {
            let (mut seen, mut after, mut turn) = (Vec::new(), None, 0);
            loop {
                let mut all = stays.clone();
                all.extend(visits.get(turn).into_iter().flatten());
                let asked = asked(limit, after.as_deref()).unwrap();
                let page = asked.of_all(all.into_iter().rev().collect(), bytes);
                prop_assert!(page.lines.len() <= limit as usize);
                seen.extend(page.lines);
                after = page.next;
                turn += 1;
                if after.is_none() {
                    break;
                }
            }
            prop_assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
            let seen: BTreeSet<u16> = seen.into_iter().collect();
            prop_assert!(seen.is_superset(&stays));
        }

        #[test]
        fn what_a_caller_invents_is_refused_and_never_a_fault(text in ".{0,80}") {
            if let Err(error) = asked(5, Some(&text)) {
                prop_assert_eq!(error.code, ErrorCode::Usage);
                prop_assert!(!error.hint.is_empty());
            }
        }
    }

    #[test]
    fn a_place_is_good_for_its_list_alone() {
        let place = asked(1, None).unwrap().place(&[1, 2]);
        let again = asked(1, Some(&place)).unwrap();
        assert_eq!(again.behind::<2>().unwrap(), Some([1, 2]));
        assert!(again.behind::<3>().is_err());
        assert!(Asked::of(&["things", "few"], None, Some(&place)).is_err());
        assert!(Asked::of(&["thingsall"], None, Some(&place)).is_err());
        for odd in [
            "",
            "0",
            &place[..16],
            &place.to_uppercase(),
            &"ab".repeat(999),
        ] {
            assert!(asked(1, Some(odd)).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_list_without_a_limit_is_whole_and_as_it_was() {
        let page = Asked::of(&["things"], None, None)
            .unwrap()
            .of_all(vec![3, 1, 2], bytes);
        assert_eq!((page.lines, page.next), (vec![3, 1, 2], None));
        let none = asked(0, None).unwrap().of_all(vec![3, 1, 2], bytes);
        assert!(none.lines.is_empty() && none.next.is_none());
        let all = asked(3, None).unwrap().of_all(vec![3, 1, 2], bytes);
        assert!(all.next.is_none(), "nothing follows");
    }
}
