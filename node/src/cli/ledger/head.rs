//! `ledger head`: the last block of the node.

use crate::api::client::Client;
use crate::api::types::BlockInfo;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::text;

pub(super) async fn show(at: &Context, client: &Client) -> Result<(), CliError> {
    let head: BlockInfo = client.get("/ledger/head").await.during("no head")?;
    at.tell(&head, |head| {
        text::fields(&[
            ("height", head.height.to_string()),
            ("block", head.block.to_hex()),
            ("time", text::moment(head.time_ms)),
            ("proposer", head.proposer.to_hex()),
            ("entries", head.entries.to_string()),
            ("state root", head.state_root.to_hex()),
            ("log root", head.log_root.to_hex()),
        ])
    })
}
