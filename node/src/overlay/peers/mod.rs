//! Connected peers: who may connect, how much each may send, whom the node dials, and what the
//! owner says of them.

pub(super) mod crowding;
pub(super) mod dialer;
pub(super) mod doubles;
pub(super) mod flood;
pub(super) mod gate;
pub(super) mod marks;
pub(super) mod meter;
pub(super) mod metered;
pub(super) mod mute;
pub(super) mod peer;
pub(super) mod rates;
pub(super) mod standing;
