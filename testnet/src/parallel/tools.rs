//! Compilers and other programs of this machine.

use anyhow::{Context as _, ensure};
use std::path::Path;
use std::process::Command;

/// What a program prints; `None` if it is not there or fails.
pub(crate) fn output(program: &str, words: &[&str]) -> Option<String> {
    let done = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    done.status.success().then_some(text)
}

/// Makes a program of C.
///
/// # Errors
/// The compiler is not there, or does not take the text.
pub(crate) fn built(
    compiler: &str,
    options: &[&str],
    source: &str,
    program: &Path,
) -> anyhow::Result<()> {
    let text = program.with_extension("c");
    std::fs::write(&text, source).with_context(|| format!("cannot write {}", text.display()))?;
    let mut command = Command::new(compiler);
    command
        .args(options)
        .arg("-O2")
        .arg("-o")
        .arg(program)
        .arg(&text);
    let done = command
        .output()
        .with_context(|| format!("cannot run {compiler}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(
        done.status.success(),
        "{compiler} refuses {}: {said}",
        text.display()
    );
    Ok(())
}
