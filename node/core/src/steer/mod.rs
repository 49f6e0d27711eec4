//! How an owner steers a node from another one: questions, answers, and signed orders.
//!
//! [`signed`] says who is obeyed and why no order is of use twice; [`wire`] what goes over the
//! overlay. What an order says is the node's own matter.

pub mod signed;
pub mod wire;

/// Bytes of a question of another node at the most.
pub const QUESTION_BYTES: usize = 64 * 1024;
/// Bytes of the answer that an owner's node takes.
pub const ANSWER_BYTES: usize = 512 * 1024;

const _: () = assert!(QUESTION_BYTES <= crate::agent::REQUEST_BYTES);
const _: () = assert!(ANSWER_BYTES <= crate::agent::REPLY_BYTES);
