//! Joining: an invitation of a founding member, and a data folder with keys of the newcomer's own.

use super::{Network, Node, cli, settings};
use gridbay_node::config::Home;
use gridbay_node::keys::private_folder;
use std::fs;

/// Has `inviter` invite somebody who is handed the plan's purse, and joins `name` with it.
pub(super) async fn join(network: &Network, inviter: &Node, name: &str) -> anyhow::Result<()> {
    let (program, plan) = (network.program(), network.plan());
    let home = Home::new(network.folder().data(name));
    private_folder(home.path())?;
    let seat = plan.seat(name, 0);
    settings::write(&home, name, &seat, &plan.log, plan.more(name), &[])?;
    // A secret: it goes through a file that only its owner can read.
    let token = network.folder().data(&format!("{name}.invitation"));
    let shown = token.display().to_string();
    let purse = plan.purse.to_string();
    let words = [
        "invite",
        "--endowment",
        &purse,
        "--valid",
        "10m",
        "--out",
        &shown,
    ];
    cli::run(program, inviter.home.path(), &words).await?;
    cli::run(program, home.path(), &["join", "--file", &shown]).await?;
    fs::remove_file(token)?;
    Ok(())
}
