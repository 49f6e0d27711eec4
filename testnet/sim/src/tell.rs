//! Messages in words, for people who read a trace.

use gridbay_host::message::HostMessage;
use gridbay_protocol::ids::BlockId;

fn block(id: Option<BlockId>) -> String {
    id.map_or("nil".to_owned(), |id| id.to_string())
}

/// A line about the bytes of a message.
pub fn message(bytes: &[u8]) -> String {
    match HostMessage::decode(bytes) {
        Ok(HostMessage::Vote(signed)) => {
            let vote = signed.vote;
            let (height, round) = (vote.height, vote.round);
            format!(
                "{:?} {height}/{round} {} by {}",
                vote.kind,
                block(vote.block),
                vote.validator
            )
        }
        Ok(HostMessage::Proposal(offered)) => {
            let proposal = offered.signed.proposal;
            let body = if offered.body.is_some() {
                " with body"
            } else {
                ""
            };
            let (height, round) = (proposal.height, proposal.round);
            format!(
                "proposal {height}/{round} {}{body} by {}",
                proposal.block, proposal.validator
            )
        }
        Ok(HostMessage::SyncResponse(items)) => format!("{} decided blocks", items.len()),
        Ok(HostMessage::Entries(entries)) => {
            let kind = |e: &gridbay_protocol::entry::SignedEntry| {
                format!("{}:{}", e.id(), e.entry.body.kind().number)
            };
            format!(
                "entries {}",
                entries.iter().map(kind).collect::<Vec<_>>().join(" ")
            )
        }
        Ok(HostMessage::Body(body)) => format!("body {}", body.id()),
        Ok(other) => format!("{other:?}"),
        Err(_) => format!("{} bytes", bytes.len()),
    }
}
