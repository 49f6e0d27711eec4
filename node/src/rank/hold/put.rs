//! Files that come to this rank.
//!
//! A transfer that was cut may go on for [`KEEP`]. Then it is forgotten, and what it has of a file
//! that is not whole is removed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gridbay_protocol::keys::PublicKey;

use super::keys::Who;
use super::room::has_room;
use crate::rank::files::Receiver;
use crate::rank::order::{Answer, Id, KEEP, Put, Refusal, Why};
use crate::rank::wire::{DATA, Kind, Wire, read_into, write_frame, write_line};

/// Transfers at a time.
const TRANSFERS: usize = 32;
/// Time for the next bytes of a transfer: its sender reads its disk meanwhile.
const SILENCE: Duration = Duration::from_secs(60);

/// Transfers under way.
#[derive(Default)]
pub(super) struct Transfers(Mutex<BTreeMap<Id, Transfer>>);

struct Transfer {
    by: Who,
    receiver: Arc<Mutex<Receiver>>,
    /// When it last began or was cut.
    last: Instant,
    cut: Option<Box<dyn Fn() + Send>>,
}

impl Transfers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Id, Transfer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts and forgets those of a key that counts no longer.
    pub(super) fn forget(&self, key: &PublicKey) {
        self.lock().retain(|_, transfer| {
            let own = transfer.by.key == *key;
            if let Some(cut) = transfer.cut.as_ref().filter(|_| own) {
                cut();
            }
            !own
        });
    }

    /// Forgets those that nobody came back to.
    pub(super) fn sweep(&self, now: Instant) {
        let is_lost = |t: &Transfer| {
            now.saturating_duration_since(t.last) > KEEP && Arc::strong_count(&t.receiver) == 1
        };
        self.lock().retain(|_, transfer| !is_lost(transfer));
    }

    /// Takes files until all are here, or the connection is cut.
    pub(super) fn take(
        &self,
        order: &Put,
        by: &Who,
        mut connection: TcpStream,
    ) -> Result<io::Result<()>, Refusal> {
        let again = connection.again().map_err(|e| Refusal::failed(&e))?;
        let receiver = self.receiver(order, by, again)?;
        // The last connection, if there is one, is cut by now.
        let mut receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
        let (items, part) = receiver.has();
        let bytes = part.map_or(0, |(_, bytes)| bytes);
        let begin = || {
            connection.bound(Some(SILENCE), Some(SILENCE))?;
            write_line(&connection, &Answer::Have { items, bytes })
        };
        if let Err(cut) = begin() {
            return Ok(Err(cut));
        }
        let taken = receive(&mut connection, &mut receiver);
        if let Some(transfer) = self.lock().get_mut(&order.transfer) {
            transfer.last = Instant::now();
        }
        match taken {
            Err(cut) => Ok(Err(cut)),
            Ok(taken) => {
                self.lock().remove(&order.transfer);
                let told = tell(&connection, taken);
                // What is still on its way would break the connection before the words are read.
                let mut rest = Vec::new();
                while read_into(&mut connection, &mut rest).is_ok() {}
                Ok(told)
            }
        }
    }

    /// The receiver of a transfer, made if there is none.
    fn receiver(
        &self,
        order: &Put,
        by: &Who,
        connection: TcpStream,
    ) -> Result<Arc<Mutex<Receiver>>, Refusal> {
        let mut all = self.lock();
        let cut: Option<Box<dyn Fn() + Send>> = Some(Box::new(move || connection.cut()));
        if let Some(known) = all.get_mut(&order.transfer) {
            if known.by.key != by.key {
                return Err(Refusal::new(Why::Forbidden, "another's transfer"));
            }
            if let Some(former) = std::mem::replace(&mut known.cut, cut) {
                former();
            }
            known.last = Instant::now();
            return Ok(Arc::clone(&known.receiver));
        }
        if !has_room(all.values().map(|transfer| &transfer.by), by, TRANSFERS) {
            let why = "as many transfers are under way as may be";
            return Err(Refusal::new(Why::Busy, why));
        }
        let place = inside(&order.to)?;
        let (folder, name) = match order.into || place.is_dir() {
            true => (place.as_path(), None),
            false => {
                let name = place.file_name().and_then(|name| name.to_str());
                (place.parent().unwrap_or(&place), name.map(str::to_owned))
            }
        };
        let receiver =
            Receiver::new(folder, name, order.transfer).map_err(|e| Refusal::failed(&e))?;
        let receiver = Arc::new(Mutex::new(receiver));
        let transfer = Transfer {
            by: by.clone(),
            receiver: Arc::clone(&receiver),
            last: Instant::now(),
            cut,
        };
        all.insert(order.transfer, transfer);
        Ok(receiver)
    }
}

/// A path of an order: relative to the job's folder, where it does not leave that by its words.
pub(super) fn inside(path: &str) -> Result<PathBuf, Refusal> {
    let path = if path.is_empty() { "." } else { path };
    let leaves = Path::new(path)
        .components()
        .any(|part| part == Component::ParentDir);
    if leaves {
        let why = format!("`{path}`: paths have no `..`");
        return Err(Refusal::new(Why::Invalid, why));
    }
    let here = std::env::current_dir().map_err(|e| Refusal::failed(&e))?;
    Ok(here.join(path).components().collect())
}

/// Writes all that comes into a file.
pub(super) fn plain(to: &str, mut connection: TcpStream) -> Result<io::Result<()>, Refusal> {
    let mut file = File::create(inside(to)?).map_err(|e| Refusal::failed(&e))?;
    let mut copy = || {
        connection.bound(Some(SILENCE), Some(SILENCE))?;
        write_line(&connection, &Answer::Done)?;
        let mut buffer = vec![0; DATA];
        loop {
            match connection.read(&mut buffer)? {
                0 => return tell(&connection, Ok(())),
                count => file.write_all(&buffer[..count])?,
            }
        }
    };
    Ok(copy())
}

/// Takes frames: an error if the connection is cut, else whether all is here.
fn receive(from: &mut TcpStream, to: &mut Receiver) -> io::Result<io::Result<()>> {
    let mut bytes = Vec::with_capacity(DATA);
    loop {
        let done = match read_into(&mut *from, &mut bytes)? {
            Kind::Item => serde_json::from_slice(&bytes)
                .map_err(io::Error::from)
                .and_then(|item| to.begin(item)),
            Kind::Data => to.data(&bytes),
            Kind::Done => return Ok(to.finish()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        };
        if done.is_err() {
            return Ok(done);
        }
    }
}

/// How a transfer ended.
pub(super) fn tell(to: &TcpStream, ended: io::Result<()>) -> io::Result<()> {
    let code: i32 = match ended {
        Ok(()) => 0,
        Err(error) => {
            write_frame(to, Kind::Stderr, error.to_string().as_bytes())?;
            1
        }
    };
    write_frame(to, Kind::Exit, &code.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::order::Item;
    use gridbay_protocol::keys::SecretKey;
    use std::net::TcpListener;

    #[test]
    fn what_a_transfer_that_was_given_up_left_goes_once_it_cannot_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let count = || std::fs::read_dir(dir.path()).unwrap().count();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let by = Who {
            key: SecretKey::from_seed(&[1; 32]).public(),
            name: "owner".to_owned(),
            is_owner: true,
        };
        let order = Put {
            transfer: Id([3; 16]),
            to: dir.path().to_str().unwrap().to_owned(),
            into: true,
        };
        let transfers = Transfers::default();
        let receiver = transfers.receiver(&order, &by, connection).unwrap();
        let item = Item {
            path: "large".to_owned(),
            mode: 0o644,
            bytes: Some(9),
            changed: 0,
            from: 0,
        };
        let mut to = receiver.lock().unwrap();
        to.begin(item).unwrap();
        to.data(b"part").unwrap();
        drop(to);
        let later = Instant::now() + KEEP + Duration::from_secs(1);
        transfers.sweep(later);
        assert_eq!(count(), 1, "it is under way");
        drop(receiver);
        transfers.sweep(Instant::now());
        assert_eq!(count(), 1, "it may go on");
        transfers.sweep(later);
        assert_eq!((count(), transfers.lock().len()), (0, 0));
    }
}
