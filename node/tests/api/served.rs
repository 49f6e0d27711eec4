//! A world behind a real server.

use super::world::{Settings, World, world_with};
use axum::Router;
use gridbay_node::api::{Server, client::Client};
use gridbay_node::config::{Config, Home, Sources};
use gridbay_node::{pages, router};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// A served world.
pub(crate) struct Served {
    pub(crate) world: World,
    pub(crate) config: Config,
    pub(crate) tcp: Option<SocketAddr>,
    task: JoinHandle<io::Result<()>>,
}

impl Served {
    /// A node with such flags.
    pub(crate) async fn start(flags: &[&str]) -> Served {
        Served::with(flags, Settings::default(), Router::new()).await
    }
    /// A node with such flags and settings, whose answers at some addresses are played.
    pub(crate) async fn with(flags: &[&str], settings: Settings, played: Router) -> Served {
        Served::within(tempfile::tempdir().unwrap(), flags, settings, played).await
    }
    /// The same in a folder that may have served before.
    pub(crate) async fn within(
        dir: TempDir,
        flags: &[&str],
        settings: Settings,
        played: Router,
    ) -> Served {
        let sources = Sources {
            flags: flags.iter().map(|f| (*f).to_owned()).collect(),
            ..Sources::default()
        };
        let config = Config::load(Home::new(dir.path()), &sources).unwrap();
        let settings = Settings {
            limits: config.limits,
            alerts: Some(config.alerts.clone()),
            traces: config.traces.clone(),
            ..settings
        };
        let world = world_with(dir, settings).await;
        let server = Server::bind(&config).await.unwrap();
        let server = server
            .with_tokens(world.backend.token_book())
            .with_users(world.backend.project_book());
        let tcp = server.tcp_address();
        let server = match tcp {
            Some(address) => server.with_pages(pages(Arc::clone(&world.backend), address)),
            None => server,
        };
        let mut stop = world.stop.clone();
        let routes = played.fallback_service(router(Arc::clone(&world.backend)));
        let task = tokio::spawn(server.serve(routes, async move {
            let _asked = stop.wait_for(|asked| *asked).await;
        }));
        Served {
            world,
            config,
            tcp,
            task,
        }
    }
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.config.api.socket)
    }
    /// Stops it as its owner does; returns the folder that it leaves.
    pub(crate) async fn stop(self) -> TempDir {
        self.world.backend.stop();
        self.task.await.unwrap().unwrap();
        self.world.body.stop();
        self.world.dir
    }
}
