//! Leases' networks end to end, over the loopback, without root.
//!
//! Each rank is a process of its own in new user and network namespaces ([`rank`]), which this
//! binary starts by running itself again. It makes its device there and hands the descriptor to the
//! test, which is the node.

#![allow(clippy::print_stdout, reason = "what is left out is said")]

mod commands;
mod device;
mod leases;
mod mirror;
mod nodes;
mod rank;
mod refused;
mod relay;
mod traffic;
mod user;
mod veth;

/// What a started rank executes; for anybody else there is nothing to do.
#[test]
fn the_inside_of_a_rank() {
    rank::inside();
}
