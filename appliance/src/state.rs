//! States of the appliance, and faults: what an owner is told.

/// A state of the appliance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It needs something of its owner.
    Waiting {
        /// What, and how to provide it.
        how: Fault,
    },
    /// It is on its way to be ready.
    Joining {
        /// The present step.
        what: String,
    },
    /// The node is at the head of the ledger.
    Ready {
        /// What it sells.
        selling: String,
        /// Things that the owner may want otherwise.
        notes: Vec<Fault>,
    },
    /// It takes no new leases.
    Draining {
        /// What is left.
        what: String,
    },
    /// It cannot go on by itself, or only once something outside is mended.
    Error {
        /// What, and what to do.
        fault: Fault,
    },
}

impl State {
    /// The state in one word.
    pub fn name(&self) -> &'static str {
        match self {
            State::Waiting { .. } => "waiting",
            State::Joining { .. } => "joining",
            State::Ready { .. } => "ready",
            State::Draining { .. } => "draining",
            State::Error { .. } => "error",
        }
    }
    /// Why it is in this state.
    pub fn reason(&self) -> &str {
        match self {
            State::Waiting { how: fault } | State::Error { fault } => &fault.reason,
            State::Joining { what } | State::Draining { what } => what,
            State::Ready { selling, .. } => selling,
        }
    }
    /// What the owner can do; may be empty.
    pub fn hint(&self) -> &str {
        match self {
            State::Waiting { how: fault } | State::Error { fault } => &fault.hint,
            _ => "",
        }
    }
    /// What else the owner may want to know.
    pub fn notes(&self) -> &[Fault] {
        match self {
            State::Ready { notes, .. } => notes,
            _ => &[],
        }
    }
}

/// Something that is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub reason: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl Fault {
    /// A fault.
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault {
            reason: reason.into(),
            hint: hint.into(),
        }
    }
}
