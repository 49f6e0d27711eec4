//! Options of `run --reserve`.

use super::NOT_SENT;
use crate::api::types::{Ahead, How, NodeGroup, Start};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::config::parse;
use clap::Args;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::reservation::Channels;

/// Reserving nodes ahead of time.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ReserveArgs {
    /// Reserve all nodes together, ahead of time, for all of --time; a winner pays his bid
    #[arg(long, conflicts_with_all = ["array", "buy", "hard", "provider"])]
    pub(in crate::cli) reserve: bool,
    /// So many of the nodes from these offers (ids, see offer list -o json); the others from any
    #[arg(long, value_name = "N=OFFER,...", requires = "reserve", value_parser = group)]
    pub(in crate::cli) group: Vec<NodeGroup>,
    /// Earliest start, from now as in 2h, or a slot as in @123
    #[arg(long, value_name = "TIME", requires = "reserve", value_parser = start)]
    pub(in crate::cli) from: Option<Start>,
    /// Latest start, from now as in 8h, or a slot as in @456 [default: the last that is for sale]
    #[arg(long, value_name = "TIME", requires = "reserve", value_parser = start)]
    pub(in crate::cli) until: Option<Start>,
    /// Channels of which the job needs one for itself; it finds its number in GRIDBAY_CHANNEL
    #[arg(long, value_name = "LOW-HIGH", requires = "reserve", value_parser = channels)]
    pub(in crate::cli) channel: Option<Channels>,
}

impl ReserveArgs {
    /// How the order gets its nodes, if it reserves.
    pub(super) fn how(&self) -> Option<How> {
        self.reserve.then(|| {
            How::Reservation(Ahead {
                groups: self.group.clone(),
                from: self.from.unwrap_or(Start::In(0)),
                until: self.until,
                channels: self.channel,
            })
        })
    }
    /// Nodes of all groups.
    pub(super) fn nodes(&self) -> Result<Option<u32>, CliError> {
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
    let (nodes, offers) = text.split_once('=').ok_or_else(wrong)?;
    let offers = offers.split(',').map(str::parse::<OfferId>);
    let group = NodeGroup {
        nodes: nodes.parse().map_err(|_| wrong())?,
        offers: offers.collect::<Result<_, _>>().map_err(|_| wrong())?,
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

#[cfg(test)]
mod tests {
    use super::super::RunArgs;
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    fn want(words: &[&str]) -> Option<(u32, How)> {
        let words = ["run"].iter().chain(words).chain(&["--", "true"]);
        let line = Line::try_parse_from(words).ok()?;
        let want = line.run.want().ok()?;
        Some((want.nodes, want.how))
    }

    #[test]
    fn a_reservation() {
        let id = "ab".repeat(32);
        let group = format!("2={id}");
        let words = [
            "--reserve",
            "-n",
            "4",
            "--group",
            &group,
            "--from",
            "2h",
            "--until",
            "@900",
            "--channel",
            "1-8",
        ];
        let ahead = Ahead {
            groups: vec![NodeGroup {
                nodes: 2,
                offers: vec![OfferId([0xab; 32])],
            }],
            from: Start::In(7_200),
            until: Some(Start::Slot(900)),
            channels: Some(Channels { low: 1, high: 8 }),
        };
        assert_eq!(want(&words), Some((4, How::Reservation(ahead))));
        let (nodes, _) = want(&["--reserve", "--group", &group]).unwrap();
        assert_eq!(nodes, 2, "as many as the groups have");
        let (nodes, how) = want(&["--reserve"]).unwrap();
        assert_eq!((nodes, how.name()), (1, "reservation"));
    }

    #[test]
    fn wrong_words() {
        let id = "ab".repeat(32);
        for words in [
            &["--from", "2h"][..],
            &["--reserve", "--buy"],
            &["--reserve", "--array", "3"],
            &[
                "--reserve",
                "--provider",
                "b",
                "--jobs",
                "2",
                "--value",
                "1",
            ],
            &["--reserve", "--group", "2"],
            &["--reserve", "--group", "2=x"],
            &["--reserve", "--group", &format!("0={id}")],
            &["--reserve", "--from", "soon"],
            &["--reserve", "--until", "@x"],
            &["--reserve", "--channel", "8-1"],
        ] {
            assert_eq!(want(words), None, "{words:?}");
        }
    }
}
