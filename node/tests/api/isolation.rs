//! The units that the isolation of jobs lets a node sell.

use crate::world::{Settings, World, credits, isolating, world_with};
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::OfferRequest;
use gridbay_node::doctor::Kind;
use gridbay_node::executor::{Capabilities, Selling, Tier};
use gridbay_protocol::class::Isolation;
use gridbay_protocol::offer::Primary;

/// Waits for the account, then offers the only class: the answer.
async fn offer(world: &World) -> Result<(), (ErrorCode, String)> {
    let request = OfferRequest {
        label: None,
        class: "small".into(),
        units: 4,
        reserve: credits("1"),
        buy: None,
        notice_seconds: None,
        mechanism: Primary::default(),
    };
    let set = world.backend.set_offer(request).await;
    set.map(drop).map_err(|error| (error.code, error.message))
}

#[tokio::test]
async fn a_class_that_promises_more_than_the_executor_has_shown_is_not_sold() {
    let spaces = || Selling::new(Ok(isolating()), false);
    let plain = |unisolated| {
        let found = Capabilities {
            tier: Tier::Plain,
            passed_over: Some("namespaces: refused".into()),
            ..isolating()
        };
        Selling::new(Ok(found), unisolated)
    };
    for (isolation, selling, sold, finding) in [
        (Isolation::Process, spaces(), true, None),
        (Isolation::Container, spaces(), false, None),
        (Isolation::Machine, spaces(), false, None),
        (Isolation::Process, plain(false), false, Some(Kind::NoJobs)),
        (
            Isolation::Process,
            plain(true),
            true,
            Some(Kind::JobsUnisolated),
        ),
        (
            Isolation::Machine,
            plain(true),
            false,
            Some(Kind::JobsUnisolated),
        ),
    ] {
        let settings = Settings {
            isolation,
            selling,
            ..Settings::default()
        };
        let world = world_with(tempfile::tempdir().unwrap(), settings).await;
        match offer(&world).await {
            Ok(()) => assert!(sold, "{isolation:?}"),
            Err((code, message)) => {
                assert!(!sold, "{message}");
                assert_eq!(code, ErrorCode::Refused, "{message}");
                let why = match isolation {
                    Isolation::Process => "namespaces: refused",
                    _ => "cannot sell isolation=",
                };
                assert!(message.contains(why), "{message}");
                assert!(world.backend.offers().await.unwrap().is_empty());
            }
        }
        let kinds = [Kind::NoJobs, Kind::JobsUnisolated, Kind::JobsWatched];
        let found = world.backend.doctor().await.unwrap();
        let found = found.iter().map(|finding| finding.kind);
        let told: Vec<_> = found.filter(|kind| kinds.contains(kind)).collect();
        assert_eq!(told, finding.into_iter().collect::<Vec<_>>());
    }
}
