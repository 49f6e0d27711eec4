//! The kinds of parallel programs that rank 0 can lead, and what each of them needs.

use std::process::Command;

use super::wire::own_port;
use super::{MACHINES, PROGRAM};

/// Port of Dask's scheduler on rank 0 of a job.
pub(crate) const SCHEDULER: u16 = 8_786;

/// Port of Dask's scheduler on rank 0, of a run that has a port of its own: several may be on one
/// cluster.
pub(crate) fn scheduler_of(run: Option<u16>) -> u16 {
    run.map_or(SCHEDULER, |port| port.saturating_add(1))
}

/// A kind of parallel program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any program that reads a list of machines, and reaches them through `gridbay-rank exec`.
    Hosts,
    /// OpenMPI's `mpirun`, with that as its launch agent.
    Mpi,
    /// A program of Dask: a scheduler beside it, a worker on every rank.
    Dask,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Kind> {
        match name {
            "hosts" => Some(Kind::Hosts),
            "mpi" => Some(Kind::Mpi),
            "dask" => Some(Kind::Dask),
            _ => None,
        }
    }

    /// The program to run on rank 0.
    pub(super) fn command(self, program: &[&str], size: u32) -> Command {
        let (first, rest) = program.split_first().unwrap_or((&"", &[]));
        let mut command = match self {
            Kind::Hosts | Kind::Dask => Command::new(first),
            Kind::Mpi => {
                let mut mpirun = Command::new("mpirun");
                mpirun.arg("-n").arg(size.to_string()).arg(first);
                mpirun
            }
        };
        command.args(rest).envs(self.environment());
        command
    }

    /// Variables of all commands, on every rank.
    pub(super) fn environment(self) -> Vec<(&'static str, String)> {
        let agent = format!("{PROGRAM} exec");
        let mut all = vec![
            ("GRIDBAY_MACHINES", MACHINES.to_owned()),
            ("GRIDBAY_EXEC", agent.clone()),
        ];
        match self {
            Kind::Hosts => {}
            Kind::Dask => all.extend([
                ("DASK_SCHEDULER_ADDRESS", scheduler()),
                // Beside the program's own words, only what goes wrong.
                ("DASK_LOGGING__DISTRIBUTED", "warning".to_owned()),
            ]),
            Kind::Mpi => all.extend([
                ("OMPI_MCA_plm_rsh_agent", agent.clone()),
                ("OMPI_MCA_orte_default_hostfile", MACHINES.to_owned()),
                // The same for OpenMPI 5, which takes no heed of those, and says nothing of it.
                ("PRTE_MCA_plm_ssh_agent", agent),
                ("PRTE_MCA_prte_default_hostfile", MACHINES.to_owned()),
                // Without it, ranks on busy processors spin against one another.
                ("OMPI_MCA_mpi_yield_when_idle", "1".to_owned()),
                // The lease's network is all there is: no other transport is looked for, and no
                // topology, of which a job sees nothing.
                ("OMPI_MCA_pml", "ob1".to_owned()),
                ("OMPI_MCA_btl", "tcp,self".to_owned()),
                ("HWLOC_HIDE_ERRORS", "2".to_owned()),
                ("UCX_LOG_LEVEL", "fatal".to_owned()),
            ]),
        }
        all
    }

    /// What runs beside the program: words, and the rank that runs them.
    pub(super) fn beside(self, size: u32) -> Vec<(u32, Vec<String>)> {
        let words = |text: String| text.split(' ').map(str::to_owned).collect();
        if self != Kind::Dask {
            return Vec::new();
        }
        let port = scheduler_of(own_port());
        let scheduler_line = format!("dask scheduler --host rank0 --port {port} --no-dashboard");
        let worker = |rank: u32| {
            let line = format!(
                "dask worker {} --host rank{rank} --nthreads 1 --no-dashboard --no-nanny",
                scheduler()
            );
            (rank, words(line))
        };
        let mut all = vec![(0, words(scheduler_line))];
        all.extend((0..size).map(worker));
        all
    }
}

fn scheduler() -> String {
    format!("tcp://rank0:{}", scheduler_of(own_port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(command: &Command) -> String {
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn each_kind_runs_the_program_in_its_way() {
        let of = |name: &str| Kind::named(name).unwrap().command(&["./a.out", "-x"], 4);
        assert_eq!(line(&of("hosts")), "./a.out -x");
        assert_eq!(line(&of("dask")), "./a.out -x");
        assert_eq!(line(&of("mpi")), "mpirun -n 4 ./a.out -x");
        assert_eq!(Kind::named("spark"), None);
    }

    #[test]
    fn dask_has_a_scheduler_and_a_worker_a_rank() {
        assert!(Kind::Mpi.beside(4).is_empty());
        let beside = Kind::Dask.beside(2);
        let ranks: Vec<u32> = beside.iter().map(|(rank, _)| *rank).collect();
        assert_eq!(ranks, [0, 0, 1]);
        assert!(beside.iter().all(|(_, words)| words[0] == "dask"));
        assert!(beside[2].1.contains(&"tcp://rank0:8786".to_owned()));
        assert_eq!(scheduler_of(Some(20_002)), 20_003);
    }
}
