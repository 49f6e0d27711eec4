//! What an attempt of a preempted job leaves behind, and what its return costs.
//!
//! After `docs/checkpoints.md`, with times that follow from bytes and links:
//!
//! 1. While it runs, every rank writes its state each interval; it does not work meanwhile. The
//!    state counts once all ranks' files have come over the link of the buyer's node, which they
//!    share, so that takes longer for more ranks.
//! 2. Told of its end, a job writes its state once more, if its grace suffices; the unit is taken
//!    all the while. The files come after that, as long as they come within a bound.
//! 3. On its next units it waits until they have come, pulls them over the same link, and starts.
//!
//! All ranks of a job go on from the same state, and so the slowest one counts.

/// Milliseconds that the last checkpoint of a run may take to come, as the buyer's agent has it.
const ARRIVE_MS: u64 = 300_000;

/// How jobs keep their progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// Milliseconds between two states; 0 if none is ever kept.
    pub every_ms: u64,
    /// Milliseconds from the notice of the end to the end.
    pub grace_ms: u64,
    /// Milliseconds in which a rank writes its state.
    pub write_ms: u64,
    /// Milliseconds in which the state of one rank passes the link of the buyer's node.
    pub transfer_ms: u64,
    /// Milliseconds from a start to the first instruction.
    pub start_ms: u64,
}

/// An attempt that has come to its end: milliseconds of each of its ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Work that the next attempt need not do again.
    pub kept: u64,
    /// Work that it must.
    pub lost: u64,
    /// Writing of the last state.
    pub leaving: u64,
    /// Until all of what is kept is at the buyer's node, from the notice on.
    pub here: u64,
}

impl Keeping {
    /// The same jobs, which keep nothing.
    pub fn nothing(like: &Keeping) -> Keeping {
        Keeping {
            every_ms: 0,
            ..*like
        }
    }

    fn transfer(&self, units: u32) -> u64 {
        self.transfer_ms * u64::from(units)
    }

    /// Milliseconds of work within so much running, and of writing.
    pub fn worked(&self, ran_ms: u64) -> (u64, u64) {
        if self.every_ms == 0 {
            return (ran_ms, 0);
        }
        let cycle = self.every_ms + self.write_ms;
        let work = ran_ms / cycle * self.every_ms + (ran_ms % cycle).min(self.every_ms);
        (work, ran_ms - work)
    }

    /// Milliseconds of running that so much work takes.
    pub fn runs(&self, work_ms: u64) -> u64 {
        match self.every_ms {
            0 => work_ms,
            every => work_ms + work_ms.saturating_sub(1) / every * self.write_ms,
        }
    }

    /// Milliseconds until an attempt works that begins from the state of another, whose files have
    /// still to come for `coming_ms`.
    pub fn returns(&self, units: u32, has_state: bool, coming_ms: u64) -> u64 {
        let pulled = if has_state { self.transfer(units) } else { 0 };
        coming_ms + pulled + self.start_ms
    }

    /// What is left of an attempt of so many ranks that ran so long and is told to end.
    pub fn leaves(&self, units: u32, ran_ms: u64) -> Left {
        let (work, _) = self.worked(ran_ms);
        if self.every_ms == 0 || work == 0 {
            return Left {
                lost: work,
                ..Left::default()
            };
        }
        let transfer = self.transfer(units);
        let leaving = self.write_ms.min(self.grace_ms);
        if self.write_ms <= self.grace_ms && transfer <= ARRIVE_MS {
            return Left {
                kept: work,
                lost: 0,
                leaving,
                here: leaving + transfer,
            };
        }
        // The last that had come as a whole.
        let cycle = self.every_ms + self.write_ms;
        let kept = ran_ms.saturating_sub(transfer) / cycle * self.every_ms;
        Left {
            kept,
            lost: work - kept,
            leaving,
            here: 0,
        }
    }
}
