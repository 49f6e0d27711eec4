//! Questions of other nodes: what the seller's agent and the adverts answer, and what the body has
//! to read for the answer.

use crate::agent::{ADVERTS_PAGE, AgentReply, AgentRequest, Copy, KeepRefusal, POLL_JOBS};
use crate::core::Core;
use crate::effect::Effect;
use crate::input::{AnswerToken, Now};
use crate::relay::Signed;
use gridbay_protocol::keys::PublicKey;

impl Core {
    pub(crate) fn asked(
        &mut self,
        now: Now,
        token: AnswerToken,
        from: PublicKey,
        request: AgentRequest,
        effects: &mut Vec<Effect>,
    ) {
        let reply = match request {
            AgentRequest::Start(start) => {
                match self.seller.start(self.host.state(), from, *start, effects) {
                    Ok(()) => AgentReply::Ok,
                    Err(why) => AgentReply::Refused(why),
                }
            }
            AgentRequest::Stop(job) => {
                self.seller.buyer_stops(&from, &job, effects);
                AgentReply::Ok
            }
            AgentRequest::Connect(cluster) => {
                let state = self.host.state();
                let visited = self.buyer.visited_lease(&cluster.lease);
                let guest = visited.is_some_and(|visited| visited.owner == from);
                return self
                    .seller
                    .connect(state, token, (&from, guest), *cluster, effects);
            }
            AgentRequest::Visit(visit) => {
                let state = self.host.state();
                self.buyer.visited(state, &from, &visit, now.mono_ms)
            }
            AgentRequest::Relay(wish) => {
                let state = self.host.state();
                return self.seller.relay(state, token, &wish, now, effects);
            }
            AgentRequest::Poll(jobs) if jobs.len() <= POLL_JOBS => {
                return self.seller.poll(token, &from, jobs, effects);
            }
            AgentRequest::Advert => {
                let own = self.adverts.own(self.host.state());
                AgentReply::Adverts(own.cloned().into_iter().collect())
            }
            AgentRequest::Adverts(after) => {
                let page = self.adverts.page(self.host.state(), after, ADVERTS_PAGE);
                AgentReply::Adverts(page)
            }
            AgentRequest::Keep(copy) => match self.keep(now, from, *copy) {
                Ok(pull) => {
                    effects.push(pull);
                    AgentReply::Ok
                }
                Err(why) => AgentReply::NotKept(why),
            },
            request => match self.read(now, token, &from, request) {
                Some(read) => return effects.push(read),
                None => AgentReply::NotFound,
            },
        };
        effects.push(Effect::Answer { token, reply });
    }

    /// A seller's node wants a copy kept here.
    fn keep(
        &mut self,
        now: Now,
        from: PublicKey,
        copy: Signed<Copy>,
    ) -> Result<Effect, KeepRefusal> {
        let known = self.seller.knows(&copy.said.job.lease);
        let here = (self.host.state(), &self.node);
        let short = self.seller.is_short();
        self.keeper
            .offered(here, from, copy, (known, short), now.mono_ms)
    }

    /// What the body has to read of a local job for the answer, if the asker may have it. Genesis,
    /// contents and the port of the data plane are answered by the body alone, which has them.
    fn read(
        &mut self,
        now: Now,
        token: AnswerToken,
        asker: &PublicKey,
        request: AgentRequest,
    ) -> Option<Effect> {
        match request {
            AgentRequest::Output { job, path, from } => {
                let may = self.seller.may_read(asker, &job, &path);
                may.then_some(Effect::ReadOutput {
                    token,
                    job,
                    path,
                    from,
                })
            }
            AgentRequest::Links(lease) => {
                let visited = self.buyer.visited_lease(&lease);
                let guest = visited.is_some_and(|visited| visited.owner == *asker);
                let others = self.seller.others((asker, guest), &lease)?;
                Some(Effect::ShowLinks {
                    token,
                    lease,
                    others,
                })
            }
            request => self.read_progress(now, token, asker, request),
        }
    }

    /// The same of what a run keeps of its progress: of a local one, or of another seller's of
    /// which a copy is kept here.
    fn read_progress(
        &mut self,
        now: Now,
        token: AnswerToken,
        asker: &PublicKey,
        request: AgentRequest,
    ) -> Option<Effect> {
        match request {
            AgentRequest::Checkpoint(job) => {
                let keeps = self.seller.shows_checkpoint(asker, &job)?;
                let folder = keeps.folder.clone();
                self.seller.note_copy(&job, now.mono_ms);
                let keeper = self.seller.keeper_of(self.host.state(), &job.lease);
                Some(Effect::ShowCheckpoint {
                    token,
                    job,
                    folder,
                    keeper,
                })
            }
            AgentRequest::CopyOf { job, seller } => {
                let (_, copy) = self.keeper.shows(asker, &job, &seller)?;
                let reply = AgentReply::Copy(Box::new(copy.clone()));
                Some(Effect::Answer { token, reply })
            }
            AgentRequest::Kept {
                job,
                content,
                from,
                seller: Some(seller),
            } => {
                let (slot, _) = self.keeper.shows(asker, &job, &seller)?;
                Some(Effect::ReadCopy {
                    token,
                    slot,
                    content,
                    from,
                })
            }
            AgentRequest::Kept {
                job, content, from, ..
            } => {
                let state = self.host.state();
                let may = self.seller.reads_copy(state, asker, &job, now.mono_ms);
                may.then_some(Effect::ReadKept {
                    token,
                    job,
                    content,
                    from,
                })
            }
            _ => None,
        }
    }
}
