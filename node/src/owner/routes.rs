//! Nodes of the owner's.

use super::types::{Appliance, Instruction, Outcome, Removed};
use crate::api::document::Routes;
use crate::api::extract::{Body, Lines, Reply};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("appliances")
        .get(
            "/appliances",
            "Lists the nodes that the user of this node owns",
            list,
        )
        .post("/appliances/add", "Names an owned node", add)
        .post(
            "/appliances/remove",
            "Forgets the name of an owned node",
            remove,
        )
        .post(
            "/appliances/order",
            "Gives an order to an owned node",
            order,
        )
}

async fn list(State(node): State<Node>) -> Lines<Appliance> {
    Lines(node.appliances())
}

async fn add(State(node): State<Node>, Body(appliance): Body<Appliance>) -> Reply<Appliance> {
    node.add_appliance(appliance).map(Json)
}

async fn remove(State(node): State<Node>, Body(removed): Body<Removed>) -> Reply<Removed> {
    node.remove_appliance(&removed.name)?;
    Ok(Json(removed))
}

async fn order(State(node): State<Node>, Body(order): Body<Instruction>) -> Reply<Outcome> {
    node.order_owned(order).await.map(Json)
}
