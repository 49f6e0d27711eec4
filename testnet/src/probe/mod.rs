//! Hostile jobs: their attempts and how far they get, in each tier that this machine offers, as
//! root and as an ordinary user.
//!
//! 1. [`stage`] sets the scene: a key, sockets, a process that stands for the node, a neighbour.
//! 2. Each probe of the [`table`] is a job of its own, whose program is this one ([`inside`]).
//! 3. How the job ended is the result ([`row`]). A result that cannot be read counts as broken.

mod env;
pub(crate) mod inside;
mod row;
mod stage;
mod table;

pub(crate) use row::{Outcome, Row};
pub(crate) use stage::{Stage, home_of};

/// The hidden first word of what runs inside.
pub(crate) const WORD: &str = "__probe";

use gridbay_node::executor::{Isolation, Tier};
use inside::Probe;
use std::path::Path;

/// Probes from one line of progress to the next.
const STRIDE: usize = 20;

/// How many probes there are where there are quotas.
pub(crate) fn count() -> usize {
    table::all().count()
}

/// Runs all probes in all tiers, as this process's user, in a folder of its own; the jobs are
/// started by a launcher of a node, if there is one, which gives the best tier alone, and get
/// quotas from a folder, if root has left some there.
///
/// # Errors What kept the scene from being set. A tier that the machine does not offer is none: it
/// has no rows.
pub(crate) fn run(
    home: &Path,
    launcher: Option<&Path>,
    quotas: Option<&Path>,
    user: &str,
    told: &mut dyn FnMut(&Row),
) -> anyhow::Result<Vec<Row>> {
    let progress = crate::say::Progress::new();
    let count = count();
    let mut rows = Vec::new();
    for (isolation, tier) in [
        (Isolation::Required, Tier::Namespaces),
        (Isolation::Off, Tier::Plain),
    ] {
        let folder = home.join(tier.to_string());
        let stage = match Stage::set(&folder, (launcher, quotas), isolation)? {
            Ok(stage) => stage,
            Err(why) => {
                crate::say::note(&format!("{user}: no tier {tier} here: {why}"));
                continue;
            }
        };
        let tried = |probe: &&Probe| stage.has_quotas() || !table::BY_QUOTA.contains(&probe.name);
        for (number, probe) in table::all().filter(tried).enumerate() {
            if number % STRIDE == 0 {
                progress.tell(&format!("{user}, {tier}: {number} of {count} probes"));
            }
            let proves = !table::REACHES.contains(&probe.name) || stage.reaches(probe)?;
            let (outcome, detail) = match proves {
                true => stage.attempt(probe)?,
                false => (
                    Outcome::Broken,
                    "it fails outside of a job as well".to_owned(),
                ),
            };
            let row = Row::new(probe.name, tier, user, outcome, detail);
            told(&row);
            rows.push(row);
        }
    }
    Ok(rows)
}
