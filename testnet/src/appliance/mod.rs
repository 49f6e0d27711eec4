//! The appliance under trial: virtual machines boot the image, without KVM where there is none.
//!
//! 1. A machine has a copy of the image's disk that holds only what differs from it ([`machine`]),
//!    or, where its power is cut, one with a cache that the cut empties ([`cache`]). It starts by
//!    BIOS, by UEFI, or, to save time, with the image's kernel and no boot loader.
//! 2. Its first serial line is the console that an owner sees. What is to be seen inside is asked
//!    for on the second one: a shell that the image does not have, given to the machine as a
//!    credential of its firmware ([`shell`]).
//! 3. Founders are nodes of a local network on this machine; to a machine's own network this one
//!    is 10.0.2.2.
//! 4. Updates are made as a builder makes them ([`update`]).
//! 5. A number of machines on a lab's hosts measures what CloudBay measured ([`fleet`]).
//! 6. Each trial says what it saw, or why it failed; the others go on ([`trial`]).

mod bench;
mod cache;
mod disk;
pub(crate) mod fleet;
mod left_out;
mod machine;
mod shell;
pub(crate) mod trial;
mod update;

use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// The built image: the folder that `appliance/build` wrote.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    folder: PathBuf,
}

impl Image {
    /// The image in a folder.
    ///
    /// # Errors
    /// A file of it is missing.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Image> {
        let image = Image {
            folder: std::path::absolute(folder)?,
        };
        for file in [image.disk(), image.kernel(), image.initrd()] {
            anyhow::ensure!(
                file.is_file(),
                "there is no {}: build the image with appliance/build",
                file.display()
            );
        }
        Ok(image)
    }

    /// Its flavour, as its build told.
    ///
    /// # Errors
    /// The build told nothing.
    fn flavour(&self) -> anyhow::Result<String> {
        let about = self.about()?;
        let flavour = about["flavour"].as_str();
        Ok(flavour.context("image.json names no flavour")?.to_owned())
    }

    /// What its build told of it.
    fn about(&self) -> anyhow::Result<serde_json::Value> {
        let about = std::fs::read(self.file("image.json"));
        let about = about
            .context("there is no image.json beside the image: build it with appliance/build")?;
        Ok(serde_json::from_slice(&about)?)
    }

    /// A file beside it.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn disk(&self) -> PathBuf {
        self.file("gridbay.qcow2")
    }

    fn kernel(&self) -> PathBuf {
        self.file("vmlinuz")
    }

    fn initrd(&self) -> PathBuf {
        self.file("initrd.img")
    }
}
