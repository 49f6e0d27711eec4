//! Says things in others' names: votes, proposals, quorums, proofs of rounds, decided blocks,
//! entries, adverts and requests of agents, signed with the wrong key, for the wrong domain, for
//! another network, or changed after they were signed.
//!
//! Attacks I1, I2, I9 and I10: no forgery may count, and nobody but the forger may be blamed. Every
//! signature covers domain, network and canonical bytes, and is checked before anything depends on
//! it.

use super::{Lie, Puppet};
use gridbay_core::agent::{AgentRequest, RunId, SignedStart, Start};
use gridbay_core::effect::Effect;
use gridbay_core::input::{AskToken, Input};
use gridbay_host::message::{
    DecidedBlock, HostMessage, Offered, Polka, RoundProof, RoundProofKind, RoundVote,
    SignedProposal, SignedVote,
};
use gridbay_protocol::advert::{Advert, SignedAdvert};
use gridbay_protocol::block::Block;
use gridbay_protocol::codec;
use gridbay_protocol::election;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{BlockId, Hash32, NetworkId, ValidatorId};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::Signature;
use gridbay_protocol::units::Credits;
use gridbay_protocol::vote::{Certificate, CertificateSignature, Proposal, Vote, VoteKind};

/// Forgeries in one whim at the most.
const BURST: u64 = 12;
/// Tokens of questions that its process did not ask.
const OWN_TOKENS: AskToken = 1 << 62;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Forger {
    /// A block that somebody proposed.
    block: Option<Box<Block>>,
    deeds: u64,
}

/// Signs bytes wrongly, in one of the ways there are.
fn signature(puppet: &mut Puppet<'_>, domain: Domain, bytes: &[u8]) -> Signature {
    let (network, key) = (puppet.network(), puppet.consensus_key());
    match puppet.rng.below(4) {
        // With a right key for the domain, but not the one that is named.
        0 => key.sign(domain, &network, bytes),
        1 => key.sign(Domain::Advert, &network, bytes),
        2 => key.sign(domain, &NetworkId(puppet.rng.bytes32()), bytes),
        _ => Signature([puppet.rng.bits() as u8; 64]),
    }
}

/// A validator other than itself.
fn victim(puppet: &mut Puppet<'_>) -> ValidatorId {
    let own = puppet.validator();
    let members = puppet.state().validators().members();
    let others: Vec<ValidatorId> = members
        .iter()
        .map(|m| m.id)
        .filter(|id| *id != own)
        .collect();
    puppet.rng.pick(&others).copied().unwrap_or_default()
}

fn vote(puppet: &mut Puppet<'_>, kind: VoteKind, block: BlockId) -> SignedVote {
    let vote = Vote {
        kind,
        height: puppet.state().height() + 1,
        round: puppet.rng.below(2) as u32,
        block: Some(block),
        validator: victim(puppet),
    };
    let signature = signature(puppet, Domain::Vote, &codec::encode(&vote));
    SignedVote { vote, signature }
}

/// A proposal in the name of the validator whose turn it is.
fn proposal(puppet: &mut Puppet<'_>, block: BlockId) -> HostMessage {
    let state = puppet.core.state();
    let (height, round) = (state.height() + 1, puppet.rng.below(2) as u32);
    let proposal = Proposal {
        height,
        round,
        block,
        valid_round: None,
        validator: election::proposer(&state.election_seed(), height, round, state.validators()),
    };
    let mut signature = signature(puppet, Domain::Proposal, &codec::encode(&proposal));
    if proposal.validator == puppet.validator() {
        signature = Signature([0; 64]);
    }
    let signed = SignedProposal {
        proposal,
        signature,
    };
    HostMessage::Proposal(Offered { signed, body: None })
}

/// Signatures of everybody over one vote, none of them right but perhaps its own.
fn quorum(puppet: &mut Puppet<'_>, vote: Vote) -> Vec<CertificateSignature> {
    let members = puppet.core.state().validators().members();
    let mut signatures = Vec::new();
    for member in members {
        let vote = Vote {
            validator: member.id,
            ..vote
        };
        let bytes = codec::encode(&vote);
        let network = puppet.network();
        signatures.push(CertificateSignature {
            validator: member.id,
            signature: puppet.consensus_key().sign(Domain::Vote, &network, &bytes),
        });
    }
    signatures
}

fn proof(puppet: &mut Puppet<'_>, block: BlockId) -> HostMessage {
    let kind = VoteKind::Precommit;
    let votes = (0..3)
        .map(|_| vote(puppet, kind, block))
        .map(|signed| RoundVote {
            kind,
            block: signed.vote.block,
            validator: signed.vote.validator,
            signature: signed.signature,
        });
    let votes = votes.collect();
    HostMessage::Round(RoundProof {
        height: puppet.state().height() + 1,
        round: puppet.rng.below(3) as u32,
        kind: RoundProofKind::Skip,
        votes,
    })
}

/// A block of the next height with a certificate that proves nothing.
fn decided(puppet: &mut Puppet<'_>, block: Block) -> HostMessage {
    let vote = Vote {
        kind: VoteKind::Precommit,
        height: block.header.height,
        round: 0,
        block: Some(block.id()),
        validator: puppet.validator(),
    };
    let certificate = Certificate {
        height: vote.height,
        round: 0,
        block: block.id(),
        signatures: quorum(puppet, vote),
    };
    HostMessage::SyncResponse(vec![DecidedBlock { block, certificate }])
}

/// All of somebody's money to itself.
fn theft(puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
    let own = puppet.core.account()?;
    let strangers = puppet.strangers();
    let account = *puppet.rng.pick(&strangers)?;
    let body = EntryBody::Transfer {
        to: own,
        amount: Credits::from_micros(puppet.rng.range(1, 1_000_000))?,
        memo: Hash32(puppet.rng.bytes32()),
    };
    let mut signed = puppet.entry_of(account, body, &puppet.account_key());
    match puppet.rng.below(4) {
        // The right signature of a key that the account does not list: not wrong, but of no effect.
        0 => {}
        1 => signed.entry.account = own,
        2 => signed.entry.network = NetworkId(puppet.rng.bytes32()),
        _ => {
            let listed = puppet.state().account(&account)?.keys.first()?.key;
            signed.entry.key = listed;
        }
    }
    Some(signed)
}

fn advert(puppet: &mut Puppet<'_>) -> Option<Vec<u8>> {
    let strangers = puppet.strangers();
    let account = *puppet.rng.pick(&strangers)?;
    let key = puppet.state().account(&account)?.keys.first()?.key;
    let advert = Advert {
        account,
        key,
        node: crate::found::node_key(puppet.somebody()),
        sequence: u64::MAX,
        valid_until: u64::MAX,
        lines: vec![],
        attributes: Default::default(),
        round_trips: vec![],
        addresses: vec![],
    };
    let signature = signature(puppet, Domain::Advert, &codec::encode(&advert));
    Some(codec::encode(&SignedAdvert { advert, signature }))
}

/// An order to start, stop or hand out what belongs to somebody's lease.
fn request(puppet: &mut Puppet<'_>) -> Option<AgentRequest> {
    let leases: Vec<_> = puppet
        .state()
        .leases()
        .map(|(id, l)| (*id, l.shares.clone()))
        .collect();
    let (lease, shares) = puppet.rng.pick(&leases)?.clone();
    let (task, attempt) = (0, puppet.rng.below(3) as u32);
    let job = RunId {
        lease,
        task,
        attempt,
    };
    let spec = JobSpec {
        argv: vec!["sleep".into(), "1".into()],
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        wall_seconds: 600,
        network: false,
        internet: false,
        checkpoint: None,
    };
    Some(match puppet.rng.below(3) {
        0 => AgentRequest::Stop(job),
        1 => AgentRequest::Output {
            job,
            path: "result".into(),
            from: 0,
        },
        _ => {
            let start = Start {
                job,
                offer: shares.first()?.offer,
                tasks: 1,
                spec,
                salt: puppet.rng.bytes32(),
                key: puppet.account_key().public(),
                resume: None,
            };
            let key = puppet.account_key();
            AgentRequest::Start(Box::new(SignedStart::new(&puppet.network(), start, &key)))
        }
    })
}

impl Forger {
    fn forge(&self, puppet: &mut Puppet<'_>) -> Option<Effect> {
        let to = puppet.somebody();
        let block = self.block.as_ref().map(|block| block.id());
        let block = block.unwrap_or(BlockId(puppet.rng.bytes32()));
        let message = match puppet.rng.below(9) {
            0 => HostMessage::Vote(vote(puppet, VoteKind::Prevote, block)),
            1 => HostMessage::Vote(vote(puppet, VoteKind::Precommit, block)),
            2 => proposal(puppet, block),
            3 => {
                let vote = vote(puppet, VoteKind::Prevote, block).vote;
                HostMessage::Polka(Polka {
                    height: vote.height,
                    round: vote.round,
                    block,
                    signatures: quorum(puppet, vote),
                })
            }
            4 => proof(puppet, block),
            5 => {
                let block = self.block.as_ref()?;
                decided(puppet, (**block).clone())
            }
            6 => return advert(puppet).map(Effect::Gossip),
            7 => {
                let request = request(puppet)?;
                return Some(Effect::Ask {
                    token: OWN_TOKENS + self.deeds,
                    to: crate::found::node_key(to),
                    request,
                });
            }
            _ => HostMessage::Entries(vec![theft(puppet)?]),
        };
        Some(puppet.send(to, &message))
    }
}

impl Lie for Forger {
    fn input(&mut self, puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        if matches!(&input, Input::Answered { token, .. } if *token >= OWN_TOKENS) {
            return None;
        }
        if let Some(HostMessage::Proposal(offered)) = super::craft::heard(&input)
            && let Some(body) = offered.body
        {
            self.block = Some(Box::new(puppet.whole(&body)));
        }
        Some(input)
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        for _ in 0..puppet.rng.range(1, BURST) {
            let forgery = self.forge(puppet);
            self.deeds += u64::from(forgery.is_some());
            out.extend(forgery);
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
