//! Whom a user means by a word. Pure.
//!
//! 1. An address that ends in `/p2p/<id>` names its peer, and where to dial it.
//! 2. A peer id, or 64 hexadecimal digits of a transport key, names anybody.
//! 3. Anything else must be the name of exactly one peer that is connected or marked, however
//!    short; if it is nobody's, the beginning of exactly one's transport key or peer id, with or
//!    without the eight characters with which all our peer ids begin. Four at least.

use crate::api::{ApiError, ErrorCode};
use crate::backend::failure::{not_found, usage};
use crate::body::ask::{key_of, peer_of};
use crate::overlay::{self, Multiaddr, PeerId};
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// All peer ids of ed25519 keys begin so.
const COMMON: &str = "12D3KooW";
/// Shortest beginning that counts; names are as short as their members chose.
const LEAST: usize = 4;
const HINT: &str = "see `gridbay peer list`; give more of the id, or all of it";

/// Names by transport key.
pub(super) type Names = BTreeMap<PublicKey, String>;

/// The peer that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meant {
    pub(crate) peer: PeerId,
    /// Where it may be, if the user says.
    pub(crate) addresses: Vec<Multiaddr>,
}

pub(crate) fn meant(who: &str, known: &[PeerId], names: &Names) -> Result<Meant, ApiError> {
    let who = who.trim();
    if who.starts_with('/') {
        return by_address(who);
    }
    let whole = who.parse().ok();
    let key = || who.parse::<PublicKey>().ok().and_then(|key| peer_of(&key));
    let peer = match whole.or_else(key) {
        Some(peer) => peer,
        None => by_name(who, known, names)?,
    };
    Ok(Meant {
        peer,
        addresses: Vec::new(),
    })
}

fn by_address(text: &str) -> Result<Meant, ApiError> {
    let parsed = text.parse::<Multiaddr>().ok();
    match parsed.as_ref().and_then(overlay::split_peer) {
        Some((peer, address)) => Ok(Meant {
            peer,
            addresses: vec![address],
        }),
        None => Err(usage(
            format!("`{text}` is no address of a peer"),
            "an address ends in the peer's id, as in /ip4/192.0.2.7/udp/7411/quic-v1/p2p/12D3KooW..",
        )),
    }
}

fn by_name(who: &str, known: &[PeerId], names: &Names) -> Result<PeerId, ApiError> {
    let is_called = |peer: &&PeerId| {
        let name = key_of(peer).and_then(|key| names.get(&key));
        name.is_some_and(|name| name == who)
    };
    let found: Vec<&PeerId> = known.iter().filter(is_called).collect();
    match found.as_slice() {
        [one] => Ok(**one),
        [] => by_beginning(who, known),
        many => Err(several(who, many.len())),
    }
}

fn by_beginning(who: &str, known: &[PeerId]) -> Result<PeerId, ApiError> {
    let nobody = format!("no peer that is connected or marked is called `{who}`");
    if who.len() < LEAST {
        let why = format!("{nobody}, and the beginning of an id has {LEAST} characters at least");
        return Err(not_found(why, HINT));
    }
    let begins = |peer: &&PeerId| {
        let text = peer.to_string();
        let by_id = text.starts_with(who)
            || text
                .strip_prefix(COMMON)
                .is_some_and(|t| t.starts_with(who));
        // The common part alone would be everybody.
        let by_id = by_id && !COMMON.starts_with(who);
        let lower = who.to_ascii_lowercase();
        by_id || key_of(peer).is_some_and(|key| key.to_hex().starts_with(&lower))
    };
    let found: Vec<&PeerId> = known.iter().filter(begins).collect();
    match found.as_slice() {
        [one] => Ok(**one),
        [] => Err(not_found(format!("{nobody} or begins so"), HINT)),
        many => Err(several(who, many.len())),
    }
}

fn several(who: &str, count: usize) -> ApiError {
    let why = format!("{count} peers are called `{who}` or begin so");
    ApiError::new(ErrorCode::Usage, why, HINT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn world() -> (Vec<PublicKey>, Vec<PeerId>, Names) {
        let keys: Vec<PublicKey> = (0..40u8)
            .map(|i| SecretKey::from_seed(&[i; 32]).public())
            .collect();
        let peers = keys.iter().map(|key| peer_of(key).unwrap()).collect();
        let names = [(keys[3], "ada".to_owned()), (keys[4], "bodo".to_owned())];
        (keys, peers, names.into())
    }

    #[test]
    fn ids_keys_beginnings_names_and_addresses() {
        let (keys, peers, names) = world();
        let find = |who: &str| meant(who, &peers[..5], &names).map(|m| m.peer);
        let stranger = (peers[20].to_string(), keys[20].to_hex());
        assert_eq!(find(&stranger.0), Ok(peers[20]));
        assert_eq!(find(&stranger.1), Ok(peers[20]));
        assert_eq!(find(&keys[2].to_hex()[..12]), Ok(peers[2]));
        assert_eq!(find(&keys[2].to_hex()[..12].to_uppercase()), Ok(peers[2]));
        assert_eq!(find(&peers[1].to_string()[..16]), Ok(peers[1]));
        assert_eq!(find(&peers[1].to_string()[8..20]), Ok(peers[1]));
        assert_eq!(find("bodo"), Ok(peers[4]));
        assert_eq!(find("ada"), Ok(peers[3]), "a name may be short");
        let text = format!("/ip4/192.0.2.7/tcp/7411/p2p/{}", peers[30]);
        let address = "/ip4/192.0.2.7/tcp/7411".parse().unwrap();
        let who = Meant {
            peer: peers[30],
            addresses: vec![address],
        };
        assert_eq!(meant(&text, &[], &names), Ok(who));
    }

    #[test]
    fn what_names_nobody_or_several_is_refused() {
        let (keys, peers, names) = world();
        let find = |who: &str| meant(who, &peers[..5], &names).unwrap_err().code;
        let short = meant(&keys[2].to_hex()[..3], &peers[..5], &names).unwrap_err();
        assert_eq!(short.code, ErrorCode::NotFound);
        assert!(short.message.contains("4 characters"), "{}", short.message);
        assert_eq!(find(&keys[20].to_hex()[..12]), ErrorCode::NotFound);
        assert_eq!(find("12D3KooW"), ErrorCode::NotFound);
        assert_eq!(find("/ip4/192.0.2.7/tcp/7411"), ErrorCode::Usage);
        assert_eq!(find("/nonsense"), ErrorCode::Usage);
        let both = [(keys[0], "same".to_owned()), (keys[1], "same".to_owned())];
        let error = meant("same", &peers, &both.into()).unwrap_err();
        assert!(error.message.starts_with("2 peers"), "{}", error.message);
        // A name goes before the beginning of another one's key.
        let begin = keys[1].to_hex()[..8].to_owned();
        let named = meant(&begin, &peers, &[(keys[0], begin.clone())].into());
        assert_eq!(named.unwrap().peer, peers[0]);
    }
}
