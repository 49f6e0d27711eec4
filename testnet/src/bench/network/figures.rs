//! Figures of the turns, and the bars they are held to.

use super::lossy::Lossy;
use super::tools::Tool;
use super::turn::Turn;
use gridbay_node::ui::Table;
use serde::Serialize;
use std::collections::BTreeMap;

/// Medians of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The tool.
    pub(crate) tool: &'static str,
    /// Turns.
    pub(crate) turns: usize,
    /// Median of the flows.
    pub(crate) mbit: f64,
    /// Slowest and fastest flow.
    pub(crate) range: (f64, f64),
    /// See [`Turn`].
    pub(crate) cpu_per_gb: f64,
    /// See [`Turn`].
    pub(crate) idle_ms: f64,
    /// See [`Turn`].
    pub(crate) loaded_ms: f64,
    /// See [`Turn`].
    pub(crate) small: f64,
}

/// Flows between a rank without a device and one with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Userspace {
    /// From the one without.
    pub(crate) sends: Option<f64>,
    /// To it.
    pub(crate) receives: Option<f64>,
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Ours by theirs: medians of the flows.
    pub(crate) ratios: BTreeMap<&'static str, f64>,
    /// Seconds of CPU for each GB.
    pub(crate) cpu_per_gb: BTreeMap<&'static str, f64>,
    /// Without root.
    pub(crate) rootless_mbit: f64,
    /// Without a device.
    pub(crate) userspace_mbit: Userspace,
    /// On a long and lossy way; none where that could not be measured.
    pub(crate) lossy: Option<Lossy>,
    /// Ours by theirs: small datagrams that arrived.
    pub(crate) small_ratios: BTreeMap<&'static str, f64>,
    /// Round trip beside a flow.
    pub(crate) loaded_ms: f64,
    /// All medians.
    pub(crate) rows: Vec<Row>,
    /// Tools that are not installed.
    pub(crate) missing: Vec<String>,
}

impl Figures {
    pub(super) fn of(
        turns: &[(Tool, Turn)],
        missing: Vec<String>,
        lossy: Option<Lossy>,
    ) -> Figures {
        let tools = Tool::ALL.into_iter();
        let rows: Vec<_> = tools.filter_map(|tool| row(tool, turns)).collect();
        let find = |tool: Tool| rows.iter().find(|row| row.tool == tool.name());
        let (ours, rootless) = (find(Tool::Gridbay), find(Tool::Rootless));
        let ratio = |value: fn(&Row) -> f64| {
            let others = Tool::OTHERS.into_iter().filter_map(find);
            let pairs = others.filter_map(|row| Some((row.tool, value(ours?) / value(row))));
            pairs.collect()
        };
        Figures {
            ratios: ratio(|row| row.mbit),
            small_ratios: ratio(|row| row.small),
            cpu_per_gb: rows.iter().map(|row| (row.tool, row.cpu_per_gb)).collect(),
            rootless_mbit: rootless.map_or(0.0, |row| row.mbit),
            userspace_mbit: Userspace {
                sends: find(Tool::UserOut).map(|row| row.mbit),
                receives: find(Tool::UserIn).map(|row| row.mbit),
            },
            lossy,
            loaded_ms: ours.map_or(0.0, |row| row.loaded_ms),
            rows,
            missing,
        }
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&[
            "TOOL",
            ">TURNS",
            ">MBIT/S",
            ">RANGE",
            ">CPU S/GB",
            ">PING MS",
            ">LOADED MS",
            ">200 B/S",
            ">OURS BY IT",
        ]);
        for row in &self.rows {
            let ratio = self.ratios.get(row.tool);
            table.row([
                row.tool.to_owned(),
                row.turns.to_string(),
                format!("{:.0}", row.mbit),
                format!("{:.0}-{:.0}", row.range.0, row.range.1),
                shown(row.cpu_per_gb, 2),
                shown(row.idle_ms, 2),
                shown(row.loaded_ms, 2),
                shown(row.small, 0),
                ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}")),
            ]);
        }
        let left = self.missing.iter();
        let left = left.map(|tool| format!("not installed, left out: {tool}\n"));
        let lossy = self.lossy.map(|lossy| format!("{lossy}\n"));
        table.render() + &lossy.unwrap_or_default() + &left.collect::<String>()
    }
}

/// A number, if it is one.
fn shown(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    format!("{value:.decimals$}")
}

/// What the figures miss of the bars, for those tools that were measured.
pub(crate) fn bars(figures: &Figures) -> Vec<String> {
    let mut missed = Vec::new();
    let mut least = |what: String, value: Option<&f64>, bar: f64| {
        if let Some(value) = value.filter(|value| **value < bar) {
            missed.push(format!("{what}: {value:.2}, at least {bar}"));
        }
    };
    for (tool, bar) in [("wireguard-go", 4.0), ("nebula", 3.0), ("tinc", 4.0)] {
        least(format!("flow by {tool}'s"), figures.ratios.get(tool), bar);
    }
    let tinc = figures.rows.iter().find(|row| row.tool == "tinc");
    let by_tinc = |mbit: Option<f64>| Some(mbit? / tinc?.mbit);
    let Userspace { sends, receives } = figures.userspace_mbit;
    for (what, mbit) in [("sent", sends), ("received", receives)] {
        let what = format!("flow {what} without a device by tinc's");
        least(what, by_tinc(mbit).as_ref(), 1.0);
    }
    let share = figures.lossy.map(|lossy| lossy.share());
    let what = "flow by the link's, 20 ms and 1 % loss".to_owned();
    least(what, share.as_ref(), 0.8);
    let small = figures.small_ratios.get("wireguard-go");
    least("small datagrams by wireguard-go's".to_owned(), small, 1.5);
    let cpu = |tool| figures.cpu_per_gb.get(tool).copied();
    if let (Some(ours), Some(theirs)) = (cpu(Tool::Gridbay.name()), cpu("wireguard-go")) {
        let by = theirs / ours;
        least("wireguard-go's CPU by ours".to_owned(), Some(&by), 4.0);
    }
    if figures.loaded_ms > 2.0 {
        let loaded = figures.loaded_ms;
        missed.push(format!(
            "round trip beside a flow: {loaded:.2} ms, at most 2"
        ));
    }
    missed
}

fn row(tool: Tool, turns: &[(Tool, Turn)]) -> Option<Row> {
    let own = turns.iter().filter(|(of, _)| *of == tool);
    let own: Vec<Turn> = own.map(|(_, turn)| *turn).collect();
    let values = |value: fn(&Turn) -> f64| {
        let mut values: Vec<f64> = own.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let flows = values(|turn| turn.mbit);
    Some(Row {
        tool: tool.name(),
        turns: own.len(),
        mbit: median(&flows)?,
        range: (*flows.first()?, *flows.last()?),
        cpu_per_gb: median(&values(|turn| turn.cpu_per_gb))?,
        idle_ms: median(&values(|turn| turn.idle_ms))?,
        loaded_ms: median(&values(|turn| turn.loaded_ms))?,
        small: median(&values(|turn| turn.small))?,
    })
}

/// Of values in any order, 0 if there are none.
pub(super) fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    median(&values).unwrap_or(0.0)
}

/// Of ascending values.
fn median(ascending: &[f64]) -> Option<f64> {
    let middle = ascending.len() / 2;
    let upper = *ascending.get(middle)?;
    if ascending.len() % 2 == 1 {
        return Some(upper);
    }
    Some((ascending[middle - 1] + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(mbit: f64) -> Turn {
        Turn {
            mbit,
            cpu_per_gb: 1000.0 / mbit,
            idle_ms: 0.1,
            loaded_ms: 1.0,
            small: mbit,
        }
    }

    #[test]
    fn ratios_are_of_medians() {
        let turns = [
            (Tool::Gridbay, turn(4000.0)),
            (Tool::Gridbay, turn(100.0)),
            (Tool::Gridbay, turn(5000.0)),
            (Tool::WireguardGo, turn(500.0)),
            (Tool::WireguardGo, turn(1500.0)),
        ];
        let figures = Figures::of(&turns, vec!["tinc".to_owned()], None);
        assert_eq!(figures.ratios.get("wireguard-go"), Some(&4.0));
        assert_eq!(bars(&figures), Vec::<String>::new());
        assert!(figures.table().contains("left out: tinc"));
        let slow = [(Tool::Gridbay, turn(1000.0)), (Tool::Nebula, turn(500.0))];
        let missed = bars(&Figures::of(&slow, Vec::new(), None));
        assert_eq!(missed, ["flow by nebula's: 2.00, at least 3"]);
        let lost = Lossy {
            link_mbit: 170.0,
            ours_mbit: 85.0,
        };
        let user = [(Tool::UserOut, turn(300.0)), (Tool::Tinc, turn(600.0))];
        let missed = bars(&Figures::of(&user, Vec::new(), Some(lost)));
        assert_eq!(missed.len(), 2, "{missed:?}");
    }
}
