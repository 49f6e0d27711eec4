//! What changes at this node, told as it happens: a stream of events that can be taken up again.

mod buffer;
pub(crate) mod kept;
mod looks;
pub(crate) mod routes;
mod sight;
mod teller;
