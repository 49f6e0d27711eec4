//! `appliance status`: one screen about a node from afar.

use super::order::{Who, odd, order};
use super::update::of;
use crate::api::types::{
    AgentStatus, Desired, Handover, HandoverState, Order, Outcome, RemoteStatus,
};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::text::{fields, moment};

pub(super) fn status(at: &Context, who: Who) -> Result<(), CliError> {
    shown(at, who, Order::Status, "no status")
}

/// Gives an order that is answered with a status, and shows that.
pub(super) fn shown(at: &Context, who: Who, what: Order, not: &str) -> Result<(), CliError> {
    match order(at, who, what, not)? {
        Outcome::Status(status) => at.tell(&*status, screen),
        _ => Err(odd(not)),
    }
}

fn screen(status: &RemoteStatus) -> String {
    let node = &status.node;
    let mut lines = Vec::new();
    if let Some(agent) = &status.agent {
        lines.extend(of_agent(agent));
    }
    lines.extend([
        ("node", format!("{} ({})", node.name, node.state.name())),
        ("version", node.version.clone()),
        ("key", node.node.to_hex()),
        ("height", node.height.to_string()),
        ("peers", node.peers.to_string()),
        (
            "units",
            format!(
                "{} offered, {} leased",
                node.units_offered, node.units_leased
            ),
        ),
        ("jobs", format!("{} hosted", node.jobs_hosted)),
        (
            "balance",
            format!("{} free, {} held", node.balance, node.held),
        ),
    ]);
    if let Some(why) = &node.joining {
        lines.push(("not joined", why.clone()));
    }
    for trouble in &node.troubles {
        let since = moment(trouble.since_ms);
        lines.push(("trouble", format!("{} (since {since})", trouble.what)));
        lines.push(("try", trouble.hint.clone()));
    }
    lines.extend(
        status
            .update
            .as_ref()
            .map(|update| ("handed over", handed(update))),
    );
    let told = told(&status.orders);
    if !told.is_empty() {
        lines.push(("told", told));
    }
    if let Some(agent) = &status.agent
        && agent.orders < status.orders.count
    {
        lines.push(("pending", "the agent has not taken all of that yet".into()));
    }
    fields(&lines)
}

fn of_agent(agent: &AgentStatus) -> Vec<(&'static str, String)> {
    let mut lines = vec![("state", format!("{}, {}", agent.state, agent.reason))];
    let hint = |hint: &str| {
        let told = (!hint.is_empty()).then(|| ("try", hint.to_owned()));
        told.into_iter().collect::<Vec<_>>()
    };
    lines.extend(hint(&agent.hint));
    for note in &agent.notes {
        lines.push(("note", note.reason.clone()));
        lines.extend(hint(&note.hint));
    }
    lines.push(("image", agent.version.clone()));
    if !agent.trial.is_empty() {
        lines.push(("on trial", agent.trial.clone()));
    }
    lines
}

/// How far an update has come.
fn handed(update: &Handover) -> String {
    match update.state {
        HandoverState::Coming => format!("an update, {}", of(update)),
        HandoverState::Handed => "an update, whole: the agent takes or refuses it".to_owned(),
        HandoverState::Over => "an update, which the agent has taken or refused".to_owned(),
        HandoverState::Failed => format!("an update, in vain: {}", update.why),
    }
}

/// What the owner told, as in `price 3.5, drain`.
pub(super) fn told(desired: &Desired) -> String {
    let mib = |size: Option<u64>| size.map(|mib| format!("{mib}MiB"));
    let switch = desired.sell.map(|on| if on { "on" } else { "off" });
    let all = [
        ("price", desired.price.clone()),
        ("buy", desired.buy.clone()),
        ("units", desired.units.map(|n| n.to_string())),
        ("reserve-vcpu", desired.reserve_vcpu.map(|n| n.to_string())),
        ("reserve-memory", mib(desired.reserve_memory_mib)),
        ("reserve-disk", mib(desired.reserve_disk_mib)),
        ("hours", desired.hours.clone()),
        ("sell", switch.map(str::to_owned)),
    ];
    let one = |(name, value): (&str, Option<String>)| Some(format!("{name} {}", value?));
    let mut told: Vec<String> = all.into_iter().filter_map(one).collect();
    told.extend(desired.drain.then(|| "drain".to_owned()));
    told.extend(desired.reset.is_some().then(|| "reset".to_owned()));
    told.join(", ")
}
