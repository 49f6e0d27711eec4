//! Second copies of checkpoints, played by the world: files need not be carried, so a keeper has a
//! copy whole at once, and a buyer that looks for one finds the newest that a living keeper has.

use super::World;
use super::questions::Waits;
use crate::found::{node_key, node_secret};
use gridbay_core::agent::{AgentReply, AgentRequest, Copy, RunId};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_core::keeper::{Held, ranked};
use gridbay_core::relay::Signed;
use gridbay_protocol::checkpoint::{CHECKPOINT_BYTES, Manifest};
use gridbay_protocol::keys::PublicKey;

impl World {
    /// The body of a seller or keeper; `None` if the effect is something else.
    pub(super) fn perform_on_copies(&mut self, n: usize, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::ShowCheckpoint {
                token, job, keeper, ..
            } => {
                let reply = self.show_checkpoint(n, &job);
                if let Some(keeper) = keeper {
                    self.offer_copy(n, job, &keeper, &reply);
                }
                self.answer(n, token, reply);
            }
            Effect::OfferCopy { job, to, .. } => {
                let reply = self.show_checkpoint(n, &job);
                self.offer_copy(n, job, &to, &reply);
            }
            Effect::PullCopy { slot, .. } => self.input(n, 1, Input::Pulled { slot, whole: true }),
            Effect::SaveCopies(bytes) => {
                let held = Held::decode_all(&bytes).expect("own copies");
                self.machines[n].shelf.copies = held;
            }
            Effect::FetchCopy {
                order,
                job,
                seller,
                keepers,
                newer_than,
            } => {
                let replies = { keepers.iter() }
                    .map(|keeper| (*keeper, self.copy_at(n, keeper, (&job, &seller))))
                    .collect();
                let network = self.genesis.network();
                let bounds = (newer_than, CHECKPOINT_BYTES);
                let found = ranked(&network, (&seller, &job), bounds, replies);
                let now_ms = self.machines[n].clock.read(self.now).wall_ms;
                let kept = found
                    .first()
                    .map(|(copy, _)| (copy.snapshot, now_ms.saturating_sub(copy.taken_ms)));
                if let Some((snapshot, _)) = kept {
                    let held = &mut self.machines[n].shelf.checkpoints;
                    let held = held.entry((order, job.task)).or_default();
                    held.insert(snapshot.manifest);
                    self.cover.count("copy of a checkpoint");
                }
                let copy = true;
                let found = Input::Checkpointed {
                    order,
                    job,
                    kept,
                    copy,
                };
                self.input(n, 1, found);
            }
            Effect::KeepCopy { .. } | Effect::ReadCopy { .. } => {}
            other => return Some(other),
        }
        None
    }

    /// A seller offers its keeper what its machine showed.
    pub(super) fn offer_copy(&mut self, n: usize, job: RunId, to: &PublicKey, shown: &AgentReply) {
        let AgentReply::Checkpoint { manifest, age_ms } = shown else {
            return;
        };
        let Some(manifest) = Manifest::decode(manifest) else {
            return;
        };
        let copy = Copy {
            job,
            snapshot: manifest.snapshot(),
            taken_ms: self.machines[n]
                .clock
                .read(self.now)
                .wall_ms
                .saturating_sub(*age_ms),
        };
        let signed = Signed::new(&self.genesis.network(), copy, &node_secret(n));
        self.ask(n, to, Waits::Nobody, AgentRequest::Keep(Box::new(signed)));
    }

    /// What a keeper tells node `n` of a run of a seller's node.
    fn copy_at(
        &self,
        n: usize,
        keeper: &PublicKey,
        (job, seller): (&RunId, &PublicKey),
    ) -> Option<AgentReply> {
        let keeper = self.node_of(keeper.as_bytes())?;
        let held = self.core(keeper)?.keeper().held();
        let asker = node_key(n);
        let mut held = { held.into_iter() }.filter(|h| (h.buyer, h.seller) == (asker, *seller));
        let held = held.find(|h| h.copy.said.job == *job)?;
        Some(AgentReply::Copy(Box::new(held.copy)))
    }
}
