//! The two systems of a disk.

/// A system's place on the disk: a root partition, a kernel and an initial RAM disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The one that the image comes with.
    A,
    /// The one that is empty at first.
    B,
}

impl Slot {
    /// Its letter: of its folder in the boot partition, and the end of its root partition's label.
    pub fn name(self) -> &'static str {
        match self {
            Slot::A => "a",
            Slot::B => "b",
        }
    }
    /// By its letter.
    pub fn parse(text: &str) -> Option<Slot> {
        match text {
            "a" => Some(Slot::A),
            "b" => Some(Slot::B),
            _ => None,
        }
    }
    /// The other one.
    pub fn other(self) -> Slot {
        match self {
            Slot::A => Slot::B,
            Slot::B => Slot::A,
        }
    }
    /// The label of its root partition.
    pub fn label(self) -> String {
        format!("gridbay-root-{}", self.name())
    }
    /// The one that runs, by the words that the boot loader gave the kernel. Both of them must name
    /// the same one.
    pub fn running(command_line: &str) -> Option<Slot> {
        let last = |key: &str| {
            let mut words = command_line.split_whitespace().rev();
            words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        };
        let slot = Slot::parse(last("gridbay.slot")?)?;
        (last("root")? == format!("PARTLABEL={}", slot.label())).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_one_is_named_twice() {
        for (line, slot) in [
            (
                "root=PARTLABEL=gridbay-root-a ro gridbay.slot=a quiet",
                Some(Slot::A),
            ),
            (
                "gridbay.slot=b root=PARTLABEL=gridbay-root-b\n",
                Some(Slot::B),
            ),
            ("gridbay.slot=b root=PARTLABEL=gridbay-root-a", None),
            ("root=PARTLABEL=gridbay-root-a gridbay.slot=c", None),
            ("root=PARTLABEL=gridbay-root-a gridbay.slots=a", None),
            ("root=/dev/vda3 gridbay.slot=a", None),
            ("", None),
        ] {
            assert_eq!(Slot::running(line), slot, "{line}");
        }
    }
}
