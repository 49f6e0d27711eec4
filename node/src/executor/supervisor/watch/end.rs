//! The report on a job once nothing of its sandbox is left.

use std::io::{self, Write as _};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::super::output::Stream;
use super::super::tree;
use super::Watch;
use crate::executor::capability::Tier;
use crate::executor::cgroup::Group;
use crate::executor::outcome::{Exit, Finished, KillReason, Usage};
use crate::executor::sandbox::report::Ending;

impl Watch<'_> {
    /// Nothing of the sandbox is left, or in the plain tier will be when the sweep is done.
    pub(super) fn finish(mut self) -> io::Result<Finished> {
        if self.launch.tier == Tier::Plain && !tree::sweep()? {
            return Err(io::Error::other("processes of the job could not be ended"));
        }
        let wall = self.began.map_or(Duration::ZERO, |t| t.elapsed());
        while self.report.is_some() {
            self.take_reports()?;
        }
        self.streams.iter_mut().for_each(Stream::drain);
        self.free();
        let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let told = (used.user_time() + used.system_time()).num_microseconds();
        let told = Duration::from_micros(u64::try_from(told).unwrap_or(0));
        // Of children that the job did not wait for only these two know.
        let group = self.launch.group.as_ref().and_then(Group::used);
        let cpu = told.max(self.gauge.spent()).max(group.unwrap_or_default());
        let usage = Usage {
            cpu_ns: u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX),
            // The kernel counts in KiB.
            max_rss_bytes: u64::try_from(used.max_rss())
                .unwrap_or(0)
                .saturating_mul(1024),
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            output_dropped: self.streams.iter().map(Stream::dropped).sum(),
        };
        Ok(Finished {
            exit: self.exit(),
            started: self.started,
            usage,
        })
    }

    /// Gives back the disk that nobody will ask for: `/tmp`, and of a job that took too much all it
    /// wrote.
    fn free(&mut self) {
        if self.began.is_some() && !self.took_too_much() {
            // The last look missed what it wrote since; that counts too.
            let found = self.disk.count();
            self.verdict = found
                .map(|reason| Exit::Killed { reason })
                .or(self.verdict.take());
        }
        let freed = if self.took_too_much() {
            self.folder.drop_files()
        } else {
            self.folder.drop_temporary()
        };
        if let Err(error) = freed {
            // The folder takes the rest with it.
            let _ = writeln!(
                io::stderr(),
                "gridbay supervisor: cannot free the disk: {error}"
            );
        }
    }

    fn took_too_much(&self) -> bool {
        matches!(
            self.verdict,
            Some(Exit::Killed {
                reason: KillReason::Disk | KillReason::NoRoom
            })
        )
    }

    /// Whether a job that keeps its progress was told to end: it goes on elsewhere, whatever code
    /// it left with.
    fn goes_on_elsewhere(&self) -> bool {
        let told = matches!(
            self.verdict,
            Some(Exit::Killed {
                reason: KillReason::Stopped | KillReason::Lease | KillReason::Shutdown
            })
        );
        told && self.started.is_some() && self.launch.spec.farewell.is_some()
    }

    /// A code that the job returned itself counts even if it was asked or about to be killed,
    /// unless what it wrote had to be removed or it goes on elsewhere.
    fn exit(&self) -> Exit {
        if let Some(message) = &self.failure {
            return Exit::Killed {
                reason: KillReason::Setup(message.clone()),
            };
        }
        let own = match self.launch.tier {
            Tier::Namespaces => self.ending,
            Tier::Plain => self.gone,
        };
        match (own, &self.verdict) {
            (_, Some(verdict)) if self.took_too_much() || self.goes_on_elsewhere() => {
                verdict.clone()
            }
            (Some(Ending::Exited(code)), _) if self.started.is_some() => Exit::Exited(code),
            (_, Some(verdict)) => verdict.clone(),
            (Some(Ending::Signaled(signal)), None) => Exit::Signaled(signal),
            // *init* was ended from outside, by the out-of-memory killer for example.
            (_, None) => match self.gone {
                Some(Ending::Signaled(signal)) => Exit::Signaled(signal),
                _ => Exit::Killed {
                    reason: KillReason::Setup("it ended early".to_owned()),
                },
            },
        }
    }
}
