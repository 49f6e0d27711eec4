//! `market find`: which nodes fit a query, or why none does.

use super::super::context::Context;
use super::super::error::{CliError, During as _};
use super::super::exit::Exit;
use crate::api::types::{FindGroup, FindReport, FindRequest, FindStep, FoundNode};
use crate::ui::{self, Table};
use clap::Args;

/// Find sellers' nodes by a query, as in 'cpu >= 4 && site in ["*.edu"] && price < 5 && rtt(me) <
/// 50ms'
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct FindArgs {
    /// Conditions, then choose …, sort by …, limit … if need be
    #[arg(default_value = "")]
    query: String,
    /// Nodes to show at the most; fewer known ones are sought in the network
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Show what each condition did, also if nodes were found
    #[arg(long)]
    explain: bool,
}

impl FindArgs {
    pub(in crate::cli) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let request = FindRequest {
            query: self.query,
            limit: self.nodes,
            explain: self.explain,
        };
        let report = at.wait(async {
            let client = at.client()?;
            let report = client.post("/find", &request, None).await;
            let report: FindReport = report.during("nothing was looked for")?;
            at.show(&report, text)?;
            Ok(report)
        })?;
        Ok(match report.nodes.is_empty() {
            true => Exit::NO_MATCH,
            false => Exit::OK,
        })
    }
}

fn text(report: &FindReport) -> String {
    let mut text = String::new();
    if !report.nodes.is_empty() {
        text.push_str(&nodes(&report.nodes));
    }
    if report.nodes.is_empty() {
        text.push_str(&steps(report.known, &report.steps));
    } else if !report.steps.is_empty() {
        let steps = steps(report.known, &report.steps);
        text.push_str(&ui::prose(format!("\n{steps}")));
    }
    if let Some(group) = &report.group
        && (!group.found || !report.steps.is_empty())
    {
        text.push_str(&ui::prose(format!("\n{}\n", of_group(group))));
    }
    if report.asked > 0 {
        let (asked, learnt) = (report.asked, report.learnt);
        text.push_str(&ui::prose(format!(
            "\n{asked} nodes were asked that were not known; {learnt} answered with something new\n"
        )));
    }
    text
}

fn nodes(nodes: &[FoundNode]) -> String {
    let mut table = Table::new(&[
        "NODE", "SITE", "CLASS", ">FREE", ">PRICE/H", ">BUY/H", ">RTT",
    ]);
    for node in nodes {
        for (index, offer) in node.offers.iter().enumerate() {
            let once = |text: String| if index == 0 { text } else { String::new() };
            let site = node.attributes.get("site").cloned();
            table.row([
                once(node.node.to_hex()[..16].to_owned()),
                once(site.unwrap_or("-".to_owned())),
                offer.class.clone(),
                offer.free.to_string(),
                offer.price.to_string(),
                offer.buy.map_or("-".to_owned(), |price| price.to_string()),
                once(rtt(node)),
            ]);
        }
    }
    table.render()
}

/// In milliseconds; `<=` where it is a bound by landmarks.
fn rtt(node: &FoundNode) -> String {
    match node.rtt_us {
        None => "-".to_owned(),
        Some(0) => "here".to_owned(),
        Some(micros) => {
            let sign = if node.rtt_measured { "" } else { "<=" };
            format!("{sign}{}", ms(micros))
        }
    }
}

fn ms(micros: u64) -> String {
    format!("{}.{}ms", micros / 1_000, micros % 1_000 / 100)
}

fn steps(known: u32, steps: &[FindStep]) -> String {
    let mut table = Table::new(&[
        "CONDITION",
        ">LEFT",
        ">IT ALONE REMOVED",
        ">UNKNOWN",
        "NEAREST",
    ]);
    table.row(["nodes known".to_owned(), known.to_string()]);
    for step in steps {
        table.row([
            step.condition.clone(),
            step.left.to_string(),
            step.alone.to_string(),
            step.unknown.to_string(),
            step.nearest.clone().unwrap_or_default(),
        ]);
    }
    table.render()
}

fn of_group(group: &FindGroup) -> String {
    let mut parts = vec![format!("{} looked at", group.candidates)];
    if group.siteless > 0 {
        parts.push(format!("{} passed over that name no site", group.siteless));
    }
    if group.sites > 1 {
        parts.push(format!("of {} sites", group.sites));
    }
    if group.pairs > 0 {
        let (near, pairs, unknown) = (group.near_pairs, group.pairs, group.unknown_pairs);
        parts.push(format!(
            "{near} of {pairs} pairs near enough, {unknown} unknown"
        ));
    }
    if group.gave_up {
        parts.push("given up before everything was tried: ask for less".to_owned());
    }
    parts.extend(
        group
            .longest_us
            .map(|micros| format!("at most {} between two", ms(micros))),
    );
    let result = if group.found { "found" } else { "not found" };
    format!("group of {}: {result}; {}", group.wanted, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::keys::SecretKey;

    #[test]
    fn nothing_found_is_a_table_of_conditions() {
        let step = |condition: &str, left, alone, nearest: Option<&str>| FindStep {
            condition: condition.to_owned(),
            left,
            alone,
            unknown: 0,
            nearest: nearest.map(str::to_owned),
        };
        let report = FindReport {
            query: String::new(),
            known: 5,
            fitting: 0,
            nodes: vec![],
            asked: 3,
            learnt: 0,
            steps: vec![
                step("mem >= 8GiB", 4, 0, None),
                step("price < 3", 0, 3, Some("4")),
            ],
            group: None,
        };
        let shown = text(&report);
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "CONDITION    LEFT  IT ALONE REMOVED  UNKNOWN  NEAREST",
                "nodes known     5",
                "mem >= 8GiB     4                 0        0",
                "price < 3       0                 3        0  4",
                "",
                "3 nodes were asked that were not known; 0 answered with something new",
            ]
        );
    }

    #[test]
    fn bounds_and_measurements_differ() {
        let node = |rtt_us, rtt_measured| FoundNode {
            node: SecretKey::from_seed(&[1; 32]).public(),
            seller: AccountId([1; 32]),
            attributes: Default::default(),
            rtt_us,
            rtt_measured,
            offers: vec![],
        };
        assert_eq!(rtt(&node(Some(1_250), true)), "1.2ms");
        assert_eq!(rtt(&node(Some(7_000), false)), "<=7.0ms");
        assert_eq!(rtt(&node(Some(0), false)), "here");
        assert_eq!(rtt(&node(None, false)), "-");
    }
}
