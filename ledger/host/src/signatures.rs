//! Signatures of many entries, each checked by itself, on all cores that the host may use.

use gridbay_protocol::keys::KeyError;
use gridbay_protocol::stage::{Authentic, WellFormed};
use std::panic::resume_unwind;
use std::thread::{self, Builder, ScopedJoinHandle};

/// Entries for which a thread is worth its start: their checks take twenty times as long.
const LEAST: usize = 16;

/// How a host checks signatures of entries, and how many it has checked.
#[derive(Debug)]
pub(crate) struct Signatures {
    /// Cores for those that come together.
    pub(crate) cores: usize,
    /// Checked since the start.
    pub(crate) checked: u64,
}

impl Default for Signatures {
    fn default() -> Signatures {
        let (cores, checked) = (1, 0);
        Signatures { cores, checked }
    }
}

impl Signatures {
    /// Checks those of some entries; the verdicts have their order.
    pub(crate) fn check(&mut self, formed: &[WellFormed]) -> Vec<Result<Authentic, KeyError>> {
        self.checked += formed.len() as u64;
        on_cores(self.cores, formed, |formed| formed.clone().authenticate())
    }
}

/// Judges items on so many cores at the most, [`LEAST`] or more on each.
fn on_cores<T: Sync, R: Send>(cores: usize, items: &[T], judge: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let part = items.len().div_ceil(cores.max(1)).max(LEAST);
    let judge = &|part: &[T]| part.iter().map(&judge).collect::<Vec<R>>();
    let mut parts = items.chunks(part);
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others = parts.map(|part| {
            let thread = Builder::new().name("signatures".to_owned());
            (part, thread.spawn_scoped(scope, move || judge(part)))
        });
        let others: Vec<_> = others.collect();
        let mut all = judge(own);
        for (part, thread) in others {
            match thread.map(ScopedJoinHandle::join) {
                Ok(Ok(verdicts)) => all.extend(verdicts),
                Ok(Err(panic)) => resume_unwind(panic),
                // The system has no thread to give.
                Err(_) => all.extend(judge(part)),
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
    use gridbay_protocol::ids::{AccountId, Hash32, NetworkId};
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::units::Credits;
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    #[test]
    fn items_are_judged_in_order_on_no_more_threads_than_are_worth_it() {
        for (cores, items, threads) in [
            (0, 5, 1),
            (1, 100, 1),
            (4, 0, 0),
            (4, LEAST, 1),
            (4, LEAST + 1, 2),
            (4, 1_000, 4),
            (64, 10 * LEAST, 10),
        ] {
            let seen = Mutex::new(BTreeSet::new());
            let numbers: Vec<usize> = (0..items).collect();
            let doubled = on_cores(cores, &numbers, |n| {
                let thread = format!("{:?}", thread::current().id());
                seen.lock().unwrap().insert(thread);
                n * 2
            });
            assert!(doubled.into_iter().eq((0..items).map(|n| n * 2)));
            assert_eq!(seen.into_inner().unwrap().len(), threads);
        }
    }

    #[test]
    fn each_signature_has_its_own_verdict_on_any_number_of_cores() {
        let (network, key) = (NetworkId([1; 32]), SecretKey::from_seed(&[2; 32]));
        let formed = |n: u64| {
            let entry = Entry {
                network,
                account: AccountId([3; 32]),
                key: key.public(),
                valid_until: 40,
                body: EntryBody::Transfer {
                    to: AccountId([4; 32]),
                    amount: Credits::from_micros(n + 1).unwrap(),
                    memo: Hash32([0; 32]),
                },
            };
            let mut signed = SignedEntry::new(entry, &key);
            if n % 7 == 3 {
                signed.signature.0[5] ^= 1;
            }
            WellFormed::check(&network, signed).unwrap()
        };
        let entries: Vec<WellFormed> = (0..100).map(formed).collect();
        for cores in [1, 2, 5] {
            let verdicts = Signatures { cores, checked: 0 }.check(&entries);
            assert_eq!(verdicts.len(), entries.len());
            for (n, verdict) in verdicts.into_iter().enumerate() {
                match verdict {
                    Ok(authentic) => assert_eq!(authentic.id(), entries[n].id()),
                    Err(error) => assert_eq!((n % 7, error), (3, KeyError::WrongSignature)),
                }
            }
        }
    }
}
