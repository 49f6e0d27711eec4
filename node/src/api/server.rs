//! The listeners.
//!
//! 1. [`Server::bind`] takes the socket (an old file is replaced only if nobody answers on it) and
//!    the TCP address, before the node says that it is ready.
//! 2. [`Server::serve`] answers until told to stop, then finishes what it began and removes the socket.

use super::Backend;
use super::auth::{self, Gate};
use super::limited::Limited;
use super::routes;
use crate::config::Config;
use crate::keys::KeyFileError;
use axum::Router;
use axum::middleware;
use std::fs::{self, Permissions};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

/// Why the API cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another node answers on the socket.
    #[error("a node runs already: it answers on {}", .0.display())]
    Running(PathBuf),
    /// The socket cannot be made.
    #[error("cannot listen on {}", path.display())]
    Socket {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The TCP address is not to be had.
    #[error("cannot listen on {address}")]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// Why.
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
    content_bytes: u64,
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
            content_bytes: config.limits.content,
        })
    }
    /// The TCP address with its real port.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().map(|(_, address, _)| *address)
    }
    /// Serves until `stop` is ready.
    pub async fn serve<B: Backend>(
        self,
        backend: Arc<B>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let routes = routes::router(backend, self.content_bytes);
        let (stopped, watch) = watch::channel(());
        let stopping = async move {
            stop.await;
            drop(stopped);
        };
        let unix = Limited::new(self.unix, self.connections);
        let unix = axum::serve(unix, routes.clone()).with_graceful_shutdown(ended(watch.clone()));
        let tcp = async {
            let Some((listener, _, gate)) = self.tcp else {
                return Ok(());
            };
            let routes = guarded(routes, gate);
            let listener = Limited::new(listener, self.connections);
            axum::serve(listener, routes)
                .with_graceful_shutdown(ended(watch))
                .await
        };
        let (unix, tcp, ()) = tokio::join!(unix.into_future(), tcp, stopping);
        drop(self.socket);
        unix.and(tcp)
    }
}

async fn ended(mut watch: watch::Receiver<()>) {
    while watch.changed().await.is_ok() {}
}

fn guarded(routes: Router, gate: Gate) -> Router {
    routes.layer(middleware::from_fn_with_state(gate, auth::check))
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
