//! A decision as a mixed integer programme, and the meaning of its solutions.
//!
//! **Cells.** Units that suit the same groups and are taken in the same slots are alike: together
//! they are a cell, and only how many of its units are used in a slot matters. The single units are
//! dealt afterwards, in order of the first slots, each reservation the lowest free ones: for runs
//! of slots in a cell that always works.
//!
//! **Columns.** `x` (0 or 1): the reservation starts in this slot, on this channel. `u` (whole):
//! units of a cell for a group of a reservation that starts in this slot; only where several cells
//! can serve the group.
//!
//! **Rows.**
//! 1. A reservation is placed at most once.
//! 2. The units of a group's cells are as many as it wants if it is placed, else none.
//! 3. In no slot more units of a cell are used than it has.
//! 4. In no slot a channel is used twice.
//!
//! The sum of the values placed is made as large as can be, as parts of the largest value: floats
//! lose nothing that matters.

use super::answer::Values;
use gridbay_protocol::mechanism::reservation::{Bid, Input, Placement};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

pub(super) use gridbay_protocol::record::reservation::{Key, Node};

/// The input of the mechanism.
pub(super) type Decision = Input<Key, Node>;

/// Coefficients that a model may have: the program gets some megabytes.
const TERMS: usize = 400_000;

/// Units that are alike.
#[derive(Debug)]
struct Cell {
    nodes: Vec<Node>,
    busy: BTreeSet<u32>,
}

/// Where units of a group come from.
#[derive(Clone, Copy, Debug)]
enum Amount {
    /// All from one cell.
    All(u32),
    /// As many as this column says.
    Part(usize),
}

/// A reservation at a start: for each group the cells that serve it.
#[derive(Debug)]
struct Place {
    bid: usize,
    start: u32,
    groups: Vec<Vec<(usize, Amount)>>,
}

#[derive(Clone, Copy, Debug)]
enum Column {
    Choice(usize),
    Part(usize),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Model {
    cells: Vec<Cell>,
    places: Vec<Place>,
    /// Columns `x`: a place and a channel.
    choices: Vec<(usize, Option<u32>)>,
    /// Number of columns `u`.
    parts: usize,
    rows: String,
    row_count: usize,
    terms: usize,
    objective: String,
}

/// The bounds of a row.
enum Bound {
    AtMost(usize),
    Nothing,
}

/// The common traits of a cell's units: groups that they suit, by bid, and slots in which they are
/// taken.
type Likeness = (Vec<(usize, usize)>, BTreeSet<u32>);

/// Uses of a cell or a channel in a slot.
type Uses = BTreeMap<(u32, u32), Vec<(i64, Column)>>;

impl Model {
    /// The programme of a decision; `None` if it is too large, or nothing can be placed.
    pub(super) fn new(input: &Decision) -> Option<Model> {
        let (cells, serving) = cells(input);
        let mut model = Model {
            cells,
            places: Vec::new(),
            choices: Vec::new(),
            parts: 0,
            rows: String::new(),
            row_count: 0,
            terms: 0,
            objective: String::new(),
        };
        let busy: BTreeSet<(u32, u32)> = input.busy_channels.iter().copied().collect();
        let (mut units, mut channels) = (Uses::new(), Uses::new());
        for (number, bid) in input.bids.iter().enumerate() {
            let first = model.choices.len();
            for start in starts(bid, input) {
                let serving = &serving[number];
                model.place(
                    bid,
                    number,
                    start,
                    serving,
                    &busy,
                    (&mut units, &mut channels),
                );
                if model.terms > TERMS {
                    return None;
                }
            }
            let all = first..model.choices.len();
            let all: Vec<_> = all.map(|choice| (1, Column::Choice(choice))).collect();
            model.row(&all, Bound::AtMost(1));
        }
        let mut last: Option<(u32, Vec<(i64, Column)>)> = None;
        for ((cell, _), uses) in units {
            let room = model.cells[cell as usize].nodes.len();
            // Slots in which the same start and end say the same.
            let same = |(of, before): &(u32, Vec<_>)| *of == cell && same_uses(before, &uses);
            if !last.as_ref().is_some_and(same) {
                model.row(&uses, Bound::AtMost(room));
                last = Some((cell, uses));
            }
        }
        for uses in channels.into_values() {
            model.row(&uses, Bound::AtMost(1));
        }
        model.value(input);
        (model.terms <= TERMS && !model.choices.is_empty()).then_some(model)
    }

    /// Columns and row 2 of a reservation at a start, if it can be served there at all.
    fn place(
        &mut self,
        bid: &Bid<Key, Node>,
        number: usize,
        start: u32,
        serving: &[Vec<usize>],
        busy: &BTreeSet<(u32, u32)>,
        (units, channels): (&mut Uses, &mut Uses),
    ) {
        let span = start..start + bid.slots;
        let free = |cell: &usize| self.cells[*cell].busy.range(span.clone()).next().is_none();
        let serving = serving
            .iter()
            .map(|cells| cells.iter().copied().filter(free));
        let serving: Vec<Vec<usize>> = serving.map(Iterator::collect).collect();
        let there = |cells: &Vec<usize>| {
            cells
                .iter()
                .map(|c| self.cells[*c].nodes.len())
                .sum::<usize>()
        };
        let wanted = bid.classes.iter().map(|class| class.quantity as usize);
        if !serving
            .iter()
            .map(there)
            .zip(wanted)
            .all(|(there, wanted)| there >= wanted)
        {
            return;
        }
        let suiting: Vec<Option<u32>> = match bid.channels {
            None => vec![None],
            Some(range) => (range.low..=range.high)
                .filter(|channel| {
                    busy.range((*channel, span.start)..(*channel, span.end))
                        .next()
                        .is_none()
                })
                .map(Some)
                .collect(),
        };
        let first = self.choices.len();
        self.choices
            .extend(suiting.iter().map(|channel| (self.places.len(), *channel)));
        let chosen = first..self.choices.len();
        for (choice, channel) in chosen.clone().zip(suiting) {
            for slot in channel.iter().flat_map(|_| span.clone()) {
                let uses = channels
                    .entry((channel.unwrap_or_default(), slot))
                    .or_default();
                uses.push((1, Column::Choice(choice)));
                self.terms += 1;
            }
        }
        let groups = bid.classes.iter().zip(serving);
        let groups =
            groups.map(|(class, cells)| self.serve(class.quantity, &cells, &chosen, &span, units));
        let groups = groups.collect();
        self.places.push(Place {
            bid: number,
            start,
            groups,
        });
    }

    /// The units of one group at one start.
    fn serve(
        &mut self,
        quantity: u32,
        cells: &[usize],
        chosen: &Range<usize>,
        span: &Range<u32>,
        units: &mut Uses,
    ) -> Vec<(usize, Amount)> {
        let mut note = |cell: usize, of: i64, column: Column| {
            for slot in span.clone() {
                units
                    .entry((cell as u32, slot))
                    .or_default()
                    .push((of, column));
            }
            self.terms += span.len();
        };
        if let [cell] = cells {
            for choice in chosen.clone() {
                note(*cell, i64::from(quantity), Column::Choice(choice));
            }
            return vec![(*cell, Amount::All(quantity))];
        }
        let mut parts = Vec::with_capacity(cells.len());
        for cell in cells {
            note(*cell, 1, Column::Part(self.parts));
            parts.push((*cell, Amount::Part(self.parts)));
            self.parts += 1;
        }
        let first = self.parts - parts.len();
        let from = (first..self.parts).map(|part| (1, Column::Part(part)));
        let wanted = chosen
            .clone()
            .map(|choice| (-i64::from(quantity), Column::Choice(choice)));
        let sum: Vec<_> = from.chain(wanted).collect();
        self.row(&sum, Bound::Nothing);
        parts
    }

    fn row(&mut self, terms: &[(i64, Column)], bound: Bound) {
        if terms.is_empty() {
            return;
        }
        self.terms += terms.len();
        let _ = write!(self.rows, " r{}:", self.row_count);
        self.row_count += 1;
        for (of, column) in terms {
            let _ = write!(self.rows, " {of:+} {}", name(*column));
            // Some readers of the format take no long lines.
            self.rows.push('\n');
        }
        let _ = match bound {
            Bound::AtMost(most) => writeln!(self.rows, " <= {most}"),
            Bound::Nothing => writeln!(self.rows, " = 0"),
        };
    }

    fn value(&mut self, input: &Decision) {
        let most = input
            .bids
            .iter()
            .map(|bid| bid.value)
            .max()
            .unwrap_or(0)
            .max(1);
        for (choice, (place, _)) in self.choices.iter().enumerate() {
            let value = input.bids[self.places[*place].bid].value;
            let part = value as f64 / most as f64 * 1_000.0;
            let _ = writeln!(self.objective, " +{part:.9} x{choice}");
        }
    }

    /// In CPLEX's LP format.
    pub(super) fn text(&self) -> String {
        let (objective, rows) = (&self.objective, &self.rows);
        let mut text = format!("Maximize\n obj:\n{objective}Subject To\n{rows}");
        if self.parts > 0 {
            text.push_str("General\n");
            names(&mut text, 'u', self.parts);
        }
        text.push_str("Binary\n");
        names(&mut text, 'x', self.choices.len());
        text.push_str("End\n");
        text
    }

    /// The allocation of a solution, with units dealt; `None` if it is no solution of this model.
    pub(super) fn placements(
        &self,
        input: &Decision,
        values: &Values,
    ) -> Option<Vec<Placement<Key, Node>>> {
        let mut placements = Vec::new();
        let mut wants: BTreeMap<usize, Vec<(u32, usize, usize, u32)>> = BTreeMap::new();
        for choice in &values.choices {
            let (place, channel) = self.choices.get(*choice)?;
            let place = &self.places[*place];
            for (group, from) in place.groups.iter().enumerate() {
                for (cell, amount) in from {
                    let units = match amount {
                        Amount::All(units) => *units,
                        Amount::Part(part) => values.parts.get(part).copied().unwrap_or(0),
                    };
                    let want = (place.start, placements.len(), group, units);
                    wants.entry(*cell).or_default().push(want);
                }
            }
            let bid = &input.bids[place.bid];
            placements.push(Placement {
                id: bid.id,
                start: place.start,
                nodes: vec![Vec::new(); place.groups.len()],
                channel: *channel,
            });
        }
        let lengths: BTreeMap<Key, u32> = input.bids.iter().map(|b| (b.id, b.slots)).collect();
        for (cell, mut wants) in wants {
            wants.sort_unstable();
            let mut free_from = vec![0; self.cells[cell].nodes.len()];
            for (start, placement, group, units) in wants {
                let given = &mut placements[placement];
                let end = start + lengths.get(&given.id)?;
                for _ in 0..units {
                    let unit = free_from.iter().position(|from| *from <= start)?;
                    free_from[unit] = end;
                    given.nodes[group].push(self.cells[cell].nodes[unit]);
                }
            }
        }
        placements
            .iter_mut()
            .flat_map(|p| &mut p.nodes)
            .for_each(|nodes| nodes.sort_unstable());
        placements.sort_by_key(|placement| placement.id);
        Some(placements)
    }
}

/// Columns of a kind, one a line.
fn names(text: &mut String, kind: char, columns: usize) {
    for number in 0..columns {
        let _ = writeln!(text, " {kind}{number}");
    }
}

fn name(column: Column) -> String {
    match column {
        Column::Choice(choice) => format!("x{choice}"),
        Column::Part(part) => format!("u{part}"),
    }
}

fn same_uses(a: &[(i64, Column)], b: &[(i64, Column)]) -> bool {
    let key = |(of, column): &(i64, Column)| match column {
        Column::Choice(n) => (*of, 0, *n),
        Column::Part(n) => (*of, 1, *n),
    };
    a.len() == b.len() && a.iter().map(key).eq(b.iter().map(key))
}

/// Starts within the windows of the bid and the market.
fn starts(bid: &Bid<Key, Node>, input: &Decision) -> Range<u32> {
    let room = input.slots.checked_sub(bid.slots);
    let last = room.map_or(-1, |room| bid.latest.min(room.into()));
    let end = (last + 1).clamp(0, input.starts.into()) as u32;
    let first = bid.earliest.clamp(0, end.into()) as u32;
    first..end
}

/// Bids and their groups, by place, that a node can serve.
type Suits = Vec<(usize, usize)>;

/// Cells, and for each group of each bid those that can serve it.
fn cells(input: &Decision) -> (Vec<Cell>, Vec<Vec<Vec<usize>>>) {
    let mut suits: BTreeMap<Node, Suits> = input.nodes.iter().map(|n| (*n, vec![])).collect();
    for (number, bid) in input.bids.iter().enumerate() {
        for (group, class) in bid.classes.iter().enumerate() {
            for node in &class.nodes {
                suits.entry(*node).and_modify(|s| s.push((number, group)));
            }
        }
    }
    let mut busy: BTreeMap<Node, BTreeSet<u32>> = BTreeMap::new();
    for (node, slot) in &input.busy {
        busy.entry(*node).or_default().insert(*slot);
    }
    let mut alike: BTreeMap<Likeness, Vec<Node>> = BTreeMap::new();
    for (node, suits) in suits {
        let busy = busy.remove(&node).unwrap_or_default();
        alike.entry((suits, busy)).or_default().push(node);
    }
    let groups = |bid: &Bid<Key, Node>| vec![Vec::new(); bid.classes.len()];
    let mut serving: Vec<Vec<Vec<usize>>> = input.bids.iter().map(groups).collect();
    let mut cells = Vec::new();
    for ((suits, busy), nodes) in alike {
        for (number, group) in suits {
            serving[number][group].push(cells.len());
        }
        cells.push(Cell { nodes, busy });
    }
    (cells, serving)
}
