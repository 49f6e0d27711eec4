//! The backend for tests behind a real server.

use super::Fake;
use gridbay_node::api::{Server, client::Client};
use gridbay_node::config::{Config, Home, Sources};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A served backend in a folder of its own.
pub(crate) struct Served {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) fake: Arc<Fake>,
    pub(crate) config: Config,
    pub(crate) tcp: Option<std::net::SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Served {
    pub(crate) async fn start(flags: &[&str], change: impl FnOnce(&mut Fake)) -> Served {
        let dir = tempfile::tempdir().unwrap();
        let flags = flags.iter().map(|f| (*f).to_owned()).collect();
        let sources = Sources {
            flags,
            ..Sources::default()
        };
        let config = Config::load(Home::new(dir.path()), &sources).unwrap();
        let mut fake = Fake::new(dir.path().join("results"));
        change(&mut fake);
        let fake = Arc::new(fake);
        let server = Server::bind(&config).await.unwrap();
        let tcp = server.tcp_address();
        let (stop, stopped) = oneshot::channel();
        let backend = Arc::clone(&fake);
        let task = tokio::spawn(server.serve(backend, async move {
            let _ = stopped.await;
        }));
        Served {
            dir,
            fake,
            config,
            tcp,
            stop: Some(stop),
            task,
        }
    }
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.config.api.socket)
    }
    pub(crate) async fn stop(mut self) -> tempfile::TempDir {
        self.stop.take().unwrap().send(()).unwrap();
        self.task.await.unwrap().unwrap();
        self.dir
    }
}
