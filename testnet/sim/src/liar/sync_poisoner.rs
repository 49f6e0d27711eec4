//! Says that its book is longer, or shorter, than it is, and answers who asks for blocks with wrong
//! blocks, wrong certificates, gaps, broken bytes, too little or nothing.
//!
//! Attacks I2, I3 and I12. A block of a peer counts if its certificate proves it; a peer that
//! answers badly or not at all is blamed where that can be told, and asked last from then on.

use super::craft::{flip, said, say_instead};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_host::message::{DecidedBlock, HostMessage, Status};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct SyncPoisoner {
    deeds: u64,
}

fn tip(puppet: &mut Puppet<'_>, right: u64) -> u64 {
    match puppet.rng.below(5) {
        0 => u64::MAX,
        1 => right.saturating_add(1_000),
        2 => right.saturating_add(1),
        3 => right.saturating_sub(5),
        _ => right,
    }
}

/// Spoils one of the blocks of an answer.
fn spoil(puppet: &mut Puppet<'_>, item: &mut DecidedBlock) {
    let (n, header) = (puppet.rng.bits(), &mut item.block.header);
    match puppet.rng.below(8) {
        0 => flip(&mut header.state_root, n),
        // The header does not cover what the bodies' signatures are.
        1 => {
            if let Some(entry) = item.block.entries.first_mut() {
                entry.signature.0[n as usize % 64] ^= 1;
            }
        }
        2 => drop(item.block.entries.pop()),
        3 => item.certificate.signatures.clear(),
        4 => drop(item.certificate.signatures.pop()),
        5 => {
            if let Some(first) = item.certificate.signatures.first().copied() {
                item.certificate.signatures.fill(first);
            }
        }
        6 => item.certificate.round += 1,
        _ => {
            if let Some(signed) = item.certificate.signatures.first_mut() {
                signed.signature.0[n as usize % 64] ^= 1;
            }
        }
    }
}

/// Its answer in place of decided blocks; `None` for none at all.
fn answer(
    puppet: &mut Puppet<'_>,
    effect: &Effect,
    mut items: Vec<DecidedBlock>,
) -> Option<Effect> {
    let at = puppet.rng.index(items.len());
    match puppet.rng.below(7) {
        0 => return None,
        1 => items.clear(),
        2 => drop(items.remove(at)),
        3 => items.reverse(),
        4 => items.truncate(at),
        5 => {
            let mut bytes = HostMessage::SyncResponse(items).encode();
            bytes.truncate(puppet.rng.index(bytes.len()));
            let Effect::Send { to, .. } = effect else {
                return None;
            };
            return Some(Effect::Send { to: *to, bytes });
        }
        _ => {
            if let Some(item) = items.get_mut(at) {
                spoil(puppet, item);
            }
        }
    }
    Some(say_instead(effect, &HostMessage::SyncResponse(items)))
}

impl Lie for SyncPoisoner {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let mut out = Vec::new();
        for effect in effects {
            match said(&effect) {
                Some(HostMessage::Status(status)) => {
                    let tip = tip(puppet, status.tip);
                    self.deeds += u64::from(tip != status.tip);
                    out.push(say_instead(&effect, &HostMessage::Status(Status { tip })));
                }
                Some(HostMessage::SyncResponse(items)) => {
                    self.deeds += 1;
                    out.extend(answer(puppet, &effect, items));
                }
                _ => out.push(effect),
            }
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
