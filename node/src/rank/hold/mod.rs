//! A rank of a cluster that its owner holds: it runs what signed orders ask for, until the job
//! ends.
//!
//! 1. Each connection begins with a nonce of the rank, and one signed order
//!    ([`super::signed`]). An order counts that its owner signed, or a key that the owner admitted
//!    ([`keys`]).
//! 2. A program that runs ([`session`]) outlives its connection for a while
//!    ([`KEEP`](super::order::KEEP)): its asker comes back and goes on where it was.
//! 3. Files come and go over a connection each ([`put`], [`get`]), and go on behind what is there
//!    after a cut.
//! 4. Connections, programs, transfers and keys are bounded. All of them end with the job, since
//!    this program is the job's own.

mod get;
mod keys;
mod output;
mod processes;
mod put;
mod session;
mod table;

use std::io;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gridbay_protocol::keys::PublicKey;

use super::order::{Answer, Command, Refusal, Why};
use super::signed::{Hello, Place, Signed, VERSION};
use super::thread::start;
use super::wire::{PORT, Wire, read_line, variable, write_line};
use keys::{Keys, Who};
use put::Transfers;
use table::Table;

/// Variable with the key whose orders count.
pub(crate) const OWNER: &str = "GRIDBAY_OWNER";
/// Variable with the network in which the lease was bought.
pub(crate) const NETWORK: &str = "GRIDBAY_NETWORK";

/// Connections at a time.
const CONNECTIONS: usize = 256;
/// Time for an order to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// The rank.
pub(super) struct Hold {
    place: Place,
    keys: Keys,
    table: Arc<Table>,
    transfers: Transfers,
    connections: AtomicUsize,
}

/// Serves until the job ends.
pub(super) fn hold() -> io::Result<i32> {
    let place = Place {
        network: variable(NETWORK)?,
        lease: variable("GRIDBAY_LEASE")?,
        rank: variable("GRIDBAY_RANK")?,
    };
    let own: IpAddr = variable("GRIDBAY_ADDRESS")?;
    let listener = TcpListener::bind((own, PORT))?;
    Hold::new(place, variable(OWNER)?)?.serve(&listener);
    Ok(0)
}

impl Hold {
    /// A rank at a place, for an owner.
    pub(super) fn new(place: Place, owner: PublicKey) -> io::Result<Arc<Hold>> {
        let table = Arc::new(Table::default());
        let sweep = Arc::clone(&table);
        start(move || sweep.sweep())?;
        Ok(Arc::new(Hold {
            place,
            keys: Keys::new(owner),
            table,
            transfers: Transfers::default(),
            connections: AtomicUsize::new(0),
        }))
    }

    /// Takes connections for ever.
    pub(super) fn serve(self: &Arc<Self>, listener: &TcpListener) {
        for connection in listener.incoming() {
            let Ok(connection) = connection else {
                // No descriptor is free: some will be.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            let hold = Arc::clone(self);
            if self.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let served = start(move || {
                let _ended = hold.answer(connection);
                hold.connections.fetch_sub(1, Ordering::Relaxed);
            });
            if served.is_err() {
                self.connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn answer(&self, connection: TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        connection.bound(Some(PATIENCE), Some(PATIENCE))?;
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let hello = Hello { v: VERSION, nonce };
        write_line(&connection, &hello)?;
        let signed: Signed = read_line(&connection)?;
        let by = self.keys.find(&signed.key);
        let by = by.filter(|_| signed.is_signed(&self.place, &hello));
        let taken = match by {
            None => Err(Refusal::new(
                Why::Forbidden,
                "it is not signed by the cluster's owner, nor by a key that the owner admitted",
            )),
            Some(by) => serde_json::from_str(&signed.order)
                .map_err(|e| Refusal::new(Why::Invalid, format!("not understood: {e}")))
                .and_then(|order| self.obey(order, by, &connection)),
        };
        match taken {
            Ok(None) => Ok(()),
            Ok(Some(answer)) => write_line(&connection, &answer),
            Err(refusal) => write_line(&connection, &Answer::Refused(refusal)),
        }
    }

    /// Carries an order out: its answer, unless that was given already.
    fn obey(
        &self,
        order: Command,
        by: Who,
        connection: &TcpStream,
    ) -> Result<Option<Answer>, Refusal> {
        let own = || connection.again().map_err(|e| Refusal::failed(&e));
        match order {
            Command::Start(order) => {
                let session = self.table.begin(order, by)?;
                let _cut = session.attend(own()?, 0);
                Ok(None)
            }
            Command::Resume { session, received } => {
                let session = self.table.of(&session, &by)?;
                let _cut = session.attend(own()?, received);
                Ok(None)
            }
            Command::Put(order) => {
                let _cut = self.transfers.take(&order, &by, own()?)?;
                Ok(None)
            }
            Command::Plain { to } => {
                let _cut = put::plain(&to, own()?)?;
                Ok(None)
            }
            Command::Get(order) => {
                let _cut = get::send(&order, own()?)?;
                Ok(None)
            }
            Command::List => Ok(Some(Answer::Programs(self.table.list()))),
            Command::Stop { program, grace } => {
                let count = self.table.stop(program, grace, &by)?;
                Ok(Some(Answer::Stopped(count)))
            }
            Command::Admit { key, name } => {
                self.keys.admit(&by, key, name)?;
                Ok(Some(Answer::Done))
            }
            Command::Dismiss { key } => {
                self.keys.dismiss(&by, &key)?;
                self.table.end_all_of(&key);
                Ok(Some(Answer::Done))
            }
        }
    }
}
