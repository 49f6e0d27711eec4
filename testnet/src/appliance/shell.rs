//! A shell inside a machine, on its second serial line.
//!
//! The image has no way in. The owner of a machine may give its firmware credentials, of which
//! systemd takes units: here one that runs a shell on that line, for trials alone. Such a shell
//! does not end when it is asked to, so it gets no time for that. The line has one reader: whoever
//! wants to go on after a reboot greets the shell anew.

use anyhow::{Context as _, bail};
use data_encoding::BASE64;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// The unit, and what starts it (systemd-debug-generator(8)).
pub(super) const CREDENTIALS: [(&str, &str); 2] = [
    (
        "systemd.extra-unit.trial.service",
        "[Unit]\nDescription=Shell of trials\n\
         [Service]\nExecStart=/bin/sh\nRestart=always\nStandardInput=tty\nStandardOutput=tty\n\
         StandardError=tty\nTTYPath=/dev/ttyS1\nTTYReset=yes\n\
         TimeoutStopSec=2\n",
    ),
    (
        "systemd.unit-dropin.multi-user.target",
        "[Unit]\nWants=trial.service\n",
    ),
];

/// Marks the end of a command's output, and its exit code.
const END: &str = "@end-of-output@";
/// For a shell to answer.
const PATIENCE: Duration = Duration::from_secs(240);

pub(super) fn base64(text: &str) -> String {
    BASE64.encode(text.as_bytes())
}

/// A shell that takes commands.
pub(crate) struct Shell {
    line: UnixStream,
    read: Vec<u8>,
}

impl Shell {
    /// Speaks to the shell of a machine, once it is there.
    pub(super) async fn open(socket: &Path) -> anyhow::Result<Shell> {
        let line = UnixStream::connect(socket).await?;
        let mut shell = Shell {
            line,
            read: Vec::new(),
        };
        shell.greet().await?;
        Ok(shell)
    }

    /// Speaks to the shell that is there now, which may be that of another boot.
    pub(crate) async fn greet(&mut self) -> anyhow::Result<()> {
        self.read.clear();
        // Until the shell is there, what is written is lost: so it is asked again.
        for _ in 0..60 {
            self.line
                .write_all(b"PS1= PS2=; stty -echo -onlcr; echo @hello\"\"@\n")
                .await?;
            if self
                .until("@hello@\n", Duration::from_secs(1))
                .await
                .is_ok()
            {
                self.run_within("true", Duration::from_secs(10)).await?;
                return Ok(());
            }
        }
        bail!("no shell answers on the second serial line");
    }

    async fn until(&mut self, mark: &str, within: Duration) -> anyhow::Result<String> {
        let mark = mark.as_bytes();
        let read = async {
            loop {
                let found = self.read.windows(mark.len()).position(|part| part == mark);
                if let Some(at) = found {
                    let rest = self.read.split_off(at + mark.len());
                    let before = std::mem::replace(&mut self.read, rest);
                    return Ok(String::from_utf8_lossy(&before[..at]).into_owned());
                }
                let mut some = [0; 4096];
                let count = self.line.read(&mut some).await?;
                anyhow::ensure!(count > 0, "the machine went off");
                self.read.extend_from_slice(&some[..count]);
            }
        };
        timeout(within, read).await.context("no answer in time")?
    }

    /// Runs one line; its output, standard error among it, and its exit code.
    pub(crate) async fn run(&mut self, command: &str) -> anyhow::Result<(String, i32)> {
        self.run_within(command, PATIENCE).await
    }

    async fn run_within(
        &mut self,
        command: &str,
        within: Duration,
    ) -> anyhow::Result<(String, i32)> {
        // The mark is put together by the shell, so that no echo of the line contains it.
        let line = format!(
            "{{ {command}\n}} 2>&1; echo '{}''{}'$?@\n",
            &END[..4],
            &END[4..]
        );
        self.line.write_all(line.as_bytes()).await?;
        let output = self.until(END, within).await;
        let output = output.with_context(|| format!("`{command}`"))?;
        let code = self.until("@\n", within).await?;
        let code = code
            .parse()
            .with_context(|| format!("`{command}`: exit code {code}"))?;
        Ok((output, code))
    }

    /// Begins a line whose end nobody waits for.
    pub(crate) async fn begin(&mut self, command: &str) -> anyhow::Result<()> {
        let line = format!("{command}\n");
        Ok(self.line.write_all(line.as_bytes()).await?)
    }

    /// Waits until the line that was begun says a text.
    pub(crate) async fn hears(&mut self, text: &str, within: Duration) -> anyhow::Result<()> {
        let heard = self.until(text, within).await;
        let heard = heard.with_context(|| {
            let said = String::from_utf8_lossy(&self.read);
            format!("it does not say `{text}` but `{}`", said.trim())
        });
        heard.map(drop)
    }

    /// What came until the machine went off.
    pub(crate) async fn rest(&mut self) -> anyhow::Result<String> {
        let read = self.line.read_to_end(&mut self.read);
        let read = timeout(PATIENCE, read).await.context("it did not go off")?;
        // A machine whose power is cut may reset the line.
        if let Err(error) = read {
            anyhow::ensure!(error.kind() == ErrorKind::ConnectionReset, error);
        }
        Ok(String::from_utf8_lossy(&self.read).into_owned())
    }

    /// The agent's status.
    pub(crate) async fn status(&mut self) -> anyhow::Result<Value> {
        let said = self.good("gridbay-appliance status -o json").await?;
        serde_json::from_str(&said).with_context(|| said.clone())
    }

    /// The kernel's name for this boot.
    pub(crate) async fn boot_id(&mut self) -> anyhow::Result<String> {
        self.good("cat /proc/sys/kernel/random/boot_id").await
    }

    /// A digest of the node's keys.
    pub(crate) async fn keys(&mut self) -> anyhow::Result<String> {
        let said = self
            .good("sha256sum /data/gridbay/keys/* | sha256sum")
            .await?;
        Ok(said.trim().to_owned())
    }

    /// What a line prints, which must end with 0.
    pub(crate) async fn good(&mut self, command: &str) -> anyhow::Result<String> {
        let (output, code) = self.run(command).await?;
        if code != 0 {
            bail!("`{command}` ended with {code}: {}", output.trim());
        }
        Ok(output)
    }
}
