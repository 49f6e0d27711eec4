//! Commands of the node, to the rooms that they concern.

use libp2p::swarm::dial_opts::PeerCondition;

use super::Task;
use super::orders::dial;
use crate::overlay::command::Command;
use crate::overlay::reach::addresses::{configured, dialable, is_circuit};

impl Task {
    pub(super) fn on_command(&mut self, command: Command) {
        let Self {
            swarm,
            peers,
            dht,
            reach,
            wire,
            ..
        } = self;
        let behaviour = swarm.behaviour_mut();
        let (gossip, kad) = (&mut behaviour.gossip, &mut behaviour.kad);
        let (request, lines) = (&mut behaviour.request, &mut behaviour.lines);
        match command {
            Command::Publish { topic, bytes } => wire.publish(gossip, topic, bytes),
            Command::Report { id, verdict } => wire.report(gossip, id, verdict),
            Command::Send {
                peers: to,
                line,
                bytes,
            } => wire.send(lines, peers, to, line, &bytes),
            Command::Request { peer, bytes, reply } => {
                wire.request(request, peers, peer, bytes, reply);
            }
            Command::Respond { id, bytes } => wire.respond(request, peers, id, bytes),
            Command::Keep { peer, addresses } => {
                reach.named(&addresses);
                peers.keep(peer, &addresses);
            }
            Command::Release { peer } => peers.release(peer),
            Command::Rest { peers: some } => peers.rest(&some),
            Command::Dial { peer, addresses } => {
                reach.named(&addresses);
                let condition = PeerCondition::DisconnectedAndNotDialing;
                dial(swarm, peer, dialable(&addresses), condition);
            }
            Command::Find { key, reply } => dht.look_up(kad, key.to_vec(), Some(reply)),
            Command::Connect {
                peer,
                addresses,
                reply,
            } => {
                reach.named(&addresses);
                dht.seek_for_caller(kad, peers, peer, configured(&addresses), reply);
            }
            Command::DialDirect { peer } => {
                let mut direct = peers.addresses(&peer);
                direct.retain(|address| !is_circuit(address));
                if !direct.is_empty() {
                    dial(swarm, peer, direct, PeerCondition::Always);
                }
            }
            Command::Packets { peer, reply } => behaviour.packets.open(peer, reply),
            Command::Record { peer, reply } => dht.look_up_for_caller(kad, peers, peer, reply),
            Command::Mark { peer, mark } => peers.mark(gossip, peer, mark),
            Command::Provide { key } => dht.provide(key),
            Command::Providers { key, reply } => dht.look_up_providers(kad, key, reply),
            Command::Known { reply } => {
                // The caller may have given up already.
                let _unheard = reply.send(peers.good());
            }
            Command::Penalise { peer, points } => peers.penalise(gossip, peer, points),
            Command::Ban { peer, time } => peers.ban(peer, time),
        }
        self.route();
    }
}
