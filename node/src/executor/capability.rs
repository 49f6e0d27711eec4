//! The promises that an executor can keep on this machine, found by trying and not by guessing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far jobs are kept apart, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Resource limits, Landlock and seccomp on an ordinary process. Never sold as isolated.
    Plain,
    /// As before, inside user, mount, pid, ipc, uts, cgroup and network namespaces of its own.
    Namespaces,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Namespaces => "namespaces",
        })
    }
}

/// How a bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// A job cannot get past it.
    Enforced,
    /// It holds for well-behaved jobs, or only for part of what its name says.
    Advisory,
    /// It is ignored.
    Absent,
    /// The supervisor looks every so often and ends the job that is beyond it.
    Watched,
}

/// What a job's device in its lease's network is. A job does not see a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// A TUN device.
    #[default]
    Tun,
    /// One end of a virtual cable, whose other end is a packet socket.
    Veth,
}

impl Link {
    /// All, the best first.
    pub const ALL: [Link; 2] = [Link::Tun, Link::Veth];
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tun => "tun",
            Self::Veth => "veth",
        })
    }
}

/// How far jobs that ask for it get out of their machine, by its owner's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outbound {
    /// Nowhere.
    #[default]
    None,
    /// To ports 80 and 443 of addresses of the internet.
    Web,
}

impl Outbound {
    /// All, the narrowest first.
    pub const ALL: [Outbound; 2] = [Outbound::None, Outbound::Web];
}

impl fmt::Display for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Web => "web",
        })
    }
}

/// For what an older record does not tell.
const fn absent() -> Support {
    Support::Absent
}

/// The means by which a job weighs less or more than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightBy {
    /// Nice levels.
    Nice,
    /// A control group of version 1.
    CgroupV1,
    /// A control group of version 2.
    CgroupV2,
}

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Isolation that jobs get.
    pub tier: Tier,
    /// Why a higher tier was passed over, if one was tried.
    pub passed_over: Option<String>,
    /// Reads and writes outside the work directory are refused.
    pub filesystem: Support,
    /// No network but the job's own loopback, and that of its lease.
    pub network: Support,
    /// Why jobs have no device in their lease's network, where they have none.
    #[serde(default)]
    pub no_device: Option<String>,
    /// What that device is, where they have one.
    #[serde(default)]
    pub link: Link,
    /// Why it is not a better one, if that was tried.
    #[serde(default)]
    pub no_better_link: Option<String>,
    /// Wall limit of the tree.
    pub wall: Support,
    /// Processor seconds, per process.
    pub cpu: Support,
    /// Processors of the whole tree at a time; where it is watched, its processor seconds.
    #[serde(default = "absent")]
    pub processors: Support,
    /// Weight of a job when processors are contended. Advisory where it is a nice level and the
    /// kernel groups processes by session, each of which is one job: levels count only within a
    /// group.
    pub weight: Support,
    /// The weight.
    pub weight_by: WeightBy,
    /// Address space, per process.
    pub memory: Support,
    /// Memory of the whole tree.
    pub tree_memory: Support,
    /// Size of a file.
    pub file_size: Support,
    /// Bytes and files of the work directory and `/tmp` together.
    pub disk: Support,
    /// Processes and threads of the tree.
    pub processes: Support,
    /// Open files, per process.
    pub open_files: Support,
    /// Bytes kept of each output stream.
    pub output: Support,
    /// From `start` to the first instruction of the probe's job, microseconds.
    pub spawn_us: u64,
}

impl Capabilities {
    /// Every bound of a tier holding in the same way, where nothing is probed: in tests.
    pub fn all(tier: Tier, how: Support) -> Capabilities {
        Capabilities {
            tier,
            passed_over: None,
            filesystem: how,
            network: how,
            no_device: None,
            link: Link::Tun,
            no_better_link: None,
            wall: how,
            cpu: how,
            processors: how,
            weight: how,
            weight_by: WeightBy::Nice,
            memory: how,
            tree_memory: how,
            file_size: how,
            disk: how,
            processes: how,
            open_files: how,
            output: how,
            spawn_us: 1,
        }
    }
}
