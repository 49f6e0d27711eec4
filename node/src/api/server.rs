//! The listeners.
//!
//! 1. [`Server::bind`] takes the socket (an old file is replaced only if nobody answers on it) and
//!    the TCP address, before the node says that it is ready.
//! 2. [`Server::serve`] answers until told to stop, then finishes open requests and removes the
//!    socket.

use super::auth::Gate;
use super::intake::{self, Turns};
use super::limits::{SPARE, STREAMS};
use super::peer::Peer;
use super::serve::serve;
use super::slots::Slots;
use super::split;
use crate::config::Config;
use crate::keys::KeyFileError;
use crate::store::projects::ProjectBook;
use crate::store::tokens::TokenBook;
use axum::serve::Listener;
use axum::{Extension, Router, middleware};
use std::fs::{self, Permissions};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

/// Why the API cannot listen.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum BindError {
    /// Another node answers on the socket.
    #[error("a node runs already: it answers on {}", .0.display())]
    Running(PathBuf),
    /// The socket cannot be made.
    #[error("cannot listen on {}", path.display())]
    Socket {
        /// Its path.
        path: PathBuf,
        source: io::Error,
    },
    /// The TCP address is not to be had.
    #[error("cannot listen on {address}")]
    Tcp {
        address: SocketAddr,
        source: io::Error,
    },
    /// The token file.
    #[error("the API's token")]
    Token(#[from] KeyFileError),
}

/// Bound listeners.
pub struct Server {
    unix: UnixListener,
    tcp: Option<(TcpListener, SocketAddr, Gate)>,
    socket: SocketFile,
    connections: usize,
    pages: Option<Router>,
}

/// Is told to answers that would go on for ever, so that they end with the node.
#[derive(Clone)]
pub(crate) struct Ending(watch::Receiver<()>);

impl Ending {
    /// Is ready when the node ends.
    pub(crate) async fn ended(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

/// Removes the socket when the server ends.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Server {
    /// Takes the configured addresses. Needs a tokio runtime.
    pub async fn bind(config: &Config) -> Result<Server, BindError> {
        let path = &config.api.socket;
        let unix = listen_unix(path)?;
        let socket = SocketFile(path.clone());
        let tcp = match config.api.listen {
            None => None,
            Some(address) => {
                let failed = |source| BindError::Tcp { address, source };
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                let bound = listener.local_addr().map_err(failed)?;
                let gate = Gate::open(&config.home.token(), bound)?;
                Some((listener, bound, gate))
            }
        };
        Ok(Server {
            unix,
            tcp,
            socket,
            connections: config.api.connections,
            pages: None,
        })
    }
    /// The TCP address with its real port.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().map(|(_, address, _)| *address)
    }
    /// The server, which shows `pages` to browsers at all TCP addresses that are not the API's.
    /// They are called from this machine alone, and check their sessions themselves.
    pub fn with_pages(mut self, pages: Router) -> Server {
        self.pages = Some(pages);
        self
    }
    /// The server, whose TCP side also opens to the bearers of such tokens, each as far as its own
    /// reaches.
    pub fn with_tokens(mut self, tokens: TokenBook) -> Server {
        if let Some((_, _, gate)) = &mut self.tcp {
            gate.open_to(tokens);
        }
        self
    }
    /// The server, whose TCP side also opens to users of projects.
    pub fn with_users(mut self, users: ProjectBook) -> Server {
        if let Some((_, _, gate)) = &mut self.tcp {
            gate.open_to_users(users);
        }
        self
    }
    /// Serves `routes` until `stop` is ready.
    ///
    /// # Errors
    /// None so far: what goes wrong with a connection ends that connection.
    pub async fn serve(
        self,
        routes: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let (stopped, watch) = watch::channel(());
        let stopping = async move {
            stop.await;
            drop(stopped);
        };
        let routes = routes.layer(Extension(Ending(watch.clone())));
        let turns = Turns::new(self.connections);
        let (behind, ending) = (routes.clone(), watch.clone());
        let unix = listen(self.unix, turns.clone(), taken(behind, turns), ending);
        let tcp = async {
            if let Some((listener, _, gate)) = self.tcp {
                let pages = self
                    .pages
                    .map(|pages| pages.layer(Extension(Ending(watch.clone()))));
                let turns = Turns::new(self.connections);
                let taken = |routes| taken(routes, turns.clone());
                let routes = split::guarded(taken(routes), pages.map(taken), gate);
                listen(listener, turns, routes, watch).await;
            }
        };
        tokio::join!(unix, tcp, stopping);
        drop(self.socket);
        Ok(())
    }
}

/// Routes whose requests take turns.
fn taken(routes: Router, turns: Turns) -> Router {
    routes.layer(middleware::from_fn_with_state(turns, intake::pass))
}

/// One listener, with bounds of its own: the requests of one do not weigh on the other.
async fn listen<L: Listener<Io: Peer>>(
    listener: L,
    turns: Turns,
    routes: Router,
    stop: watch::Receiver<()>,
) {
    let slots = Slots::new(turns.in_all() + 2 * STREAMS + SPARE);
    serve(listener, routes, slots, stop).await;
}

fn listen_unix(path: &Path) -> Result<UnixListener, BindError> {
    let failed = |source| BindError::Socket {
        path: path.to_owned(),
        source,
    };
    if StdUnixStream::connect(path).is_ok() {
        return Err(BindError::Running(path.to_owned()));
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    // Between the two calls the mode depends on the process's mask; the data folder, 0700, and the
    // check of each peer's user stand in for it.
    let listener = UnixListener::bind(path).map_err(failed)?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}
