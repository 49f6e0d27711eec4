//! The owner's side: nodes with their names, and orders to them.

use super::limits;
use super::types::{Appliance, Handover, HandoverState, Instruction, Order, Outcome};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, usage};
use crate::body::ask::peer_of;
use crate::overlay::RequestError;
use gridbay_core::steer::signed::{Place, Signed};
use gridbay_core::steer::wire::{Answer as Word, Question};
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::keys::PublicKey;
use std::time::Instant;

impl NodeBackend {
    /// The nodes that this node's user owns, by name.
    pub(crate) fn appliances(&self) -> Vec<Appliance> {
        self.parts.owner.book.all()
    }

    /// Gives a node a name.
    pub(crate) fn add_appliance(&self, appliance: Appliance) -> Answer<Appliance> {
        self.parts.owner.book.add(appliance.clone())?;
        Ok(appliance)
    }

    /// Takes a name back.
    pub(crate) fn remove_appliance(&self, name: &str) -> Answer<()> {
        self.parts.owner.book.remove(name)
    }

    /// Gives an order to a node, signed by the key of this node's account.
    pub(crate) async fn order_owned(&self, instruction: Instruction) -> Answer<Outcome> {
        let Instruction { who, order } = instruction;
        let node = self.parts.owner.book.find(&who)?;
        if node == self.parts.node {
            let why = "that is this node itself";
            return Err(usage(
                why,
                "see gridbay node, gridbay offer, gridbay ledger",
            ));
        }
        let update = match &order {
            Order::Update { content, bytes } => Some((*content, *bytes)),
            _ => None,
        };
        if let Some((content, bytes)) = update {
            self.grant(node, content, bytes)?;
        }
        let answer = self.ordered(&who, node, &order).await;
        let over = match &answer {
            // The order may have come through although its answer did not.
            Err(error) if error.code == ErrorCode::Unreachable => None,
            Err(_) => update.map(|(content, _)| content),
            Ok(Outcome::Status(status)) => {
                let over = |update: &&Handover| update.state != HandoverState::Coming;
                (status.update.as_ref().filter(over)).map(|update| update.content)
            }
            Ok(_) => None,
        };
        if let Some(content) = over {
            self.parts.granted.end(&node, &content);
        }
        answer
    }

    /// Lets a node have an update that was uploaded, for some hours.
    fn grant(&self, node: PublicKey, content: ContentId, bytes: u64) -> Answer<()> {
        let granted = &self.parts.granted;
        let first = granted.store().chunk(&content, 0, limits::MAGIC.len());
        if first
            .as_ref()
            .is_none_or(|(total, first)| *total != bytes || first != limits::MAGIC)
        {
            return Err(usage(
                "that file is no update of an appliance",
                "take the gridbay-update that appliance/build --update wrote",
            ));
        }
        let time = (Instant::now(), limits::GRANT);
        granted.grant(node, content, time).map_err(|error| {
            ApiError::new(
                ErrorCode::Busy,
                error.to_string(),
                "send it again in a while",
            )
        })
    }

    /// Signs an order and sends it.
    async fn ordered(&self, who: &str, node: PublicKey, order: &Order) -> Answer<Outcome> {
        let order = serde_json::to_string(order)
            .map_err(|error| internal("an order has no JSON form", error))?;
        let challenge = match self.ask_owned(who, &node, &Question::Challenge).await? {
            Word::Challenge(challenge) => challenge,
            Word::Refused => return Err(refused(who)),
            _ => return Err(odd(who)),
        };
        let place = Place {
            network: self.parts.network,
            node,
        };
        let signed = Signed::new(&place, challenge, order, &self.parts.account_key);
        let question = Question::Order(Box::new(signed));
        match self.ask_owned(who, &node, &question).await? {
            Word::Done(text) => serde_json::from_str(&text).map_err(|_| odd(who)),
            Word::Failed(text) => Err(serde_json::from_str(&text)
                .map_or_else(|_| odd(who), |error: ApiError| error.said_by(who))),
            Word::Refused => Err(refused(who)),
            Word::Challenge(_) | Word::Later => Err(odd(who)),
        }
    }

    /// Asks, and asks again as often as a node that was asked too often takes to listen.
    async fn ask_owned(&self, who: &str, node: &PublicKey, question: &Question) -> Answer<Word> {
        let peer = peer_of(node).ok_or_else(|| odd(who))?;
        for _ in 0..limits::AGAIN {
            let bytes = question.encode();
            let asked = self.parts.overlay.request(peer, bytes, limits::ANSWER);
            let answer = asked.await.map_err(|error| unreachable(who, &error))?;
            match Word::decode(&answer).ok_or_else(|| odd(who))? {
                Word::Later => tokio::time::sleep(limits::EACH).await,
                word => return Ok(word),
            }
        }
        Err(ApiError::new(
            ErrorCode::Busy,
            format!("{who} is asked too often by this node"),
            "one order every two seconds is not too often",
        ))
    }
}

fn unreachable(who: &str, error: &RequestError) -> ApiError {
    ApiError::new(
        ErrorCode::Unreachable,
        format!("{who} does not answer: {error}"),
        "see whether it runs; gridbay peer connect KEY says which step fails",
    )
}

fn refused(who: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Refused,
        format!("{who} does not obey this node"),
        "its setting owner.key must be what gridbay appliance key prints here",
    )
}

fn odd(who: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Unreachable,
        format!("the answer of {who} makes no sense"),
        "see whether its node is of this node's version",
    )
}
