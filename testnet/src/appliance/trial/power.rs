//! A power cut of these trials loses what the machine did not flush, and nothing else: without
//! this, the trials of cuts would find no flush that is missing.

use super::super::bench::Bench;
use super::super::machine::Spec;
use super::boot::{BOOT, WAITING};
use anyhow::ensure;

/// A part of the disk that nothing else uses: the root of the slot that does not run.
const PART: &str = "/dev/disk/by-partlabel/gridbay-root-b";
/// Blocks of 4 KiB that are written, each by itself and past the machine's own memory.
const BLOCKS: u32 = 64;

pub(super) async fn cut(bench: &Bench) -> anyhow::Result<String> {
    let mut machine = bench.boot(Spec {
        cache: Some(bench.seed),
        ..Spec::new("power", 1)
    })?;
    machine.says(WAITING, BOOT).await?;
    let mut shell = machine.shell().await?;
    shell.good("echo kept > /data/kept").await?;
    shell.good(&write("flushed", 0)).await?;
    shell.good("sync").await?;
    shell.good(&write("not flushed", BLOCKS)).await?;
    shell.good(&differs("not flushed", BLOCKS, "= 0")).await?;
    machine.cut();
    machine.start()?;
    machine.says(WAITING, BOOT).await?;
    let mut shell = machine.shell().await?;
    let kept = shell.good("cat /data/kept").await?;
    ensure!(kept == "kept\n", "a file that was synced holds {kept:?}");
    shell.good(&differs("flushed", 0, "= 0")).await?;
    let (lost, code) = shell.run(&differs("not flushed", BLOCKS, "-gt 0")).await?;
    ensure!(code == 0, "nothing was lost that was not flushed");
    let of = BLOCKS * 4096;
    Ok(format!(
        "the cut lost {}, {} of {of} bytes that the trial had written; what was flushed is there",
        machine.lost(),
        lost.trim()
    ))
}

/// Writes blocks of a word from a block on.
fn write(word: &str, from: u32) -> String {
    let words = words(word);
    format!("{words} | dd of={PART} bs=4k oflag=direct seek={from} iflag=fullblock count={BLOCKS}")
}

/// Counts the bytes that are not as they were written, and compares their number.
fn differs(word: &str, from: u32, with: &str) -> String {
    let (words, wanted) = (words(word), "/run/wanted");
    let read = format!("dd if={PART} bs=4k iflag=direct skip={from} count={BLOCKS} 2>/dev/null");
    format!("{words} > {wanted}; n=$({read} | cmp -l - {wanted} | wc -l); echo $n; test $n {with}")
}

/// A word again and again, as many bytes as are written.
fn words(word: &str) -> String {
    format!("yes '{word}' 2>/dev/null | head -c {}", BLOCKS * 4096)
}
