//! Alerts as JSON.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named! {
    /// The subject matter of an alert.
    pub enum AlertKind {
        /// The account has less than the setting `alerts.balance`.
        LowBalance = "low_balance",
        /// A job lost nodes that it had leased, to others or by a failing seller.
        Preempted = "preempted",
        /// A lease ends for good within the setting `alerts.lease-end`.
        LeaseEnding = "lease_ending",
        /// The node has no peer, or no connection to a validator.
        Unreachable = "unreachable",
        /// Blocks do not come, or come too slowly or too fast.
        BlockInterval = "block_interval",
        /// The node has trouble, as `gridbay node status` tells.
        Trouble = "trouble",
        /// Nothing: somebody tries the ways.
        Test = "test",
    }
}

named! {
    /// Whether what an alert tells of begins or is over.
    pub enum AlertState {
        /// It begins.
        Raised = "raised",
        /// It is over.
        Cleared = "cleared",
    }
}

named! {
    /// A way by which alerts leave the node.
    pub enum AlertWay {
        /// An HTTP request with the alert as its body.
        Webhook = "webhook",
        /// A program with the alert on its standard input.
        Command = "command",
        /// A file of mail.
        File = "file",
    }
}

/// An alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Alert {
    /// Counts the alerts of this node from 1 on; the same if one is sent again.
    pub number: u64,
    /// Its subject matter.
    pub kind: AlertKind,
    /// The account, job, lease, node or trouble that it is about.
    pub subject: String,
    /// Whether it begins or is over.
    pub state: AlertState,
    /// One sentence.
    pub what: String,
    /// Advice, in one line.
    pub hint: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// When this was found, likewise.
    pub at_ms: u64,
}

/// `GET /alerts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AlertList {
    /// The alerts that are not over yet, oldest first.
    pub open: Vec<Alert>,
    /// The configured ways.
    pub ways: Vec<AlertLine>,
}

/// A way, and what waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AlertLine {
    /// The way.
    pub way: AlertWay,
    /// Alerts that wait.
    pub waiting: u32,
    /// Alerts that arrived.
    pub told: u64,
    /// Alerts that were given up.
    pub lost: u64,
    /// Why the last attempt failed, if it did.
    pub failure: Option<String>,
}

/// `POST /alerts/test`: how one way fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AlertTried {
    /// The way.
    pub way: AlertWay,
    /// Why the alert did not arrive; `null` if it did.
    pub failure: Option<String>,
}
