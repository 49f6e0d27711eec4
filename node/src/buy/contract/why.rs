//! The outcomes that only orders under contract can have.

use crate::api::types::{JobReason, JobState};
use crate::buy::way::Words;

pub(super) fn words(judged: (JobState, Option<JobReason>)) -> Words {
    let (sentence, remedies) = match judged {
        (JobState::Bidding, Some(JobReason::NotSigned)) => (
            "Its contract is proposed; the provider has not signed yet.",
            vec![],
        ),
        (state, Some(JobReason::NotSigned)) => (
            "The provider did not sign the contract: it does not fit, or does not pay.",
            match state.is_final() {
                true => vec![
                    "submit it again with a higher value, fewer jobs or more time",
                    "or name another provider",
                ],
                false => vec![],
            },
        ),
        (_, Some(JobReason::Settled)) => (
            "Its contract was settled before all its jobs had been requested.",
            vec!["submit it again with a longer window"],
        ),
        _ => return Words::default(),
    };
    Words {
        sentence: Some(sentence.to_owned()),
        remedies: Some(remedies.into_iter().map(str::to_owned).collect()),
        ..Words::default()
    }
}
