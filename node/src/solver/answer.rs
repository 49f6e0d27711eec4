//! Reading a solution file in HiGHS's own format:
//!
//! ```text
//! # Primal solution values
//! Feasible
//! Objective 72
//! # Columns 2
//! x0 0
//! u0 3
//! # Rows 1
//! ```
//!
//! Only the columns matter. Values are rounded: the ledger's check decides, not a float.

use std::collections::BTreeMap;

/// Largest count that a column can mean.
const MOST: f64 = 1e6;

/// Values of the columns that are not zero.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// Numbers of the placements chosen.
    pub(super) choices: Vec<usize>,
    /// Units by number of the part.
    pub(super) parts: BTreeMap<usize, u32>,
}

/// The values; `Some(None)` if the program found no solution, `None` if it wrote something else.
pub(super) fn read(text: &str) -> Option<Option<Values>> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| *line == "# Primal solution values")?;
    match lines.next()? {
        "None" | "Infeasible" => return Some(None),
        "Feasible" => {}
        _ => return None,
    }
    let columns = lines.find_map(|line| line.strip_prefix("# Columns "))?;
    let columns: usize = columns.parse().ok()?;
    let mut values = Values::default();
    for line in lines.take(columns) {
        let (name, value) = line.split_once(' ')?;
        let value: f64 = value.trim().parse().ok()?;
        let count = value.round();
        if !(0.0..=MOST).contains(&count) {
            return None;
        }
        let (kind, number) = name.split_at_checked(1)?;
        let number: usize = number.parse().ok()?;
        match (kind, count as u32) {
            (_, 0) => {}
            ("x", _) => values.choices.push(number),
            ("u", units) => drop(values.parts.insert(number, units)),
            _ => return None,
        }
    }
    values.choices.sort_unstable();
    Some(Some(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_rounded_and_zeros_left_out() {
        let text = "Model status\nTime limit reached\n\n# Primal solution values\nFeasible\nObjective 56\n# Columns 4\n\
            x0 0.9999999\nx1 -1e-12\nu0 2.0000001\nu7 0\n# Rows 1\nr0 2\n";
        let values = read(text).unwrap().unwrap();
        assert_eq!(values.choices, [0]);
        assert_eq!(values.parts, BTreeMap::from([(0, 2)]));
    }

    #[test]
    fn no_solution_is_not_nonsense() {
        assert_eq!(read("# Primal solution values\nNone\n"), Some(None));
        for text in [
            "",
            "# Primal solution values\n",
            "# Primal solution values\nPerhaps\n",
            "# Primal solution values\nFeasible\nObjective 1\n",
            "# Primal solution values\nFeasible\n# Columns many\n",
            "# Primal solution values\nFeasible\n# Columns 1\nx0 NaN\n",
            "# Primal solution values\nFeasible\n# Columns 1\nx0 1e300\n",
            "# Primal solution values\nFeasible\n# Columns 1\nx-1 1\n",
            "# Primal solution values\nFeasible\n# Columns 1\ny0 1\n",
            "# Primal solution values\nFeasible\n# Columns 1\nü 1\n",
            "# Primal solution values\nFeasible\n# Columns 99\nx0 1\n# Rows 1\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
