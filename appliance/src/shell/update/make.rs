//! What a builder does: a key, its public half, and updates.

use crate::image::Image;
use crate::shell::files::read_bounded;
use crate::update::install::sum;
use crate::update::keys::{self, KeyError};
use crate::update::manifest::{Manifest, PARTS, Sum};
use ed25519_dalek::SigningKey;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Largest file of a key, and of what an image says of itself.
const SMALL: u64 = 4096;
const RANDOM: &str = "/dev/urandom";
/// What `appliance/build` writes beside the parts.
const IMAGE: &str = "image.json";

/// Why a builder's command failed.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// A file cannot be used.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// A key is never overwritten.
    #[error(
        "{path} exists already; name another file, or see the public half of that key: \
         gridbay-appliance public-key {path}"
    )]
    Exists {
        /// The file.
        path: String,
    },
    /// The key's file is no key.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// Others may read the secret key.
    #[error("others may read the secret key {path}; chmod 600 it, or make a new one")]
    Open {
        /// The file.
        path: String,
    },
    /// What the image says of itself cannot stand in a header.
    #[error("the image's flavour `{flavour}` or version `{version}` is no word")]
    Words {
        /// Its flavour.
        flavour: String,
        /// Its version.
        version: String,
    },
}

fn failed(path: &Path) -> impl Fn(io::Error) -> MakeError {
    move |error| MakeError::File {
        path: path.display().to_string(),
        error,
    }
}

/// Makes a secret key in a new file that only its owner may read; answers the public half.
pub fn new_key(file: &Path) -> Result<String, MakeError> {
    let mut seed = [0; 32];
    let random = File::open(RANDOM).and_then(|mut random| random.read_exact(&mut seed));
    random.map_err(failed(Path::new(RANDOM)))?;
    let key = SigningKey::from_bytes(&seed);
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(file);
    let mut made = made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => MakeError::Exists {
            path: file.display().to_string(),
        },
        _ => failed(file)(error),
    })?;
    let wrote = made.write_all(keys::secret_text(&key).as_bytes());
    wrote.and_then(|()| made.sync_all()).map_err(failed(file))?;
    Ok(keys::public_text(&key))
}

/// The public half of a secret key.
pub fn public_key(file: &Path) -> Result<String, MakeError> {
    secret(file).map(|key| keys::public_text(&key))
}

fn secret(file: &Path) -> Result<SigningKey, MakeError> {
    let about = fs::metadata(file).map_err(failed(file))?;
    if about.permissions().mode() & 0o077 != 0 {
        let path = file.display().to_string();
        return Err(MakeError::Open { path });
    }
    let text = fs::canonicalize(file).and_then(|file| read_bounded(&file, SMALL));
    Ok(keys::secret(&text.map_err(failed(file))?)?)
}

/// Makes an update of the parts in a folder that `appliance/build` wrote.
pub fn make_update(folder: &Path, key: &Path, out: &Path) -> Result<Manifest, MakeError> {
    let key = secret(key)?;
    let about = folder.join(IMAGE);
    let image = read_bounded(&about, SMALL)
        .and_then(|bytes| serde_json::from_slice::<Image>(&bytes).map_err(io::Error::other));
    let image = image.map_err(failed(&about))?;
    let mut parts = [Sum {
        bytes: 0,
        hash: [0; 32],
    }; 3];
    for (part, to) in PARTS.into_iter().zip(&mut parts) {
        let path = folder.join(part.name());
        let found = File::open(&path).and_then(|file| sum(&mut BufReader::new(file)));
        *to = found.map_err(failed(&path))?;
    }
    let manifest = Manifest {
        flavour: image.flavour,
        version: image.version,
        built: image.built,
        parts,
    };
    if !manifest.is_sound() {
        return Err(MakeError::Words {
            flavour: manifest.flavour,
            version: manifest.version,
        });
    }
    write(&manifest, &key, folder, out)?;
    Ok(manifest)
}

fn write(
    manifest: &Manifest,
    key: &SigningKey,
    folder: &Path,
    out: &Path,
) -> Result<(), MakeError> {
    let mut file = File::create(out).map_err(failed(out))?;
    let wrote = file.write_all(manifest.header(key).as_bytes());
    wrote.map_err(failed(out))?;
    for part in PARTS {
        let path = folder.join(part.name());
        let mut from = File::open(&path).map_err(failed(&path))?;
        io::copy(&mut from, &mut file).map_err(failed(&path))?;
    }
    file.sync_all().map_err(failed(out))
}
