//! Networks of leases: the core says who belongs to one, the data plane carries its packets.

use super::Body;
use gridbay_core::agent::AgentReply;
use gridbay_core::cluster::Cluster;
use gridbay_core::input::AnswerToken;
use gridbay_protocol::ids::LeaseId;

impl Body {
    pub(super) fn connect(&mut self, token: Option<AnswerToken>, _cluster: &Cluster) {
        if let Some(token) = token {
            self.answer(token, &AgentReply::NotFound);
        }
    }

    pub(super) fn disconnect(&mut self, _lease: &LeaseId) {}
}
