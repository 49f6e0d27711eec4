//! The node itself.

use super::types::NodeStatus;
use crate::api::document::Routes;
use crate::api::document::parts::Heard;
use crate::api::extract::Reply;
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("node")
        .get("/node", "Shows this node on one screen", status)
        .post("/node/drain", "Takes no new leases from now on", drain)
        .post("/node/resume", "Takes leases again", resume)
        .post("/node/stop", "Ends the node", stop)
}

async fn status(State(node): State<Node>) -> Reply<NodeStatus> {
    node.node().await.map(Json)
}

async fn drain(State(node): State<Node>) -> Reply<NodeStatus> {
    node.drain().await.map(Json)
}

async fn resume(State(node): State<Node>) -> Reply<NodeStatus> {
    node.resume().await.map(Json)
}

async fn stop(State(node): State<Node>) -> Heard {
    node.stop();
    Heard
}
