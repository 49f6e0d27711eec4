//! One gridbay node without its body: host, buyer, seller and provider agents as one `Input ->
//! Effect` machine.
//!
//! [`core::Core`] is the machine, [`input`] and [`effect`] its two sides. [`buyer`], [`seller`] and
//! [`provider`] are the agents, [`agent`] holds their messages, [`buy`] the ways of buying.
//! Network, timers, files and jobs are effects, answered by inputs; the machine's driver (the
//! node's body, the simulator) performs them in order.
//!
//! Beside the machine: [`frame`] puts messages of nodes on a stream; [`cases`] clears markets told
//! in JSON, for people and for vectors; [`told`] has every refusal's words for people; [`learn`]
//! estimates the worth of resources to a job from its past runs.

pub mod adverts;
pub mod agent;
mod asked;
pub mod buy;
pub mod buyer;
pub mod cases;
pub mod cluster;
pub mod core;
pub mod effect;
pub mod frame;
pub mod hints;
pub mod input;
mod join;
pub mod keeper;
pub mod key;
pub mod learn;
pub mod needs;
pub mod overlay;
mod owner;
pub mod presence;
pub mod project;
pub mod provider;
pub mod query;
pub mod relay;
mod renewal;
pub mod reply;
pub mod seller;
mod sent;
pub mod shelf;
mod signer;
pub mod steer;
pub mod told;
mod wallet;
pub mod withheld;

pub use crate::core::{Core, Parts};
pub use signer::ENTRY_HEIGHTS;
