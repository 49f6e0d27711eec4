//! `sim hunt`: which planted faults the simulator and the tests find.

use super::{SimError, seeds};
use crate::hunt::finder::Finder;
use crate::hunt::judge::{Found, Judge};
use crate::hunt::tree::{self, Tree};
use crate::hunt::{Fault, FaultError};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Hunt {
    /// Hunt these faults only
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,
    /// Seconds of the simulator for a fault, before the tests of the packages are tried
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
    /// Seeds to try, the first included, the last not
    #[arg(long, value_name = "A..B", value_parser = seeds, default_value = "0..100000")]
    seeds: Range<u64>,
    /// Folder for the copy of the sources and what is built from it
    #[arg(long, value_name = "FOLDER", default_value = "target/hunt")]
    folder: PathBuf,
    /// Only see whether all faults apply and compile
    #[arg(long, conflicts_with = "list")]
    check: bool,
    /// Only list the faults
    #[arg(long)]
    list: bool,
}

impl Hunt {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let root = tree::root();
        let faults = self.chosen(Fault::all(&root)?)?;
        if self.list {
            for fault in &faults {
                writeln!(out, "{:<26} {}", fault.name, fault.what)?;
            }
            return Ok(true);
        }
        std::fs::create_dir_all(&self.folder)?;
        let folder = self.folder.canonicalize()?;
        let tree = Tree::of(&root, &folder.join("sources"))?;
        match self.check {
            true => check(&tree, &folder, &faults, out),
            false => self.hunt(&tree, &folder, &faults, out),
        }
    }
    fn chosen(&self, mut all: Vec<Fault>) -> Result<Vec<Fault>, FaultError> {
        let known = |name: &&String| !all.iter().any(|fault| fault.name == **name);
        if let Some(unknown) = self.fault.iter().find(known) {
            return Err(FaultError::Unknown(unknown.clone()));
        }
        all.retain(|fault| self.fault.is_empty() || self.fault.contains(&fault.name));
        Ok(all)
    }
    fn hunt(
        &self,
        tree: &Tree,
        folder: &Path,
        faults: &[Fault],
        out: &mut dyn Write,
    ) -> Result<bool, SimError> {
        let known = Finder::all(&tree::root())?;
        let judge = Judge::new(tree, folder).map_err(SimError::Patched)?;
        let seeds = format!("{}..{}", self.seeds.start, self.seeds.end);
        let mut missed = 0;
        for fault in faults {
            let began = Instant::now();
            tree.plant(fault)?;
            let found = judge.hunt(
                known.get(&fault.name),
                &seeds,
                Duration::from_secs(self.seconds),
            );
            tree.mend(fault)?;
            let found = found.map_err(SimError::Patched)?;
            let by = match &found {
                Found::Seed(line) => format!("found by {line}"),
                Found::Test(test) => format!("found by {test}"),
                Found::Missed => "missed".to_owned(),
            };
            missed += usize::from(found == Found::Missed);
            let seconds = began.elapsed().as_secs_f64();
            writeln!(out, "{:<26} {seconds:>7.1} s  {by}", fault.name)?;
            out.flush()?;
        }
        writeln!(out, "{} found, {missed} missed", faults.len() - missed)?;
        Ok(missed == 0)
    }
}

/// Compiles all faults, as many as fit beside one another at a time.
fn check(
    tree: &Tree,
    folder: &Path,
    faults: &[Fault],
    out: &mut dyn Write,
) -> Result<bool, SimError> {
    let mut left: Vec<&Fault> = faults.iter().collect();
    while !left.is_empty() {
        // One that is refused here changes lines that another one has changed already.
        let (planted, rest): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|fault| tree.plant(fault).is_ok());
        if let ([], Some(stale)) = (planted.as_slice(), rest.first()) {
            tree.plant(stale)?;
        }
        let compiled = Judge::check(tree, folder);
        for fault in &planted {
            tree.mend(fault)?;
        }
        compiled.map_err(SimError::Patched)?;
        writeln!(out, "{} faults compile together", planted.len())?;
        left = rest;
    }
    Ok(true)
}
