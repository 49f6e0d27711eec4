//! Questions of owners' nodes and their answers, as bytes.
//!
//! They go over the overlay's requests, beside the questions of agents. Their first byte begins no
//! value of the codec, so neither can be taken for the other, and a question is told apart before
//! anything of it is parsed.

use super::signed::{Challenge, Signed};
use super::{ANSWER_BYTES, QUESTION_BYTES};
use gridbay_protocol::codec;
use serde::{Deserialize, Serialize};

/// The first byte.
const MARK: u8 = 0xff;

/// A question of a node whose user may be this node's owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// A number to sign.
    Challenge,
    /// An order.
    Order(Box<Signed>),
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The number.
    Challenge(Challenge),
    /// No. It is the only word that strangers hear of an order.
    Refused,
    /// This asker has asked too often; what it asked was not looked at.
    Later,
    /// What came of the order, as JSON.
    Done(String),
    /// Why it was not carried out, as JSON.
    Failed(String),
}

/// Whether bytes are a question of this kind.
pub fn is_question(bytes: &[u8]) -> bool {
    bytes.first() == Some(&MARK)
}

impl Question {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![MARK];
        bytes.extend(codec::encode(self));
        bytes
    }
    /// The question, if bytes are one.
    pub fn decode(bytes: &[u8]) -> Option<Question> {
        let rest = bytes.strip_prefix(&[MARK])?;
        codec::decode(rest, QUESTION_BYTES).ok()
    }
}

impl Answer {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }
    /// The answer, if bytes are one.
    pub fn decode(bytes: &[u8]) -> Option<Answer> {
        codec::decode(bytes, ANSWER_BYTES).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentRequest;

    #[test]
    fn a_question_is_no_question_of_an_agent_nor_the_other_way_round() {
        let own = Question::Challenge.encode();
        assert!(is_question(&own));
        assert!(codec::decode::<AgentRequest>(&own, QUESTION_BYTES).is_err());
        assert_eq!(Question::decode(&own), Some(Question::Challenge));
        let agents = codec::encode(&AgentRequest::Genesis);
        assert!(!is_question(&agents) && Question::decode(&agents).is_none());
        let mut long = own;
        long.resize(QUESTION_BYTES + 2, 0);
        assert!(Question::decode(&long).is_none());
        assert!(!is_question(&[]), "a ping");
    }
}
