//! From records to the state tree: key `H(StateKey, table, id)`, value `H(StateValue, record)`,
//! both over canonical bytes. Only changed records touch the tree.

use crate::tree::Hash;
use gridbay_protocol::codec;
use gridbay_protocol::hash::{Domain, hash};
use serde::Serialize;

/// Key in the state tree of the record with an id in a table (named as in the state: `accounts`,
/// `purses`, `orders`, ...).
pub fn record_key<K: Serialize>(table: &str, id: &K) -> Hash {
    hash(Domain::StateKey, &[table.as_bytes(), &codec::encode(id)])
}

/// Value in the state tree of a record.
pub fn record_value<R: Serialize>(record: &R) -> Hash {
    hash(Domain::StateValue, &[&codec::encode(record)])
}
