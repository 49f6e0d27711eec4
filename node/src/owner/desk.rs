//! Where questions of owners' nodes are answered, and orders are carried out.

use super::incoming::{Announced, Begin};
use super::types::{Desired, Earnings, Order, Outcome, RemoteStatus, Setting};
use super::{Asked, Kind, Verdict, agent, limits, recent};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::audit;
use crate::backend::failure::{disk, internal, usage};
use crate::backend::{Node, NodeBackend};
use crate::body::ask::Asker;
use gridbay_core::input::Command;
use gridbay_core::steer::wire::Answer as Word;
use gridbay_protocol::keys::PublicKey;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Pause after a command that the core did not take at the start.
const AGAIN: Duration = Duration::from_secs(2);

/// Answers questions until there is nobody left to ask any.
pub(crate) async fn attend(node: Node, mut asked: mpsc::Receiver<Asked>) {
    if node.parts.owner.desired().drain {
        tokio::spawn(drained(Arc::clone(&node)));
    }
    while let Some(question) = asked.recv().await {
        let verdict = node.parts.owner.judge(&question.from, &question.bytes);
        let word = match verdict {
            Verdict::Challenge(challenge) => Word::Challenge(challenge),
            Verdict::Refuse(Kind::Often) => Word::Later,
            Verdict::Refuse(_) => Word::Refused,
            Verdict::Odd => failed(&usage(
                "the order makes no sense to this version",
                "bring both nodes to one version",
            )),
            Verdict::Obey(order) => {
                tracing::info!(?order, "the owner orders");
                tokio::spawn(obey(
                    Arc::clone(&node),
                    question.from,
                    question.request,
                    order,
                ));
                continue;
            }
        };
        // The asker may be gone; it learns of that by itself.
        let _gone = node.parts.overlay.respond(question.request, word.encode());
    }
}

/// Drains a node that was told so in an earlier run, as soon as its core takes the command.
async fn drained(node: Node) {
    while node.parts.owner.desired().drain {
        if node.drain().await.is_ok() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn obey(node: Node, from: PublicKey, request: crate::overlay::RequestId, order: Order) {
    let what = order.changes();
    let outcome = carry_out(&node, from, order).await;
    if let Some(what) = what {
        note(&node, &from, what, &outcome).await;
    }
    let word = match outcome {
        Ok(outcome) => match json(&outcome) {
            Ok(text) => Word::Done(text),
            Err(error) => failed(&error),
        },
        Err(error) => failed(&error),
    };
    if let Err(error) = node.parts.overlay.respond(request, word.encode()) {
        tracing::debug!(%error, "an answer to the owner was dropped");
    }
}

/// Keeps what the owner changed from another node.
async fn note(node: &Node, from: &PublicKey, what: &'static str, outcome: &Answer<Outcome>) {
    let (outcome, status) = match outcome {
        Ok(_) => (audit::Outcome::Done, None),
        Err(error) if error.code.status().is_server_error() => {
            (audit::Outcome::Failed, Some(error.code.status().as_u16()))
        }
        Err(error) => (audit::Outcome::Refused, Some(error.code.status().as_u16())),
    };
    let action = audit::Action {
        who: audit::Who::Owner {
            node: from.to_string(),
        },
        what: format!("owner {what}"),
        place: None,
        detail: BTreeMap::new(),
        outcome,
        status,
    };
    node.parts.audit.write(action).await;
}

/// Has an update pulled from the node that orders it, if it is let in; answers at once.
async fn take(node: &Node, from: PublicKey, update: Announced) -> Answer<Outcome> {
    let owner = &node.parts.owner;
    let agent = agent::status(&owner.agent).map(|agent| agent.trial);
    let begin = owner.incoming.begin(update, agent, &node.parts.room);
    let begin = begin.map_err(|why| why.told())?;
    if begin == Begin::Now {
        let node = Arc::clone(node);
        tokio::spawn(async move {
            let asker = Asker::new(node.parts.overlay.clone());
            let incoming = &node.parts.owner.incoming;
            incoming
                .bring(&asker, &from, update, &node.parts.room)
                .await;
        });
    }
    node.remote_status().await
}

fn failed(error: &ApiError) -> Word {
    json(error).map_or(Word::Refused, Word::Failed)
}

fn json(value: &impl Serialize) -> Answer<String> {
    serde_json::to_string(value).map_err(|error| internal("an answer has no JSON form", error))
}

/// Carries out an order that the owner gave from a node.
async fn carry_out(node: &Node, from: PublicKey, order: Order) -> Answer<Outcome> {
    match order {
        Order::Status => node.remote_status().await,
        Order::Earnings { limit } => {
            let limit = limit.min(limits::MOVEMENTS) as usize;
            Ok(Outcome::Earnings(Box::new(Earnings {
                balance: node.balance(None).await?,
                movements: node.history(None, limit).await?,
            })))
        }
        Order::Set(setting) => node.set(&setting).map(Box::new).map(Outcome::Set),
        Order::Drain => {
            node.wish(|desired| Ok(desired.draining(true)))?;
            node.command(Command::Drain).await?;
            node.remote_status().await
        }
        Order::Resume => {
            node.wish(|desired| Ok(desired.draining(false)))?;
            node.command(Command::Resume).await?;
            node.remote_status().await
        }
        Order::Update { content, bytes } => take(node, from, Announced { content, bytes }).await,
        Order::Log { lines } => Ok(Outcome::Log(log(node, lines as usize))),
        Order::Collect { amount } => node.collect(amount).await,
        Order::Reset { account, lose } => node.reset(account, lose).await,
    }
}

/// The last lines of the agent, then those of the node, so many of each.
fn log(node: &Node, lines: usize) -> Vec<String> {
    let agent = agent::status(&node.parts.owner.agent).unwrap_or_default();
    let skipped = agent.log.len().saturating_sub(lines);
    let told = agent.log.into_iter().skip(skipped);
    told.chain(recent::last(lines)).collect()
}

impl NodeBackend {
    pub(super) async fn remote_status(&self) -> Answer<Outcome> {
        let owner = &self.parts.owner;
        let mut agent = agent::status(&owner.agent);
        // The log is asked for by itself.
        agent.iter_mut().for_each(|agent| agent.log.clear());
        Ok(Outcome::Status(Box::new(RemoteStatus {
            node: self.node().await?,
            agent,
            orders: owner.desired(),
            update: owner.incoming.last(),
        })))
    }

    fn set(&self, setting: &Setting) -> Answer<Desired> {
        if agent::status(&self.parts.owner.agent).is_none() {
            return Err(ApiError::new(
                ErrorCode::Refused,
                "no agent runs there, so nobody sets its offers by that",
                "on that machine: gridbay offer set; status, earnings, drain and resume work",
            ));
        }
        self.wish(|desired| {
            let after = desired.with(setting);
            after.map_err(|error| Wrong::Order(usage(error.to_string(), error.hint())))
        })
    }

    pub(super) fn wish(
        &self,
        how: impl FnOnce(&Desired) -> Result<Desired, Wrong>,
    ) -> Answer<Desired> {
        let changed = self.parts.owner.change(how);
        changed.map_err(|wrong| match wrong {
            Wrong::Order(error) => error,
            Wrong::Disk(error) => disk("writing what the owner told", &error),
        })
    }
}

/// Why a wish is not kept.
pub(super) enum Wrong {
    Order(ApiError),
    Disk(io::Error),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Wrong {
        Wrong::Disk(error)
    }
}
