//! Connections: so many at once, each with a time for its head; told to finish when the server stops.

use crate::app::App;
use crate::limits;
use crate::routes::router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// How long to wait after the system could not give a connection, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that listens.
pub struct Serving {
    /// Where.
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    connections: Arc<Semaphore>,
}

impl Serving {
    /// Takes no more connections, lets requests under way finish for so long, then ends.
    pub async fn stop(self, patience: Duration) {
        self.stop.send_replace(true);
        let all = self.connections.acquire_many(limits::CONNECTIONS as u32);
        // Whoever is not finished by then is cut off when the process ends.
        let _ = tokio::time::timeout(patience, all).await;
    }
}

/// Listens and answers, until stopped.
pub fn serve(listener: TcpListener, app: &App) -> io::Result<Serving> {
    let address = listener.local_addr()?;
    let (stop, stopped) = watch::channel(false);
    let connections = Arc::new(Semaphore::new(limits::CONNECTIONS));
    tokio::spawn(accept(listener, app.clone(), stopped, Arc::clone(&connections)));
    Ok(Serving { address, stop, connections })
}

async fn accept(listener: TcpListener, app: App, mut stopped: watch::Receiver<bool>, connections: Arc<Semaphore>) {
    let service = router(&app);
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (service, stopped) = (service.clone(), stopped.clone());
        tokio::spawn(async move {
            connection(stream, service, stopped).await;
            drop(permit);
        });
    }
}

fn connection(
    stream: TcpStream,
    service: axum::Router,
    mut stopped: watch::Receiver<bool>,
) -> impl Future<Output = ()> {
    let _ = stream.set_nodelay(true);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits::HEAD).max_buf_size(64 << 10);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    async move {
        let mut connection = std::pin::pin!(connection);
        let over = tokio::select! {
            _ = connection.as_mut() => true,
            _ = stopped.wait_for(|stopped| *stopped) => false,
        };
        if !over {
            connection.as_mut().graceful_shutdown();
            // A peer that breaks off is no error of ours.
            let _ = connection.await;
        }
    }
}
