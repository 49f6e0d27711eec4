//! Ids of traces and spans. They follow from ids of the ledger, so that all who know an order agree
//! on them without a word, also after a restart.
//!
//! The trace of an order is the first half of its id, so whoever has the one finds the other.

use gridbay_protocol::ids::{LeaseId, OrderId};
use opentelemetry::{SpanId, TraceId};

/// Keeps the ids of spans apart from all other hashes.
const CONTEXT: &str = "gridbay 2026 span of an order";

/// The trace of an order.
pub(super) fn trace(order: &OrderId) -> TraceId {
    TraceId::from_bytes(cut(&order.0, 0))
}

/// The span of an order as a whole.
pub(super) fn root(order: &OrderId) -> SpanId {
    SpanId::from_bytes(cut(&order.0, 16))
}

/// The span of a lease.
pub(super) fn lease(lease: &LeaseId) -> SpanId {
    SpanId::from_bytes(cut(&lease.0, 0))
}

/// The span of a stage of an order; two numbers tell it from others of its name.
pub(super) fn stage(order: &OrderId, name: &str, number: (u64, u32)) -> SpanId {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&order.0);
    hasher.update(&number.0.to_be_bytes());
    hasher.update(&number.1.to_be_bytes());
    hasher.update(name.as_bytes());
    SpanId::from_bytes(cut(hasher.finalize().as_bytes(), 0))
}

/// Whether an order is among so many percent of all.
pub(super) fn is_sampled(order: &OrderId, percent: u8) -> bool {
    u64::from_be_bytes(cut(&order.0, 24)) % 100 < u64::from(percent)
}

/// Bytes of a hash from an offset on.
fn cut<const N: usize>(hash: &[u8; 32], from: usize) -> [u8; N] {
    std::array::from_fn(|at| hash[from + at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_those_of_the_ledger() {
        let order = OrderId(std::array::from_fn(|at| at as u8 + 1));
        assert!(order.to_hex().starts_with(&trace(&order).to_string()));
        assert_eq!(root(&order).to_string(), "1112131415161718");
        assert_eq!(lease(&LeaseId([7; 32])).to_string(), "07".repeat(8));
        let job = stage(&order, "job", (1, 2));
        assert_eq!(job, stage(&order, "job", (1, 2)));
        for other in [
            stage(&order, "run", (1, 2)),
            stage(&order, "job", (2, 2)),
            stage(&order, "job", (1, 3)),
            stage(&OrderId([1; 32]), "job", (1, 2)),
        ] {
            assert_ne!(job, other);
        }
    }

    #[test]
    fn a_share_of_all_orders_is_sampled_and_more_of_them_with_more_percent() {
        let orders: Vec<OrderId> = (0..4_000_u32)
            .map(|n| OrderId(*blake3::hash(&n.to_be_bytes()).as_bytes()))
            .collect();
        let sampled = |percent| orders.iter().filter(|o| is_sampled(o, percent)).count();
        assert_eq!((sampled(0), sampled(100)), (0, 4_000));
        assert!((900..1_100).contains(&sampled(25)), "{}", sampled(25));
        let few = orders.iter().filter(|o| is_sampled(o, 10));
        assert!(few.into_iter().all(|order| is_sampled(order, 25)));
    }
}
