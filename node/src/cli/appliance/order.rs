//! An order to a node, as all commands give it.

use crate::api::types::{Instruction, Order, Outcome};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;

/// A node.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct Who {
    /// Its name, as appliance add gave it, or its node key
    #[arg(value_name = "NAME")]
    who: String,
}

impl Who {
    pub(super) fn name(&self) -> &str {
        &self.who
    }
}

/// Gives a node an order; `what` did not happen if it is not carried out.
pub(super) fn order(
    at: &Context,
    Who { who }: Who,
    order: Order,
    what: &str,
) -> Result<Outcome, CliError> {
    let instruction = Instruction { who, order };
    at.wait(async {
        let answer = at
            .client()?
            .post("/appliances/order", &instruction, None)
            .await;
        answer.during(what)
    })
}

/// An answer to another question than was asked.
pub(super) fn odd(what: &str) -> CliError {
    let why = "the node answers another question";
    CliError::new(
        Exit::UNREACHABLE,
        what,
        why,
        "bring both nodes to one version",
    )
}
