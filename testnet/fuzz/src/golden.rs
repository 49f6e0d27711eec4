//! Seeds from the golden vectors of `gridbay-protocol`: real values, one of every variant.

use gridbay_protocol::codec;
use gridbay_protocol::ids::NetworkId;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The network of all signed golden values.
pub(crate) const NETWORK: NetworkId = NetworkId([0x11; 32]);

/// The families that hold seeds.
#[derive(Clone, Copy)]
pub(crate) enum Family {
    Advert,
    Block,
    Effect,
    Entry,
    Genesis,
    Invitation,
    Job,
    NodeRecord,
    Vote,
}

fn lines(family: Family) -> &'static str {
    match family {
        Family::Advert => include_str!("../../../protocol/tests/golden/signed_advert.txt"),
        Family::Block => include_str!("../../../protocol/tests/golden/block.txt"),
        Family::Effect => include_str!("../../../protocol/tests/golden/effect.txt"),
        Family::Entry => include_str!("../../../protocol/tests/golden/signed_entry.txt"),
        Family::Genesis => include_str!("../../../protocol/tests/golden/genesis.txt"),
        Family::Invitation => include_str!("../../../protocol/tests/golden/invitation.txt"),
        Family::Job => include_str!("../../../protocol/tests/golden/job.txt"),
        Family::NodeRecord => {
            include_str!("../../../protocol/tests/golden/signed_node_record.txt")
        }
        Family::Vote => include_str!("../../../protocol/tests/golden/vote.txt"),
    }
}

/// Everything pinned in a family, by name.
fn pinned(family: Family) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let pins = lines(family)
        .lines()
        .filter_map(|line| line.split_once(' '));
    pins.filter_map(|(name, hex)| {
        let bytes = data_encoding::HEXLOWER.decode(hex.as_bytes()).ok()?;
        Some((name, bytes))
    })
}

/// Bytes of the pinned values that are a `T`; hashes and values of other types are left out.
pub(crate) fn seeds<T: Serialize + DeserializeOwned>(family: Family) -> Vec<Vec<u8>> {
    let all = pinned(family).map(|(_, bytes)| bytes);
    all.filter(|bytes| codec::decode::<T>(bytes, bytes.len()).is_ok())
        .collect()
}

/// The pinned values that are a `T`.
pub(crate) fn values<T: Serialize + DeserializeOwned>(family: Family) -> Vec<T> {
    let all = seeds::<T>(family).into_iter();
    all.filter_map(|bytes| codec::decode(&bytes, bytes.len()).ok())
        .collect()
}

/// The bytes pinned under a name.
pub(crate) fn named(family: Family, name: &str) -> Vec<u8> {
    pinned(family)
        .find(|(found, _)| *found == name)
        .map(|(_, bytes)| bytes)
        .expect("the golden vectors hold this name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::entry::SignedEntry;
    use gridbay_protocol::vote::Vote;

    #[test]
    fn values_are_found_and_hashes_are_not() {
        assert_eq!(values::<SignedEntry>(Family::Entry).len(), 38);
        assert_eq!(seeds::<Vote>(Family::Vote).len(), 2);
        assert!(named(Family::Invitation, "invitation.text").starts_with(b"gridbay1"));
    }
}
