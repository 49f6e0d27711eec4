//! Traces of orders for a collector of OpenTelemetry, off unless the owner names one.
//!
//! An order lives for hours, on several nodes and across their restarts, and moves by the ledger's
//! blocks: no task of the program accompanies it. So a span is made where a stage has ended, from
//! what ledger and agents keep anyhow, and its ids follow from those of the order (`ids`): whoever
//! knows the order adds to the same trace.
//!
//! A look at the node (`look`) finds facts (`facts`); what is new in them becomes spans (`story`,
//! pure); spans wait in a queue of bounded length (`outbox`) for the collector (`send`).

mod facts;
mod handle;
mod hosted;
mod ids;
mod keep;
mod look;
mod outbox;
mod runs;
mod send;
mod span;
mod story;
mod told;

pub use handle::Traces;
pub(crate) use runs::RunLog;
