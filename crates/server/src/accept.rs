//! Connections: so many at once, and so many from one address, each with a time for its head; told to finish when the
//! server stops.

use crate::app::App;
use crate::door::{Door, Listen, Visit};
use crate::entrance::{Entrance, Served};
use crate::limits;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
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
    most: usize,
}

impl Serving {
    /// Takes no more connections, lets requests under way finish for so long, then ends.
    pub async fn stop(self, patience: Duration) {
        self.stop.send_replace(true);
        let all = self.connections.acquire_many(u32::try_from(self.most).unwrap_or(u32::MAX));
        // Whoever is not finished by then is cut off when the process ends.
        let _ = tokio::time::timeout(patience, all).await;
    }
}

/// Listens and answers for one workspace in plain HTTP, until stopped.
pub fn serve(listener: TcpListener, app: &App) -> io::Result<Serving> {
    serve_as(listener, Served::One(app.clone()), Listen::default())
}

/// Listens and answers as it is told, until stopped.
pub fn serve_as(listener: TcpListener, served: Served, listen: Listen) -> io::Result<Serving> {
    let address = listener.local_addr()?;
    let (stop, stopped) = watch::channel(false);
    let most = listen.connections;
    let connections = Arc::new(Semaphore::new(most));
    let door = Arc::new(Door::new(listen, served.clock()));
    let entrance = Entrance::new(served);
    tokio::spawn(accept(listener, door, entrance, stopped, Arc::clone(&connections)));
    Ok(Serving { address, stop, connections, most })
}

async fn accept(
    listener: TcpListener,
    door: Arc<Door>,
    entrance: Entrance,
    mut stopped: watch::Receiver<bool>,
    connections: Arc<Semaphore>,
) {
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let peer = peer.ip().to_canonical();
        // Whoever has too many is hung up on: an answer would be one more thing to wait for.
        let Some(admitted) = door.admit(peer) else { continue };
        let visit = Visit { door: Arc::clone(&door), peer, place: "".into() };
        let (entrance, stopped) = (entrance.to(visit), stopped.clone());
        tokio::spawn(async move {
            connection(stream, entrance, stopped).await;
            drop((admitted, permit));
        });
    }
}

async fn connection(stream: TcpStream, entrance: Entrance, stopped: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let Some(door) = entrance.door() else { return };
    let Some(tls) = &door.tls else { return talk(stream, entrance, stopped).await };
    match tokio::time::timeout(door.patience.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => talk(stream, entrance, stopped).await,
        Ok(Err(_)) | Err(_) => door.unspoken(),
    }
}

async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin, entrance: Entrance, mut stopped: watch::Receiver<bool>) {
    let head = entrance.door().map_or(limits::HEAD, |door| door.patience.head);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(limits::HEAD_BYTES);
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), entrance));
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
