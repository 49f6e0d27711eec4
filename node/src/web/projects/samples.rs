//! A project and its invoice, for tests.

use crate::api::types::{ProjectRecord, Statement};
use crate::web::samples::HOSTILE;
use serde_json::json;

/// A project that has spent 2 credits and reserved 3, with one manager.
pub(in crate::web) fn project(name: &str) -> ProjectRecord {
    serde_json::from_value(json!({
        "name": name, "made_ms": 1, "limits": {"budget": "20", "jobs": 4, "nodes": null},
        "since_ms": 1_793_491_200_000_u64, "spent": "2", "reserved": "3", "jobs": 1, "nodes": 2,
        "members": [{"user": HOSTILE, "role": "manager"}],
    }))
    .unwrap()
}

/// A statement of so many orders, each of which paid 3 and got 1 back.
pub(in crate::web) fn statement(orders: usize) -> Statement {
    let id = "11".repeat(32);
    let bought = json!({
        "order": id, "job": "0123456789abcdef", "name": HOSTILE, "paid": "3", "returned": "1",
        "cost": "2",
    });
    let money =
        |total: String| json!({"balance": total, "held": "0", "retained": "0", "total": total});
    let cost = (2 * orders).to_string();
    let change = if orders == 0 {
        cost.clone()
    } else {
        format!("-{cost}")
    };
    serde_json::from_value(json!({
        "network": HOSTILE, "account": id, "name": HOSTILE, "project": "bio",
        "from_ms": 1_793_491_200_000_u64, "to_ms": 1_793_491_300_000_u64, "height": 9,
        "opening": money("0".to_owned()), "closing": money(change.clone()),
        "bought": vec![bought; orders], "sold": [], "other": [],
        "days": [{
            "day": "2026-11-01", "cost": cost, "income": "0", "other": "0",
            "change": change,
        }],
        "movements": [],
    }))
    .unwrap()
}
