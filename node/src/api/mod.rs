//! The node's API: REST on a unix socket, and on loopback TCP if asked for.
//!
//! 1. [`server`] listens. The socket has mode 0600 and serves its owner only; TCP wants the token
//!    from a 0600 file and a loopback `Host`, so that no web page can speak to it.
//! 2. It serves the routes it is given (`node/src/routes.rs`); each noun of the node has its own,
//!    with the handlers that parse, bound and answer.
//! 3. [`types`] gathers the JSON shapes of all nouns, [`ApiError`] is the one shape of a failure.
//! 4. A `POST` may carry `Idempotency-Key`; repeating it repeats the answer, not the deed.
//! 5. Connections, requests at work and the time for each of their parts are bounded (`serve`,
//!    `slots`, `intake`), and what one token takes of them (`shares`) and how often (`rates`); the
//!    numbers stand in `limits`.
//! 6. The web pages (`node/src/web`) are served beside it, on TCP alone (`split`).
//! 7. [`client`] is the other end, used by the command line and the laboratory.

pub(crate) mod auth;
mod bearer;
pub mod client;
pub(crate) mod document;
mod error;
pub(crate) mod extract;
mod held;
pub(crate) mod host;
pub(crate) mod idempotency;
pub(crate) mod intake;
pub(crate) mod limits;
pub(crate) mod page;
pub(crate) mod peer;
mod rates;
pub mod scope;
mod serve;
pub mod server;
pub(crate) mod shares;
mod slots;
mod split;
pub mod types;
mod unsent;
mod words;

pub(crate) use auth::allowed;
pub(crate) use bearer::Bearer;
pub(crate) use error::Answer;
pub use error::{ApiError, ErrorCode};
pub use server::{BindError, Server};
