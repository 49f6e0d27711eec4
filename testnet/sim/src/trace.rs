//! The trace: a running hash of all that happens, and the story in words if somebody wants it.

use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use std::io::Write;

/// See the module.
pub struct Trace {
    hasher: blake3::Hasher,
    words: Option<Box<dyn Write + Send>>,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace::new(None)
    }
}

impl Trace {
    /// A trace that also tells the story to `words`, a line per event.
    pub fn new(words: Option<Box<dyn Write + Send>>) -> Trace {
        Trace {
            hasher: blake3::Hasher::new(),
            words,
        }
    }
    /// Hash of everything so far, in hex.
    pub fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
    fn say(&mut self, line: impl FnOnce() -> String) {
        if let Some(words) = &mut self.words {
            // A full disk must not change what the world does; the story just ends.
            if writeln!(words, "{}", line()).is_err() {
                self.words = None;
            }
        }
    }
    fn add(&mut self, at: u64, node: usize, name: &str, bytes: &[u8]) {
        self.hasher.update(&at.to_le_bytes());
        self.hasher.update(&(node as u64).to_le_bytes());
        self.hasher.update(&(bytes.len() as u64).to_le_bytes());
        self.hasher.update(name.as_bytes());
        self.hasher.update(bytes);
    }
    /// A node takes an input.
    pub fn input(&mut self, at: u64, node: usize, input: &Input) {
        let name = crate::cover::input_name(input);
        match input {
            Input::Host { bytes, .. } | Input::Advert { bytes, .. } => {
                self.add(at, node, name, bytes);
                self.say(|| {
                    let text = crate::tell::message(bytes);
                    format!("{at:>8} {node:>3} < {name} {text}")
                });
            }
            other => {
                self.add(at, node, name, format!("{other:?}").as_bytes());
                self.say(|| format!("{at:>8} {node:>3} < {other:?}"));
            }
        }
    }
    /// A node asks for something.
    pub fn effect(&mut self, node: usize, effect: &Effect) {
        let name = crate::cover::effect_name(effect);
        match effect {
            Effect::Broadcast { bytes } | Effect::Send { bytes, .. } | Effect::Gossip(bytes) => {
                self.add(0, node, name, bytes);
                self.say(|| {
                    let text = crate::tell::message(bytes);
                    format!("{:>8} {node:>3} > {name} {text}", "")
                });
            }
            Effect::WakeAt(at) => self.add(*at, node, name, &[]),
            other => {
                self.add(0, node, name, format!("{other:?}").as_bytes());
                self.say(|| format!("{:>8} {node:>3} > {other:?}", ""));
            }
        }
    }
    /// Something happens to the world.
    pub fn note(&mut self, at: u64, what: &str) {
        self.add(at, usize::MAX, what, &[]);
        self.say(|| format!("{at:>8}     ! {what}"));
    }
}
