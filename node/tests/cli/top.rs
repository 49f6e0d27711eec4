//! `top` in a terminal: it takes the terminal, and gives it back.

use crate::gridbay;
use crate::served::Served;
use crate::terminal::Terminal;
use nix::sys::signal::Signal;

/// Shows what was on the terminal before.
const LEFT: &str = "\x1b[?1049l";

#[tokio::test]
async fn signals_and_interrupts_give_the_terminal_back() {
    let at = Served::start(&[]).await;
    let data = at.world.dir.path();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let terminal = Terminal::open(data, &["top"]);
        terminal.shows("Prices").await;
        terminal.signals(signal);
        terminal.ends(LEFT).await;
    }
    let mut terminal = Terminal::open(data, &["top"]);
    terminal.shows("Prices").await;
    terminal.types("\x03");
    terminal.ends(LEFT).await;
    at.stop().await;
}

#[tokio::test]
async fn without_a_terminal_there_is_advice() {
    let at = Served::start(&[]).await;
    let data = at.world.dir.path();
    let ran = gridbay(data, &["top"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("why: standard output is no terminal"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("gridbay status --watch"), "{}", ran.err);
    let ran = gridbay(data, &["top", "-o", "json"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("gridbay status -o json"), "{}", ran.err);
    at.stop().await;
}
