//! Options of `run --reserve`.

use super::{Ahead, NodeGroup, Start};
use crate::buy::flags::NOT_SENT;
use crate::cli::{CliError, Exit};
use crate::config::parse;
use clap::Args;
use gridbay_protocol::mechanism::reservation::Channels;

/// Reserving nodes ahead of time.
#[derive(Clone, Debug, Args)]
pub(in crate::buy) struct ReserveFlags {
    /// Reserve all nodes together, ahead of time, for all of --time; a winner pays its bid
    #[arg(long, conflicts_with = "array")]
    reserve: bool,
    /// So many of the nodes from these offers, by their ids or how these begin (see offer list);
    /// the others from any
    #[arg(long, value_name = "N=OFFER,...", requires = "reserve", value_parser = group)]
    group: Vec<NodeGroup>,
    /// Earliest start, from now as in 2h, or a slot as in @123
    #[arg(long, value_name = "TIME", requires = "reserve", value_parser = start)]
    from: Option<Start>,
    /// Latest start, from now as in 8h, or a slot as in @456 [default: the last that is for sale]
    #[arg(long, value_name = "TIME", requires = "reserve", value_parser = start)]
    until: Option<Start>,
    /// Channels of which the job needs one for itself; it finds its number in GRIDBAY_CHANNEL
    #[arg(long, value_name = "LOW-HIGH", requires = "reserve", value_parser = channels)]
    channel: Option<Channels>,
}

impl ReserveFlags {
    /// How the order gets its nodes, if it reserves.
    pub(in crate::buy) fn how(&self) -> Option<Ahead> {
        self.reserve.then(|| Ahead {
            groups: self.group.clone(),
            from: self.from.unwrap_or(Start::In(0)),
            until: self.until,
            channels: self.channel,
        })
    }
    /// Nodes of all groups.
    pub(in crate::buy) fn nodes(&self) -> Result<Option<u32>, CliError> {
        let mut sum = 0u32;
        for group in &self.group {
            sum = sum.checked_add(group.nodes).ok_or_else(|| {
                let why = "the groups have more nodes than any network";
                CliError::new(Exit::USAGE, NOT_SENT, why, "ask for fewer")
            })?;
        }
        Ok((sum > 0).then_some(sum))
    }
}

fn group(text: &str) -> Result<NodeGroup, String> {
    let wrong = || format!("`{text}` is no group: write N=OFFER,OFFER with ids of offers");
    let digits = |offer: &&str| !offer.is_empty() && offer.bytes().all(|b| b.is_ascii_hexdigit());
    let (nodes, offers) = text.split_once('=').ok_or_else(wrong)?;
    let offers: Vec<&str> = offers.split(',').collect();
    if !offers.iter().all(digits) {
        return Err(wrong());
    }
    let group = NodeGroup {
        nodes: nodes.parse().map_err(|_| wrong())?,
        offers: offers.into_iter().map(str::to_ascii_lowercase).collect(),
    };
    if group.nodes == 0 {
        Err(wrong())
    } else {
        Ok(group)
    }
}

fn start(text: &str) -> Result<Start, String> {
    if let Some(slot) = text.strip_prefix('@') {
        let wrong = || format!("`{text}` is no slot: write @123");
        return slot.parse().map(Start::Slot).map_err(|_| wrong());
    }
    let span = parse::duration(text.strip_prefix('+').unwrap_or(text))?;
    let seconds = u32::try_from(span.as_millis().div_ceil(1_000));
    seconds
        .map(Start::In)
        .map_err(|_| format!("{text} is too far away"))
}

fn channels(text: &str) -> Result<Channels, String> {
    let wrong = || format!("`{text}` names no channels: write 3 or 1-8");
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let channel = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    let (low, high) = (channel(low)?, channel(high)?);
    if low <= high {
        Ok(Channels { low, high })
    } else {
        Err(wrong())
    }
}
