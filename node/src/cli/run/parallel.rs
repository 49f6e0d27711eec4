//! Parallel programs: rank 0 runs the program, the others serve it ([`crate::rank`]).

use crate::rank::PROGRAM;
use crate::rank::kind::SCHEDULER;
use clap::Args;

/// At most one of these; each has a network.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
pub(in crate::cli) struct Parallel {
    /// An MPI program: mpirun of the sellers' OpenMPI starts it on all ranks
    #[arg(long)]
    mpi: bool,
    /// A program of Dask on rank 0, with a scheduler, and a worker on each rank
    #[arg(long)]
    dask: bool,
    /// A program on rank 0 that finds the ranks in $GRIDBAY_MACHINES and commands them with
    /// $GRIDBAY_EXEC
    #[arg(long)]
    hosts: bool,
}

impl Parallel {
    fn kind(&self) -> Option<&'static str> {
        let all = [
            (self.mpi, "mpi"),
            (self.dask, "dask"),
            (self.hosts, "hosts"),
        ];
        all.into_iter()
            .find_map(|(asked, kind)| asked.then_some(kind))
    }

    /// Whether the ranks need a network.
    pub(super) fn is_asked(&self) -> bool {
        self.kind().is_some()
    }

    /// Where the port leads that the program's clients on this machine are given.
    pub(super) fn port(&self) -> Option<String> {
        self.dask.then(|| format!("rank0:{SCHEDULER}"))
    }

    /// The command of every rank.
    pub(super) fn command(&self, command: Vec<String>) -> Vec<String> {
        match self.kind() {
            None => command,
            Some(kind) => {
                let lead = [PROGRAM, "lead", kind].map(str::to_owned);
                lead.into_iter().chain(command).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parallel_program_is_led_by_rank_0() {
        let program = || vec!["./a.out".to_owned()];
        let plain = Parallel::default();
        assert_eq!(
            (plain.is_asked(), plain.command(program())),
            (false, program())
        );
        let mpi = Parallel {
            mpi: true,
            ..Parallel::default()
        };
        assert!(mpi.is_asked());
        assert_eq!(
            mpi.command(program()).join(" "),
            "/run/gridbay-rank lead mpi ./a.out"
        );
    }
}
