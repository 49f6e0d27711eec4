//! The owner's node is killed while a program, a shell and a transfer run, and comes back.

use super::terminal::Terminal;
use super::{Owner, wait};
use gridbay_testnet::network::Network;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Counts for some seconds, so that it can be cut off meanwhile.
const COUNT: &str = "i=0; while [ $i -lt 400 ]; do echo $i; i=$((i + 1)); sleep 0.02; done; exit 5";
const COUNTED: u32 = 400;
/// Bytes of the file on its way: more than a rank takes before the node is killed.
const BYTES: u64 = 384 << 20;

pub(super) fn cut(network: &mut Network, owner: &Owner, id: &str, dir: &Path) {
    let mut command = owner.command(&[
        "cluster", "exec", id, "--rank", "2", "--", "sh", "-c", COUNT,
    ]);
    let mut counting = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = counting.stdout.take().unwrap();
    let (mut terminal, programs) = Terminal::new(24, 80);
    let mut command = owner.command(&["cluster", "shell", id, "--rank", "1", "sh"]);
    command.stdin(programs.try_clone().unwrap());
    command.stdout(programs.try_clone().unwrap());
    let shell = command.stderr(programs).spawn().unwrap();
    terminal.keys("word=ke''pt; echo rea''dy\n");
    terminal.until("ready");
    let large = dir.join("large");
    File::create(&large).unwrap().set_len(BYTES).unwrap();
    let words = ["cluster", "put", id, large.to_str().unwrap(), "0:cut/"];
    let mut put = owner
        .command(&words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let part = ["cluster", "exec", id, "--", "sh", "-c", "ls -A cut | wc -l"];
    while owner.said(&part).trim() != "1" {}
    let mut begun = [0; 200];
    out.read_exact(&mut begun).unwrap();
    assert!(put.try_wait().unwrap().is_none(), "there is nothing to cut");

    network.kill("b1").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    network.restart("b1").unwrap();

    let mut text = String::from_utf8(begun.to_vec()).unwrap();
    out.read_to_string(&mut text).unwrap();
    let all: String = (0..COUNTED).map(|n| format!("{n}\n")).collect();
    assert_eq!(text, all, "nothing is lost, nothing comes twice");
    assert_eq!(wait(counting), Some(5));
    terminal.keys("echo $word; exit 6\n");
    terminal.until("kept");
    assert_eq!(wait(shell), Some(6), "the same shell goes on");
    let done = put.wait_with_output().unwrap();
    let notes = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{notes}");
    assert!(
        notes.contains("the connection to rank 0 was cut"),
        "{notes}"
    );
    let size = ["cluster", "exec", id, "--", "stat", "-c", "%s", "cut/large"];
    assert_eq!(owner.said(&size).trim(), BYTES.to_string());
    fs::remove_file(large).unwrap();
}
