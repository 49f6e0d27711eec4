//! How the node is reached: its own addresses, relays, and what happens when it moves.

pub(super) mod addresses;
pub(super) mod discreet;
pub(super) mod moved;
pub(super) mod observed;
pub(super) mod reachability;
pub(super) mod relays;
pub(super) mod scope;
pub(super) mod serving;
pub(super) mod traverse;
