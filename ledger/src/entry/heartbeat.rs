//! `heartbeat`: a seller's node is there in the slot of the block, and serves a lease from the
//! offer that it names (see [`heartbeat`]).

use crate::refusal::Refusal;
use crate::view::Floor;
use crate::work::Work;
use crate::{heartbeat, lease};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::offer::offer_id;

pub(super) fn check(work: &Work<'_>, seller: &AccountId, label: u32) -> Result<(), Refusal> {
    let offer = offer_id(seller, label);
    if !work.tables.offers.contains(&offer) {
        return Err(Refusal::NoOffer(offer));
    }
    if heartbeat::is_alive(work, &offer) {
        return Err(Refusal::HeartbeatTwice {
            seller: *seller,
            slot: work.calendar().slot(work.height()),
        });
    }
    if !lease::serves(work, &offer) {
        return Err(Refusal::Idle(offer));
    }
    Ok(())
}

pub(super) fn apply(at: &mut Floor<'_, '_>, seller: &AccountId, label: u32) {
    heartbeat::beat(at, &offer_id(seller, label));
}
