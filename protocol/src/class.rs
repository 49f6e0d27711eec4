//! Classes: kinds of units that are alike.

use crate::hash::{Domain, hash};
use crate::ids::ClassId;
use crate::units::Price;
use crate::{codec, limits};
use serde::{Deserialize, Serialize};

named! {
    /// How strongly a job is kept from its host and its neighbours.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Isolation as name {
        /// A sandboxed process.
        Process = "process",
        /// A container image in the same sandbox.
        Container = "container",
        /// A virtual machine.
        Machine = "machine",
    }
}

/// Key of a class: units with equal keys are exchangeable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassKey {
    /// Virtual processors of a unit, 1 to 1,024.
    pub vcpu: u32,
    /// Memory of a unit in MiB, at least 1.
    pub memory_mib: u64,
    /// Disk of a unit in MiB.
    pub disk_mib: u64,
    /// Graphics processors of a unit.
    pub gpu: u32,
    /// Isolation tier.
    pub isolation: Isolation,
    /// Name of the circle that may trade it; `members` is the whole federation.
    pub circle: String,
}

named! {
    /// The resource types of a unit, in the order in which pools share them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Resource as name {
        /// Virtual processors.
        Processors = "cpu",
        /// Memory in MiB.
        Memory = "memory",
        /// Disk in MiB.
        Disk = "disk",
        /// Graphics processors.
        Accelerators = "gpu",
    }
}

/// Disk that a job may hold in a class that promises less, in MiB: programs write so much without
/// being asked.
pub const DISK_MIB: u64 = 16;

impl ClassKey {
    /// How much a unit has of a resource.
    pub fn amount(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Processors => u64::from(self.vcpu),
            Resource::Memory => self.memory_mib,
            Resource::Disk => self.disk_mib,
            Resource::Accelerators => u64::from(self.gpu),
        }
    }
    /// Bytes that a job on a unit may hold on the disk: what the class promises, at least
    /// [`DISK_MIB`].
    pub fn disk_bytes(&self) -> u64 {
        self.disk_mib.max(DISK_MIB).saturating_mul(1 << 20)
    }
    /// The resource types of a unit, processors first: a pool of this class shares these.
    pub fn resources(&self) -> impl Iterator<Item = Resource> {
        let has = |resource: &Resource| self.amount(*resource) > 0;
        Resource::ALL.into_iter().filter(has)
    }
    /// Id of the class.
    pub fn id(&self) -> ClassId {
        ClassId(hash(Domain::Class, &[&codec::encode(self)]))
    }
}

/// A class that a network trades; part of the genesis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Name for people, as in `small`; 1 to [`limits::NAME_CHARS`] characters.
    pub name: String,
    /// The key.
    pub key: ClassKey,
    /// Reference price per unit-slot, which measures the deposits of sealed bids.
    pub reference_price: Price,
}

impl Class {
    /// Whether name, key and price are in range.
    pub fn is_valid(&self) -> bool {
        name_is_valid(&self.name)
            && name_is_valid(&self.key.circle)
            && (1..=1_024).contains(&self.key.vcpu)
            && self.key.memory_mib >= 1
            && self.reference_price <= Price::MAX
    }
}

/// Whether a name has 1 to [`limits::NAME_CHARS`] characters, all printable ASCII without spaces.
pub fn name_is_valid(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= limits::NAME_CHARS
        && name.bytes().all(|b| b.is_ascii_graphic())
}
