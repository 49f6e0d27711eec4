//! `top`: a screen that follows this node.

use super::context::{Context, Format};
use super::error::{CliError, chain};
use super::exit::Exit;
use crate::top::node::Node;
use crate::top::{NoScreen, show};
use clap::Args;

/// Follow this node and its market on a screen
///
/// Nodes, prices, the book, leases, jobs, money and faults, each a view with rows to choose, filter
/// and sort; ? tells the keys. With NO_COLOR set it has no colours.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct TopArgs {}

impl TopArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        if at.format != Format::Table {
            let why = "it is a screen for people, and has no other form";
            let next = "for programs there is gridbay status -o json";
            return Err(CliError::new(Exit::USAGE, "nothing is shown", why, next));
        }
        let client = at.client()?;
        at.wait(async { show(Node::new(client)).await.map_err(failed) })
    }
}

fn failed(error: NoScreen) -> CliError {
    let (exit, next) = match error {
        NoScreen::NoTerminal => (Exit::USAGE, "for other places: gridbay status --watch"),
        NoScreen::Terminal(_) => (
            Exit::FAILED,
            "see what TERM says, or use gridbay status --watch",
        ),
    };
    CliError::new(exit, "nothing is shown", chain(&error), next)
}
