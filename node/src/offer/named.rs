//! Offers as users name them: by their id, or how it begins.

use crate::api::Answer;
use crate::backend::failure::{not_found, usage};
use gridbay_ledger::State;
use gridbay_protocol::ids::OfferId;

const LIST: &str = "`gridbay offer list` shows how they begin";

/// The offer that a text means.
///
/// # Errors
/// It is none, or begins like several.
pub(crate) fn offer_meant(state: &State, text: &str) -> Answer<OfferId> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    only(state.offers().map(|(id, _)| id), text)
}

fn only<'a>(offers: impl Iterator<Item = &'a OfferId>, text: &str) -> Answer<OfferId> {
    let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if text.is_empty() || !text.bytes().all(hex) {
        return Err(usage("no id of an offer, nor how one begins", LIST));
    }
    let mut found = offers.filter(|id| id.to_hex().starts_with(text));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(*only),
        (Some(_), Some(_)) => Err(usage(
            format!("several offers begin with {text}"),
            "name more digits of it",
        )),
        (None, _) => Err(not_found(format!("no offer begins with {text}"), LIST)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;

    #[test]
    fn an_offer_is_meant_by_how_its_id_begins() {
        let offers = [OfferId([0xab; 32]), OfferId([0xac; 32])];
        let meant = |text: &str| only(offers.iter(), text);
        assert_eq!(meant("ab"), Ok(offers[0]));
        assert_eq!(meant(&offers[1].to_hex()), Ok(offers[1]));
        let code = |text: &str| meant(text).unwrap_err().code;
        assert_eq!(code("a"), ErrorCode::Usage, "both");
        assert_eq!(code("b"), ErrorCode::NotFound);
        for odd in ["", "AB", "../ab", "ab\n", &"é".repeat(9)] {
            assert_eq!(code(odd), ErrorCode::Usage, "{odd:?}");
        }
        assert_eq!(code(&"ab".repeat(99)), ErrorCode::NotFound, "too long");
    }
}
