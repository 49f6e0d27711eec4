//! Deeds for own orders: their records, the output of their tasks, the files that come back.

use super::ask::Asker;
use super::perform::disk;
use super::{Body, BodyError, files};
use gridbay_core::agent::RunId;
use gridbay_core::effect::Effect;
use gridbay_core::input::{Fetch, Input};
use gridbay_core::key::OrderKey;
use gridbay_protocol::keys::PublicKey;

impl Body {
    pub(super) fn for_order(&mut self, effect: Effect) -> Result<(), BodyError> {
        match effect {
            Effect::SaveOrder { order, record } => {
                let saved = self.tools.orders.save(&order, &record);
                saved.map_err(disk("an order's record"))?;
            }
            Effect::AppendOutput {
                order,
                task,
                stderr,
                from,
                bytes,
            } => {
                let kept = self.tools.orders.append(&order, task, stderr, from, &bytes);
                kept.map_err(disk("a job's output"))?;
            }
            Effect::ResetOutput {
                order,
                task,
                attempt,
            } => {
                let reset = self.tools.orders.reset(&order, task, attempt);
                reset.map_err(disk("a job's output"))?;
            }
            Effect::FetchOutputs {
                order,
                job,
                from,
                paths,
            } => self.fetch_outputs(order, job, from, paths),
            Effect::KeepFiles { order, job } => {
                let kept = self.tools.orders.keep_files(&order, job.task, job.attempt);
                kept.map_err(disk("a job's files"))?;
            }
            Effect::FetchCheckpoint { order, job, from } => {
                self.fetch_checkpoint(order, job, from);
            }
            Effect::FetchCopy {
                order,
                job,
                seller,
                keepers,
                newer_than,
            } => self.fetch_copy(order, (job, seller), keepers, newer_than),
            Effect::KeepCheckpoint { order, task, keep } => {
                self.keep_checkpoint(&order, task, keep)?;
            }
            // The others are not of an order, see `perform`.
            _ => {}
        }
        Ok(())
    }

    fn fetch_outputs(&mut self, order: OrderKey, job: RunId, from: PublicKey, paths: Vec<String>) {
        let asker = Asker::new(self.tools.overlay.clone());
        let folder = self
            .tools
            .orders
            .fetched_files(&order, job.task, job.attempt);
        let most = self.output_bytes(&job);
        let (handle, room) = (self.handle.clone(), self.tools.room.clone());
        self.spawn(async move {
            let pulled =
                files::pull_outputs(&asker, &from, job, &paths, &folder, most, &room).await;
            let fetch = match &pulled {
                Ok(()) => Fetch::Whole,
                Err(error) => {
                    tracing::warn!(%job, %error, "fetching");
                    error.of_outputs()
                }
            };
            if fetch != Fetch::Whole {
                // They come whole the next time, or not at all.
                let _none = std::fs::remove_dir_all(&folder);
            }
            handle.deliver(Input::Fetched { order, job, fetch }).await;
        });
    }
}

impl Body {
    /// Bytes of output files that a seller may send for a task: no more than its unit's disk can
    /// hold, and than each task of its order may have.
    fn output_bytes(&self, job: &RunId) -> u64 {
        let state = self.core().state();
        let lease = state.lease(&job.lease);
        let class = lease.and_then(|l| state.class(&l.class));
        let of_unit = class.map_or(u64::MAX, |c| c.key.disk_bytes());
        let tasks = lease
            .and_then(|l| state.user(&l.order))
            .map_or(1, |u| u.tasks);
        files::output_bytes(of_unit, tasks)
    }
}
