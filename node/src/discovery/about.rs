//! This node's statements about itself: attributes, round trips to landmarks, and in the DHT the
//! buckets it is in.
//!
//! Landmarks are the nodes of the [`LANDMARKS`](limits::LANDMARKS) validators with the lowest
//! transport keys, so that all nodes measure the same ones; a landmark is its own, at the least
//! distance there is. A round trip is smoothed over some measurements and said in steps
//! ([`roundtrip::coarse`]).

use super::Discovery;
use crate::body::{BodyGone, Message};
use crate::overlay::Reach;
use gridbay_core::Core;
use gridbay_core::adverts::About;
use gridbay_core::input::Input;
use gridbay_core::query::bucket::{self, Bucket};
use gridbay_core::query::roundtrip;
use gridbay_core::relay::{GIVES, SELLS};
use gridbay_protocol::advert::RoundTrip;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often it is looked whether something changed.
const PERIOD: Duration = Duration::from_secs(5);
/// Weight of what was measured before, against one new measurement.
const MEMORY: u64 = 3;

/// The known round trip to a landmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Trip {
    /// Smoothed, in microseconds.
    micros: u64,
    /// The last statements.
    said: Option<u16>,
}

impl Trip {
    fn measured(self, micros: u64) -> Trip {
        let micros = match self.said {
            None => micros,
            Some(_) => (self.micros * MEMORY + micros) / (MEMORY + 1),
        };
        Trip {
            micros,
            said: roundtrip::coarse(micros, self.said),
        }
    }
}

impl Discovery {
    /// Keeps the own advert and the DHT up to date, until the node stops.
    pub(super) async fn tell(&self, attributes: BTreeMap<String, String>) {
        let mut trips: BTreeMap<PublicKey, Trip> = BTreeMap::new();
        let mut provided: BTreeSet<Bucket> = BTreeSet::new();
        loop {
            let own = self.own;
            match self
                .body
                .query(move |core| (landmarks(core), buckets(core, &own)))
                .await
            {
                Ok((landmarks, buckets)) => {
                    self.measure(&landmarks, &mut trips);
                    // Told again each time: a core that was opened anew has forgotten it.
                    let mut about = about(&attributes, &trips);
                    if !self.is_reached() {
                        about.attributes.remove(SELLS);
                        about.attributes.remove(GIVES);
                    }
                    let input = Input::About(about);
                    let _gone = self.body.send(Message::Input(input));
                    self.provide(buckets, &mut provided);
                }
                Err(BodyGone::Stopped) => return,
                Err(BodyGone::Busy | BodyGone::Halted) => {}
            }
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// Whether others reach this node, so that it may say that it relays. On one machine all do.
    fn is_reached(&self) -> bool {
        let reach = self.net.whereabouts().reach;
        matches!(reach, Reach::Public | Reach::Local)
    }

    /// Notes round trips to landmarks. A landmark that is not connected now keeps its last figure.
    fn measure(&self, landmarks: &BTreeSet<PublicKey>, trips: &mut BTreeMap<PublicKey, Trip>) {
        trips.retain(|landmark, _| landmarks.contains(landmark));
        let mut measured = self.measured();
        measured.insert(self.own, 0);
        for landmark in landmarks {
            if let Some(micros) = measured.get(landmark) {
                let trip = trips.entry(*landmark).or_default();
                *trip = trip.measured(*micros);
            }
        }
    }

    /// Says in the DHT what was not said there yet. The overlay repeats it.
    fn provide(&self, buckets: Vec<Bucket>, provided: &mut BTreeSet<Bucket>) {
        if self.net.peers().is_empty() {
            return;
        }
        for bucket in buckets {
            let new = !provided.contains(&bucket);
            if new
                && self
                    .net
                    .provide(bucket.kind, bucket.name.as_bytes())
                    .is_ok()
            {
                provided.insert(bucket);
            }
        }
    }
}

fn landmarks(core: &Core) -> BTreeSet<PublicKey> {
    let validators = core.state().validators();
    let nodes: BTreeSet<PublicKey> = validators.members().iter().map(|v| v.node).collect();
    nodes.into_iter().take(limits::LANDMARKS).collect()
}

/// The buckets of the own advert as it was last said.
fn buckets(core: &Core, own: &PublicKey) -> Vec<Bucket> {
    let shelf = core.shelf_of(own);
    let subjects = shelf.subjects(&BTreeMap::new());
    let selling = subjects.iter().find(|subject| !subject.lines.is_empty());
    selling.map(bucket::of_node).unwrap_or_default()
}

fn about(attributes: &BTreeMap<String, String>, trips: &BTreeMap<PublicKey, Trip>) -> About {
    let said = |(to, trip): (&PublicKey, &Trip)| {
        Some(RoundTrip {
            to: *to,
            ms: trip.said?,
        })
    };
    About {
        attributes: attributes.clone(),
        round_trips: trips.iter().filter_map(said).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trip_is_smoothed_and_said_in_steps() {
        let first = Trip::default().measured(9_000);
        assert_eq!((first.micros, first.said), (9_000, Some(10)));
        let spike = first.measured(13_000);
        assert_eq!((spike.micros, spike.said), (10_000, Some(10)));
        assert_eq!(spike.measured(400_000).said, Some(150));
        assert_eq!(Trip::default().measured(3_000_000).said, None);
    }
}
