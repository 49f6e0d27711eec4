//! The runtimes of this machine that parallel jobs need: the attributes for adverts.
//!
//! Jobs see the machine's `/usr`, so what the node finds there they find too.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use gridbay_core::needs::{DASK, MPI};

/// The installed ones, with versions where those are told.
pub fn runtimes() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    if let Some(version) = said("mpirun", &["--version"]).and_then(|text| open_mpi(&text)) {
        all.insert(MPI.to_owned(), format!("openmpi-{version}"));
    }
    if has_dask().is_some() {
        all.insert(DASK.to_owned(), "yes".to_owned());
    }
    all
}

/// Whether the interpreter of the `dask` program knows the scheduler. It is only looked for: to
/// import it takes a second.
fn has_dask() -> Option<()> {
    let path = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&path).map(|folder| folder.join("dask"));
    let script = places
        .into_iter()
        .find_map(|place| std::fs::read(place).ok())?;
    let looks = "import importlib.util as u; print(u.find_spec('distributed') is not None)";
    let found = said(interpreter(&script)?, &["-c", looks])?;
    (found.trim() == "True").then_some(())
}

/// The program after `#!` in a script.
fn interpreter(script: &[u8]) -> Option<&str> {
    let line = script.split(|byte| *byte == b'\n').next()?;
    let words = std::str::from_utf8(line).ok()?.strip_prefix("#!")?;
    words.split_whitespace().next()
}

fn said(program: &str, words: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let done = command.output().ok()?;
    done.status.success().then_some(())?;
    String::from_utf8(done.stdout).ok()
}

/// The version in `mpirun (Open MPI) 4.1.4`: digits and points alone.
fn open_mpi(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("(Open MPI) ")?;
    let version = rest.split_whitespace().next()?;
    let plain = version.chars().all(|c| c.is_ascii_digit() || c == '.');
    (plain && version.len() <= 16).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_interpreter() {
        let of = |text: &str| interpreter(text.as_bytes()).map(str::to_owned);
        assert_eq!(
            of("#!/usr/bin/python3 -s\nimport x\n").as_deref(),
            Some("/usr/bin/python3")
        );
        assert_eq!(of("import x\n"), None);
        assert_eq!(of("#!\n"), None);
    }

    #[test]
    fn open_mpi_tells_its_version() {
        let text = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/\n";
        assert_eq!(open_mpi(text), Some("4.1.4".to_owned()));
        assert_eq!(open_mpi("HYDRA build details:\n    Version: 4.0\n"), None);
        assert_eq!(open_mpi("mpirun (Open MPI) ;rm"), None);
    }
}
