//! `peer ping`: round trips one after the other, each with its path.

use super::tables::{millis, tail};
use crate::api::client::Client;
use crate::api::types::{Path, PeerRequest, Pinged};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::ui;
use clap::Args;
use serde::Serialize;
use std::time::Duration;

/// Pause between two round trips.
const PAUSE: Duration = Duration::from_millis(500);

/// Arguments.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct PingArgs {
    /// A peer id or node key, the beginning of either or the name of a connected peer, or an
    /// address that ends in /p2p/ID
    #[arg(value_name = "PEER")]
    who: String,
    /// How many round trips
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
}

/// What `-o json` shows.
#[derive(Debug, Serialize)]
struct Pings {
    pings: Vec<Pinged>,
    lost: u32,
}

impl PingArgs {
    /// Fails if no round trip came back.
    pub(super) async fn run(self, at: &Context, client: &Client) -> Result<(), CliError> {
        let request = PeerRequest { who: self.who };
        let mut done = Pings {
            pings: Vec::new(),
            lost: 0,
        };
        let mut failure = None;
        for turn in 0..self.count {
            if turn > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let answer = client.post::<Pinged>("/peers/ping", &request, None).await;
            match answer.during("the peer was not reached") {
                Ok(ping) => {
                    if at.format.is_text() {
                        let text = line(turn + 1, &ping, done.pings.last());
                        ui::out(text.as_bytes())?;
                    }
                    done.pings.push(ping);
                }
                Err(error) => {
                    ui::note(&format!("{}: {}", turn + 1, error.why));
                    done.lost += 1;
                    failure = Some(error);
                }
            }
        }
        match failure {
            Some(error) if done.pings.is_empty() => Err(error),
            _ => at.tell(&done, summary),
        }
    }
}

/// One round trip; says so when it is the first that took another kind of path.
fn line(turn: u32, ping: &Pinged, before: Option<&Pinged>) -> String {
    let way = match &ping.via {
        Some(relay) => format!("via {}", tail(relay)),
        None => ping.path.name().to_owned(),
    };
    let was_relayed = before.map(|ping| ping.path == Path::Relayed);
    let news = match (was_relayed, ping.path == Path::Relayed) {
        (Some(true), false) => "  now direct",
        (Some(false), true) => "  no longer direct",
        _ => "",
    };
    let time = millis(ping.micros);
    let text = format!("{turn}: {time}  {way}  {}{news}", ping.address);
    format!("{}\n", ui::clean(&text))
}

fn summary(done: &Pings) -> String {
    let times = || done.pings.iter().map(|ping| ping.micros);
    let (count, sum) = (times().count() as u64, times().sum::<u64>());
    let (Some(least), Some(most)) = (times().min(), times().max()) else {
        return String::new();
    };
    let [least, mean, most] = [least, sum / count, most].map(millis);
    let lost = done.lost;
    format!("{count} came back, {lost} lost; least {least}, mean {mean}, most {most}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ping(micros: u64, path: Path) -> Pinged {
        Pinged {
            peer: "12D3KooWx".to_owned(),
            micros,
            path,
            via: (path == Path::Relayed).then(|| "12D3KooWEyoppNCUx8Yx".to_owned()),
            address: "/ip4/192.0.2.7/tcp/1".to_owned(),
        }
    }

    #[test]
    fn a_path_that_became_direct_is_told_once() {
        let (relayed, direct) = (ping(40_000, Path::Relayed), ping(12_345, Path::Quic));
        let first = line(1, &relayed, None);
        assert_eq!(
            first,
            "1: 40.0 ms  via ppNCUx8Yx  /ip4/192.0.2.7/tcp/1\n"
                .replace("ppNCUx8Yx", tail("12D3KooWEyoppNCUx8Yx"))
        );
        assert!(line(2, &direct, Some(&relayed)).ends_with("now direct\n"));
        assert!(!line(3, &direct, Some(&direct)).contains("now direct"));
        assert!(line(4, &relayed, Some(&direct)).contains("no longer direct"));
    }

    #[test]
    fn the_summary_counts() {
        let done = Pings {
            pings: vec![ping(10_000, Path::Tcp), ping(20_000, Path::Tcp)],
            lost: 1,
        };
        let text = "2 came back, 1 lost; least 10.0 ms, mean 15.0 ms, most 20.0 ms\n";
        assert_eq!(summary(&done), text);
    }
}
