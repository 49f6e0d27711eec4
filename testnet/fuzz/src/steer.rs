//! Questions of peers that would steer a node as its owner, and the answers to an owner.

use crate::golden::NETWORK;
use crate::{Target, Verdict, decoder, ledgers, strict};
use gridbay_core::agent::AgentRequest;
use gridbay_core::steer::signed::{Challenge, Place, Signed};
use gridbay_core::steer::wire::{Answer, Question, is_question};
use gridbay_core::steer::{ANSWER_BYTES, QUESTION_BYTES};
use gridbay_protocol::codec;
use std::time::Duration;

/// Of the node's run.
const SECRET: [u8; 32] = [0x5e; 32];

pub(crate) const QUESTION: Target = decoder(
    "owner_question",
    "bytes as a question of an owner's node: no agent's request at the same time, one encoding, and none is signed that the owner did not sign",
    question,
    || vec![Question::Challenge.encode(), order().encode()],
);
pub(crate) const ANSWER: Target = decoder(
    "owner_answer",
    "bytes as the answer to an owner's node: one encoding",
    |bytes| {
        let verdict = strict::only::<Answer>(bytes, ANSWER_BYTES, |_| {});
        assert_eq!(
            Answer::decode(bytes).is_some(),
            verdict == Verdict::Accepted
        );
        verdict
    },
    || {
        let text = "{\"set\":null}".to_owned();
        let answers = [
            Answer::Challenge(challenge()),
            Answer::Refused,
            Answer::Later,
            Answer::Done(text.clone()),
            Answer::Failed(text),
        ];
        answers.iter().map(Answer::encode).collect()
    },
);

fn place() -> Place {
    Place {
        network: NETWORK,
        node: ledgers::key(8).public(),
    }
}

fn challenge() -> Challenge {
    let asker = ledgers::key(2).public();
    Challenge::new(&SECRET, &asker, Duration::from_secs(3), 7)
}

fn order() -> Question {
    let order = "{\"status\":null}".to_owned();
    let signed = Signed::new(&place(), challenge(), order, &ledgers::key(1));
    Question::Order(Box::new(signed))
}

fn question(bytes: &[u8]) -> Verdict {
    let Some(rest) = bytes.strip_prefix(&[0xff]) else {
        assert!(!is_question(bytes) && Question::decode(bytes).is_none());
        return Verdict::Refused;
    };
    assert!(is_question(bytes));
    assert!(codec::decode::<AgentRequest>(bytes, QUESTION_BYTES).is_err());
    let verdict = strict::only::<Question>(rest, QUESTION_BYTES, |question| {
        if let Question::Order(signed) = question {
            let good = signed.is_signed(&place()) && signed.key == ledgers::key(1).public();
            assert_eq!(good, *question == order(), "only what the owner signed");
            let asker = ledgers::key(2).public();
            let ours = signed.challenge.is_for(&SECRET, &asker);
            assert_eq!(ours, signed.challenge == challenge(), "only what was given");
        }
    });
    let known = Question::decode(bytes).map(|question| question.encode());
    assert_eq!(known.is_some(), verdict == Verdict::Accepted);
    assert!(known.is_none_or(|again| again == bytes));
    verdict
}
