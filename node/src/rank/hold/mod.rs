//! A rank of a cluster that its owner holds: it runs what signed orders ask for, until the job
//! ends.
//!
//! 1. Each connection begins with a nonce of the rank, and one signed order
//!    ([`super::signed`]). An order counts that its owner signed, or a key that the owner admitted
//!    ([`keys`]).
//! 2. A program that runs ([`session`]) outlives its connection for a while
//!    ([`KEEP`](super::order::KEEP)): its asker comes back and goes on where it was.
//! 3. Files come and go over a connection each ([`put`], [`get`]), and go on behind what is there
//!    after a cut. What nobody came back to is removed.
//! 4. Connections, programs, transfers and keys are bounded. All of them end with the job, since
//!    this program is the job's own.

mod get;
mod keys;
mod output;
mod processes;
mod put;
mod room;
mod session;
mod table;

use std::io;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridbay_core::cluster::OWNER as OWNER_RANK;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::address::Plan;

use super::order::{Answer, Command, Refusal, Why};
use super::signed::{Hello, Place, Signed, VERSION};
use super::thread::start;
use super::wire::{PORT, Wire, read_line_within, variable, write_line};
use keys::{Keys, Who};
use put::Transfers;
use room::{Room, Seat};
use table::Table;

/// Variable with the key whose orders count.
pub(crate) const OWNER: &str = "GRIDBAY_OWNER";
/// Variable with the network in which the lease was bought.
pub(crate) const NETWORK: &str = "GRIDBAY_NETWORK";

/// Time for an order to come as a whole.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks for programs and transfers that nobody came back to.
const LOOK: Duration = Duration::from_secs(1);

/// The rank.
pub(super) struct Hold {
    place: Place,
    keys: Keys,
    table: Arc<Table>,
    transfers: Arc<Transfers>,
    room: Arc<Room>,
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
        let transfers = Arc::new(Transfers::default());
        let (programs, files) = (Arc::clone(&table), Arc::clone(&transfers));
        start(move || {
            loop {
                std::thread::sleep(LOOK);
                programs.sweep();
                files.sweep(Instant::now());
            }
        })?;
        let address = Plan::new(&place.network, &place.lease).rank(OWNER_RANK);
        let room = Room::new(address.map(|address| address.v4.into()));
        Ok(Arc::new(Hold {
            place,
            keys: Keys::new(owner),
            table,
            transfers,
            room: Arc::new(room),
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
            let ip = connection.peer_addr().map(|address| address.ip());
            let Some(seat) = ip.ok().and_then(|ip| self.room.enter(ip)) else {
                continue;
            };
            let hold = Arc::clone(self);
            // Without a thread the connection ends, and its seat is free.
            let _served = start(move || _ = hold.answer(connection, seat));
        }
    }

    fn answer(&self, connection: TcpStream, mut seat: Seat) -> io::Result<()> {
        connection.set_nodelay(true)?;
        connection.bound(Some(PATIENCE), Some(PATIENCE))?;
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let hello = Hello { v: VERSION, nonce };
        write_line(&connection, &hello)?;
        let signed: Signed = read_line_within(&connection, PATIENCE)?;
        connection.bound(Some(PATIENCE), Some(PATIENCE))?;
        let by = self.keys.find(&signed.key);
        let by = by.filter(|_| signed.is_signed(&self.place, &hello));
        let taken = by.ok_or_else(not_admitted).and_then(|by| {
            seat.sign(&by, &connection)?;
            // One that was dismissed meanwhile has missed the end of its connections.
            self.keys.find(&by.key).ok_or_else(not_admitted)?;
            let order = serde_json::from_str(&signed.order)
                .map_err(|e| Refusal::new(Why::Invalid, format!("not understood: {e}")))?;
            self.obey(order, by, &connection)
        });
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
                let session = self.table.begin(order, by, &self.keys)?;
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
                self.room.cut(&key);
                self.transfers.forget(&key);
                self.table.end_all_of(&key);
                Ok(Some(Answer::Done))
            }
        }
    }
}

fn not_admitted() -> Refusal {
    Refusal::new(
        Why::Forbidden,
        "it is not signed by the cluster's owner, nor by a key that the owner admitted",
    )
}
