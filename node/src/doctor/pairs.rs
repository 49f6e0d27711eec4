//! Members of a lease's network that this node does not reach.

use super::{Finding, Kind};
use gridbay_protocol::ids::LeaseId;

/// A member without a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairFact {
    /// The lease.
    pub lease: LeaseId,
    /// The member's lowest rank.
    pub rank: u32,
    /// Where it was looked for, as address and kind.
    pub tried: Vec<String>,
}

pub(super) fn pair(fact: &PairFact) -> Finding {
    let why = match fact.tried.is_empty() {
        true => "it has told of no address at which it takes packets".to_owned(),
        false => format!("nothing answers at {}", fact.tried.join(", ")),
    };
    Finding::new(
        Kind::PairCut,
        format!(
            "in the network of lease {} this node does not reach rank {}",
            fact.lease, fact.rank
        ),
        why,
        "let packets to cluster.port (UDP 7412) in at one of the two nodes, or its answers out: \
         two NATs that give each peer another port need a relay (see docs/lease-network.md)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_without_a_way_is_told_with_the_places_that_were_tried() {
        let fact = PairFact {
            lease: LeaseId([7; 32]),
            rank: 3,
            tried: vec!["192.0.2.1:7412 (direct)".to_owned()],
        };
        let finding = pair(&fact);
        assert_eq!(finding.kind, Kind::PairCut);
        assert!(finding.what.ends_with("rank 3"));
        assert!(finding.why.contains("192.0.2.1:7412 (direct)"));
        let nowhere = pair(&PairFact {
            tried: vec![],
            ..fact
        });
        assert!(nowhere.why.contains("no address"));
    }
}
