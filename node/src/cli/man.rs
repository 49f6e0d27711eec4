//! `man`: a manual page for gridbay and for each of its commands, from what `--help` says. Hidden,
//! since packages call it.

use super::error::CliError;
use super::exit::Exit;
use clap::{Args, Command};
use std::io;
use std::path::{Path, PathBuf};

/// Write the manual pages into a folder
#[derive(Clone, Debug, Args)]
pub(super) struct ManArgs {
    /// The folder; it is made if need be
    #[arg(value_name = "DIR")]
    into: PathBuf,
}

impl ManArgs {
    /// `program` is gridbay's own command line.
    pub(super) fn run(self, program: Command) -> Result<(), CliError> {
        write(program, &self.into).map_err(|error| {
            let why = format!("{}: {error}", self.into.display());
            let what = "the manual pages were not written";
            CliError::new(
                Exit::FAILED,
                what,
                why,
                "name a folder that you may write to",
            )
        })
    }
}

fn write(program: Command, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(program, folder)
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn each_command_has_a_page_and_hidden_ones_have_none() {
        let dir = tempfile::tempdir().unwrap();
        write(Cli::command(), dir.path()).unwrap();
        for (page, says) in [
            ("gridbay.1", "computing time"),
            ("gridbay-run.1", "max\\-price"),
            ("gridbay-cluster.1", "admit"),
            ("gridbay-cluster-admit.1", "gridbay\\-cluster\\-admit"),
        ] {
            let text = std::fs::read_to_string(dir.path().join(page)).unwrap();
            assert!(text.contains(says), "{page}: {says}");
        }
        assert!(!dir.path().join("gridbay-man.1").exists());
    }
}
