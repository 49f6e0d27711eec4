//! `appliance key`.

use crate::api::types::ClusterKey;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};

/// The key of the node's account, by which it commands clusters as well.
pub(super) fn key(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let own: ClusterKey = at.client()?.get("/clusters/key").await.during("no key")?;
        at.show(&own, |own| format!("{}\n", own.key.to_hex()))
    })
}
