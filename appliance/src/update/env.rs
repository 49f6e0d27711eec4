//! GRUB's environment: the block of settings by which the boot loader chooses a system.
//!
//! 1. It is 1024 bytes: a first line, one `name=value` a line, and number signs to the end.
//! 2. `slot` is the system that works. `trial` is the new one, or empty. `tries` is how often the
//!    new one may still be started.
//! 3. It is read as GRUB reads it: a later line counts more than an earlier one, a name that is not
//!    known is passed over, and what is missing is as `grub.cfg` has it (`slot=a`, no trial).
//! 4. A block that GRUB would refuse, or that names another system than a or b, is refused. GRUB
//!    starts a then, so nobody may write to a until the block is good again.
//! 5. All settings lie in the first 512 bytes and the rest never changes, so a block that is
//!    written in place is the old one or the new one: a disk writes a sector whole or not at all.

use super::slot::Slot;

/// Bytes of the block.
pub const BYTES: usize = 1024;
/// Bytes that a disk writes as one.
pub const SECTOR: usize = 512;
/// Starts that a new system gets.
pub const TRIES: u8 = 2;
const FIRST: &str = "# GRUB Environment Block\n";

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Env {
    /// The system that works.
    pub slot: Slot,
    /// The new one.
    pub trial: Option<Slot>,
    /// How often the new one may still be started.
    pub tries: u8,
}

/// Why a block is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// Its length is wrong.
    #[error("the boot settings have {bytes} bytes, not {BYTES}")]
    Length {
        /// Its length.
        bytes: usize,
    },
    /// It does not begin as one, or is no text.
    #[error("the boot settings are damaged")]
    Damaged,
    /// A setting names no system.
    #[error("the boot settings name `{value}` as {name}")]
    Value {
        /// The setting.
        name: &'static str,
        /// Its value, without what could steer a terminal.
        value: String,
    },
}

impl Env {
    /// One system that works, and no trial.
    pub fn only(slot: Slot) -> Env {
        Env {
            slot,
            trial: None,
            tries: 0,
        }
    }
    /// One system that works, and the other on trial.
    pub fn trial(slot: Slot) -> Env {
        Env {
            slot,
            trial: Some(slot.other()),
            tries: TRIES,
        }
    }
    /// Reads a block.
    pub fn read(block: &[u8]) -> Result<Env, EnvError> {
        if block.len() != BYTES {
            let bytes = block.len();
            return Err(EnvError::Length { bytes });
        }
        let text = std::str::from_utf8(block).map_err(|_| EnvError::Damaged)?;
        let settings = text.strip_prefix(FIRST).ok_or(EnvError::Damaged)?;
        let mut env = Env::only(Slot::A);
        for line in settings.lines() {
            let Some((name, value)) = line.split_once('=') else {
                continue;
            };
            let wrong = |name| EnvError::Value {
                name,
                value: crate::text::clean(value, 20),
            };
            match name {
                "slot" => env.slot = Slot::parse(value).ok_or_else(|| wrong("slot"))?,
                "trial" if value.is_empty() => env.trial = None,
                "trial" => env.trial = Some(Slot::parse(value).ok_or_else(|| wrong("trial"))?),
                "tries" => env.tries = tries(value),
                _ => {}
            }
        }
        Ok(env)
    }
    /// Writes a block.
    pub fn block(self) -> [u8; BYTES] {
        let trial = self.trial.map_or("", Slot::name);
        let slot = self.slot.name();
        let text = format!("{FIRST}slot={slot}\ntrial={trial}\ntries={}\n", self.tries);
        let mut block = [b'#'; BYTES];
        for (to, from) in block.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        block
    }
    /// What `grub.cfg` does at a start: the system that it starts, and the settings that it leaves.
    pub fn start(self) -> (Slot, Env) {
        match (self.trial, self.tries) {
            (Some(trial), 1..=TRIES) => {
                let tries = self.tries - 1;
                (trial, Env { tries, ..self })
            }
            _ => (self.slot, self),
        }
    }
}

/// GRUB compares texts: a number that is not one of these starts no trial.
fn tries(value: &str) -> u8 {
    match value {
        "1" => 1,
        "2" => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(settings: &str) -> Vec<u8> {
        let mut block = format!("{FIRST}{settings}").into_bytes();
        block.resize(BYTES, b'#');
        block
    }

    #[test]
    fn a_block_is_read_as_grub_reads_it() {
        let on = |slot, trial, tries| Ok(Env { slot, trial, tries });
        for (settings, read) in [
            ("slot=a\ntrial=\ntries=0\n", on(Slot::A, None, 0)),
            ("slot=b\ntrial=a\ntries=2\n", on(Slot::B, Some(Slot::A), 2)),
            ("", on(Slot::A, None, 0)),
            ("trial=b\ntries=02\n", on(Slot::A, Some(Slot::B), 0)),
            ("trial=b\ntries=-1\n", on(Slot::A, Some(Slot::B), 0)),
            ("slot=b\nslot=a\nx=y\nno setting\n", on(Slot::A, None, 0)),
        ] {
            assert_eq!(Env::read(&block(settings)), read, "{settings}");
        }
    }

    #[test]
    fn what_grub_would_refuse_or_not_find_is_refused() {
        let good = Env::only(Slot::B).block();
        assert_eq!(Env::read(&good), Ok(Env::only(Slot::B)));
        let mut torn = good;
        torn[2] = b'X';
        assert_eq!(Env::read(&torn), Err(EnvError::Damaged));
        torn = good;
        torn[900] = 0xff;
        assert_eq!(Env::read(&torn), Err(EnvError::Damaged));
        assert_eq!(Env::read(&[0; BYTES]), Err(EnvError::Damaged));
        for bytes in [0, BYTES - 1, BYTES + 1] {
            let read = Env::read(&vec![b'#'; bytes]);
            assert_eq!(read, Err(EnvError::Length { bytes }));
        }
        for (settings, name) in [
            ("slot=\n", "slot"),
            ("slot=../a\n", "slot"),
            ("slot=a\u{1b}[2J\n", "slot"),
            ("trial=c\n", "trial"),
        ] {
            match Env::read(&block(settings)) {
                Err(EnvError::Value { name: found, value }) => {
                    assert_eq!(found, name);
                    assert!(!value.contains('\u{1b}'));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn every_block_written_is_read_back_and_its_settings_lie_in_one_sector() {
        for slot in [Slot::A, Slot::B] {
            for trial in [None, Some(Slot::A), Some(Slot::B)] {
                for tries in 0..=TRIES {
                    let env = Env { slot, trial, tries };
                    assert_eq!(Env::read(&env.block()), Ok(env));
                    assert!(env.block()[SECTOR..].iter().all(|byte| *byte == b'#'));
                }
            }
        }
    }

    #[test]
    fn a_trial_is_started_twice_and_then_left() {
        let (first, env) = Env::trial(Slot::A).start();
        let (second, env) = env.start();
        let (third, left) = env.start();
        assert_eq!((first, second, third), (Slot::B, Slot::B, Slot::A));
        assert_eq!((left, left.tries), (env, 0));
        assert_eq!(Env::only(Slot::B).start(), (Slot::B, Env::only(Slot::B)));
    }
}
