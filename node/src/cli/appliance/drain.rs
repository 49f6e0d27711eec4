//! `appliance drain` and `resume`.

use super::order::Who;
use super::status::shown;
use crate::api::types::Order;
use crate::cli::context::Context;
use crate::cli::error::CliError;

pub(super) fn drain(at: &Context, who: Who) -> Result<(), CliError> {
    shown(at, who, Order::Drain, "the node does not drain")
}

pub(super) fn resume(at: &Context, who: Who) -> Result<(), CliError> {
    shown(at, who, Order::Resume, "the node does not resume")
}
