use super::*;
use crate::api::types::{Ahead, How, NodeGroup, Start};
use clap::Parser as _;
use gridbay_protocol::mechanism::reservation::Channels;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    run: RunArgs,
}

fn want(words: &[&str]) -> Option<(u32, How)> {
    let words = ["run"].iter().chain(words).chain(&["--", "true"]);
    let line = Line::try_parse_from(words).ok()?;
    let want = line.run.buying.want(&line.run.command).ok()?;
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
            offers: vec![id.clone()],
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
