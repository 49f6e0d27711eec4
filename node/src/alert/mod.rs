//! Alerts that the node itself sends: to a webhook, a command, or a file.
//!
//! The deciding part is pure: facts of the node (`facts`) become conditions (`rules`), the desk
//! tells each once when it begins and once when it is over (`desk`), and alerts wait in line for
//! each way (`outbox`). The rest looks, keeps, and sends.

mod desk;
mod facts;
mod handle;
mod keep;
mod look;
mod message;
mod outbox;
pub(crate) mod routes;
mod rules;
pub(crate) mod types;
mod watch;
mod way;

pub use handle::Alerts;
pub use message::Sender;
