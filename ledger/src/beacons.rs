//! The beacon chain of a validator that counts, and how it is replaced.
//!
//! 1. The chain named in the genesis counts from the first height on.
//! 2. A tip registered in an epoch counts from the first height of the epoch after the next; until
//!    then the old chain goes on. So the owner that chooses a tip cannot know what it will be mixed
//!    with: others' reveals of at least one whole epoch lie in between.
//! 3. One tip waits at a time and cannot be replaced: else its owner could choose in the last block
//!    before the turn which of two chains goes on.
//! 4. A validator whose chain is used up proposes nothing until the next one counts; it still
//!    votes.

use crate::record::Successor;
use crate::view::Beacons;
use gridbay_protocol::calendar;
use gridbay_protocol::ids::{Hash32, ValidatorId};

/// Epochs from the one in which a tip is registered to the first in which it counts.
const DELAY_EPOCHS: u64 = 2;

/// Registers the next tip of a validator that has none waiting.
pub(crate) fn register(at: &mut Beacons<'_, '_>, validator: ValidatorId, tip: Hash32) {
    let epoch = calendar::epoch(at.height()).saturating_add(DELAY_EPOCHS);
    at.successors().insert(validator, Successor { tip, epoch });
}

/// In the last block of an epoch: the tips of the next epoch count from the next block on.
pub(crate) fn turn(at: &mut Beacons<'_, '_>) {
    let next = calendar::epoch(at.height() + 1);
    if next == calendar::epoch(at.height()) {
        return;
    }
    let all = at.tables.successors.iter();
    let due: Vec<_> = all
        .filter(|(_, successor)| successor.epoch <= next)
        .map(|(id, successor)| (*id, successor.tip))
        .collect();
    for (validator, tip) in due {
        at.successors().remove(&validator);
        at.beacons().insert(validator, tip);
    }
}
