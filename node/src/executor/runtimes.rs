//! The runtimes of this machine that parallel jobs need: the attributes for adverts.
//!
//! Jobs see the machine's `/usr`, so what the node finds there they find too.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use gridbay_core::needs::{DASK, MPI};

/// What is installed, with versions where those are told.
pub fn runtimes() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    if let Some(version) = said("mpirun", &["--version"]).and_then(|text| open_mpi(&text)) {
        all.insert(MPI.to_owned(), format!("openmpi-{version}"));
    }
    let looks = "import importlib.util as u; print(u.find_spec('distributed') is not None)";
    let found = said("python3", &["-c", looks]);
    if found.is_some_and(|text| text.trim() == "True") && said("dask", &["--version"]).is_some() {
        all.insert(DASK.to_owned(), "yes".to_owned());
    }
    all
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
    fn open_mpi_tells_its_version() {
        let text = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/\n";
        assert_eq!(open_mpi(text), Some("4.1.4".to_owned()));
        assert_eq!(open_mpi("HYDRA build details:\n    Version: 4.0\n"), None);
        assert_eq!(open_mpi("mpirun (Open MPI) ;rm"), None);
    }
}
