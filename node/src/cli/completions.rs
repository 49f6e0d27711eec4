//! `completions`: what a shell needs to complete lines of gridbay. Packages install it.

use super::error::CliError;
use crate::ui;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print what a shell needs to complete command lines: source <(gridbay completions bash)
#[derive(Clone, Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// `program` is gridbay's own command line.
    pub(super) fn run(self, program: Command) -> Result<(), CliError> {
        Ok(ui::out(&script(self.shell, program))?)
    }
}

fn script(shell: Shell, mut program: Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "gridbay", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_shell_learns_the_nouns_and_their_verbs() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = String::from_utf8(script(shell, Cli::command())).unwrap();
            for word in ["cluster", "admit", "--max-price"] {
                let bare = word.trim_start_matches('-');
                assert!(script.contains(bare), "{shell}: {word}");
            }
        }
    }
}
