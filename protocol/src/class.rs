//! Classes: what makes units alike.

use crate::hash::{Domain, hash};
use crate::ids::ClassId;
use crate::units::Price;
use crate::{codec, limits};
use serde::{Deserialize, Serialize};

/// How strongly a job is kept from its host and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A sandboxed process.
    Process,
    /// A container image in the same sandbox.
    Container,
    /// A virtual machine.
    Machine,
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

impl ClassKey {
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
    /// Reference price per unit-slot: what deposits of sealed bids are measured by.
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
