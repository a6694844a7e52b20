//! TLS over real connections.

use crate::stage::{Stage, parse, written};
use edgewise_engine::engine::wall_clock;
use edgewise_server::{Listen, Patience, Tls};
use rcgen::generate_simple_self_signed;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Writes a new pair, and gives what a client must trust.
fn renew(dir: &Path) -> CertificateDer<'static> {
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(dir.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(dir.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

async fn secure(patience: Duration) -> (Stage, TempDir, CertificateDer<'static>) {
    let dir = tempfile::tempdir().unwrap();
    let trusted = renew(dir.path());
    let tls = Tls::open(&dir.path().join("cert.pem"), &dir.path().join("key.pem"), Arc::new(wall_clock)).unwrap();
    let usual = Listen::default();
    let patience = Patience { handshake: patience, ..usual.patience };
    (Stage::listening(true, Listen { tls: Some(tls), patience, ..usual }).await, dir, trusted)
}

async fn ask(address: SocketAddr, trusted: &CertificateDer<'static>) -> io::Result<u16> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(written("GET", "/healthz", &[], "").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(parse(&answer).status)
}

const LONG: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn a_renewed_certificate_is_shown_without_a_restart() {
    let (stage, dir, first) = secure(LONG).await;
    assert_eq!(ask(stage.address, &first).await.unwrap(), 200);
    let second = renew(dir.path());
    assert_eq!(ask(stage.address, &second).await.unwrap(), 200);
    assert!(ask(stage.address, &first).await.is_err(), "whoever trusts only the old one is not talked into the new");
}

#[tokio::test]
async fn plain_http_to_a_port_of_tls_is_told_so() {
    let (stage, _dir, trusted) = secure(LONG).await;
    let answer = stage.get("/healthz").await;
    assert_eq!(answer.status, 400);
    assert!(answer.text.contains("https://"), "{}", answer.text);
    assert_eq!(ask(stage.address, &trusted).await.unwrap(), 200);
}

#[tokio::test]
async fn tls_to_a_port_of_plain_http_ends_cleanly() {
    let stage = Stage::open().await;
    let trusted = generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.der().clone();
    assert!(ask(stage.address, &trusted).await.is_err());
    assert_eq!(stage.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_handshake_that_never_ends_hung_up_on() {
    let (stage, _dir, _) = secure(Duration::from_millis(20)).await;
    for bytes in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01"] {
        assert_eq!(stage.raw_open(bytes).await, 0, "{bytes:?}");
    }
}

#[tokio::test]
async fn noise_on_a_port_of_tls_harms_nobody() {
    let (stage, _dir, trusted) = secure(LONG).await;
    for bytes in [&b"\x16\x03\x01\x00\x05hello"[..], &[0x16; 300], b"\x00\x00", b"SSH-2.0-x\r\n"] {
        stage.raw(bytes).await;
    }
    assert_eq!(ask(stage.address, &trusted).await.unwrap(), 200);
}
