use super::*;
use crate::status::Note;
use qrcodegen::{QrCode, QrCodeEcc};

fn ready() -> Status {
    Status {
        state: "ready".to_owned(),
        reason: "sells 2 small at 4 an hour".to_owned(),
        name: "bay-7".to_owned(),
        version: "0.1.0".to_owned(),
        node: "0f".repeat(32),
        account: "a1".repeat(32),
        network: "campus".to_owned(),
        height: 1_234,
        peers: 5,
        addresses: vec!["192.0.2.7".to_owned()],
        units_offered: 2,
        units_leased: 1,
        balance: "12.5".to_owned(),
        jobs_hosted: 1,
        ..Status::default()
    }
}

fn fits(rows: &[String]) {
    assert!(rows.len() <= ROWS, "{rows:#?}");
    for row in rows {
        assert!(row.chars().count() <= COLUMNS, "{row}");
        assert!(!row.contains(char::is_control));
    }
}

/// The rows without the code on the right.
fn words(rows: &[String]) -> String {
    let is_block = |c: char| matches!(c, '\u{2580}' | '\u{2584}' | '\u{2588}');
    let text = |row: &String| {
        row.split(is_block)
            .next()
            .unwrap_or("")
            .trim_end()
            .to_owned()
    };
    rows.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_ready_node_is_shown_with_its_code() {
    let rows = draw(&ready());
    fits(&rows);
    let expected = "\
gridbay appliance 0.1.0                                                   READY

sells 2 small at 4 an hour

version  0.1.0
name     bay-7
address  192.0.2.7
network  campus
height   1234
peers    5
units    2 offered, 1 leased
jobs     1
balance  12.5
account  a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
         a1a1a1a1a1a1a1a1a1a1a1a1a1a1
node     0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
         0f0f0f0f0f0f0f0f0f0f0f0f0f0f";
    assert_eq!(words(&rows).trim_end(), expected);
}

#[test]
fn the_drawn_code_is_that_of_the_nodes_key() {
    let status = ready();
    let rows = draw(&status);
    let text = format!("GRIDBAY-NODE:{}", status.node.to_uppercase());
    let code = QrCode::encode_text(&text, QrCodeEcc::Low).unwrap();
    let size = code.size();
    for y in 0..size {
        let row: Vec<char> = rows[HEAD + usize::try_from((y + 2) / 2).unwrap()]
            .chars()
            .collect();
        let start = COLUMNS - usize::try_from(size + 4).unwrap();
        for x in 0..size {
            let shown = row[start + usize::try_from(x + 2).unwrap()];
            let dark = match shown {
                '\u{2588}' => false,
                '\u{2580}' => y % 2 != 0,
                '\u{2584}' => y % 2 == 0,
                _ => true,
            };
            assert_eq!(dark, code.get_module(x, y), "{x} {y}");
        }
    }
}

#[test]
fn a_waiting_appliance_says_how_to_invite_it() {
    let rows = draw(&Status {
        state: "waiting".to_owned(),
        reason: "there is no invitation".to_owned(),
        hint: "a member runs `gridbay invite --image invite.img`; attach that file as a disk, or \
               put invite.toml on a disk labelled GRIDBAY"
            .to_owned(),
        version: "0.1.0".to_owned(),
        ..Status::default()
    });
    fits(&rows);
    let expected = "\
gridbay appliance 0.1.0                                                 WAITING

there is no invitation
try: a member runs `gridbay invite --image invite.img`; attach that file as a
     disk, or put invite.toml on a disk labelled GRIDBAY

version  0.1.0";
    assert_eq!(rows.join("\n"), expected);
}

#[test]
fn whatever_the_status_the_screen_holds_it() {
    let note = Note {
        reason: "word ".repeat(200),
        hint: "x".repeat(600),
    };
    let mut status = ready();
    status.notes = vec![note; 8];
    status.reason = "y".repeat(600);
    fits(&draw(&status));
    status.node = "not a key".to_owned();
    status.version = "v".repeat(300);
    status.state = "s".repeat(128);
    let rows = draw(&status);
    assert!(rows.len() <= ROWS);
    fits(&draw(&Status::default()));
}
