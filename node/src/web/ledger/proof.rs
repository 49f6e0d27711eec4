//! The proof of an account's payments in a block, as a file that `gridbay ledger check` reads.

use crate::api::ApiError;
use crate::api::ErrorCode;
use crate::backend::Node;
use crate::backend::failure::internal;
use crate::web::failure::Failure;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};

/// The handler: `/ledger/proof/1234.json`.
pub(in crate::web) async fn download(
    State(node): State<Node>,
    Path(file): Path<String>,
) -> Result<Response, Failure> {
    let height = height(&file).ok_or_else(|| {
        let why = "there is no such proof";
        ApiError::new(
            ErrorCode::NotFound,
            why,
            "heights on the ledger lead to theirs",
        )
    })?;
    let proof = node.payment_proof(None, height, 0).await?;
    let text = serde_json::to_string(&proof).map_err(|error| internal("writing a proof", error))?;
    let name = format!("attachment; filename=\"{}\"", name(height));
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, text + "\n").into_response())
}

fn height(file: &str) -> Option<u64> {
    file.strip_suffix(".json")?.parse().ok()
}

/// Address of the proof of a height.
pub(super) fn place(height: u64) -> String {
    format!("/ledger/proof/{height}.json")
}

/// Name of the file.
pub(super) fn name(height: u64) -> String {
    format!("gridbay-proof-{height}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_heights_name_proofs() {
        assert_eq!(height("1234.json"), Some(1_234));
        for wrong in [
            "1234",
            ".json",
            "-1.json",
            "1.json.json",
            "x\".json",
            "99999999999999999999.json",
        ] {
            assert_eq!(height(wrong), None, "{wrong}");
        }
        assert_eq!(place(7), "/ledger/proof/7.json");
    }
}
