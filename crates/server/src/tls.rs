//! TLS: a certificate and its key, read from files, and read again when they are renewed.
//!
//! A renewed pair is noticed at the next connection. Files that are half written or bad change nothing: the pair that
//! was good before goes on until a good one is there.

mod validity;

use edgewise_core::{Error, Result};
use edgewise_engine::engine::Clock;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How every TLS connection begins.
const HANDSHAKE: u8 = 0x16;
/// What somebody is told who speaks plain HTTP to a port of TLS.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\
    Content-Length: 42\r\n\r\nthis port speaks TLS: ask with https://...";

/// A certificate and its key.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    clock: Clock,
    pair: Mutex<Pair>,
    unread: AtomicU64,
}

struct Pair {
    config: Arc<ServerConfig>,
    /// What the files were when they were last read, well or not.
    seen: Seen,
}

type Seen = [Option<(SystemTime, u64)>; 2];

impl Tls {
    /// Reads a pair. Refused if a file cannot be read, the two do not belong together, or the certificate is not
    /// good now.
    pub fn open(certificate: &Path, key: &Path, clock: Clock) -> Result<Self> {
        let seen = seen(certificate, key);
        let config = read(certificate, key, &clock)?;
        let pair = Mutex::new(Pair { config, seen });
        Ok(Self { certificate: certificate.into(), key: key.into(), clock, pair, unread: AtomicU64::new(0) })
    }

    /// How often a changed pair could not be used.
    pub fn unread(&self) -> u64 {
        self.unread.load(Ordering::Relaxed)
    }

    /// The pair as it is in the files now, or the last good one.
    fn config(&self) -> Arc<ServerConfig> {
        let mut pair = self.pair.lock().unwrap_or_else(PoisonError::into_inner);
        let now = seen(&self.certificate, &self.key);
        if now != pair.seen {
            pair.seen = now;
            match read(&self.certificate, &self.key, &self.clock) {
                Ok(config) => pair.config = config,
                Err(_) => drop(self.unread.fetch_add(1, Ordering::Relaxed)),
            }
        }
        Arc::clone(&pair.config)
    }

    /// Agrees with a peer on how to speak. One that speaks plain HTTP is told so.
    pub(crate) async fn accept(&self, mut stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let mut first = [0];
        if stream.peek(&mut first).await? > 0 && first[0] != HANDSHAKE {
            stream.write_all(PLAIN).await?;
            stream.shutdown().await?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        TlsAcceptor::from(self.config()).accept(stream).await
    }
}

fn seen(certificate: &Path, key: &Path) -> Seen {
    [certificate, key].map(|path| {
        let about = std::fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

fn read(certificate: &Path, key: &Path, clock: &Clock) -> Result<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_slice_iter(&bytes(certificate)?)
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| bad(certificate, "a certificate").with_source(error))?;
    let first = chain.first().ok_or_else(|| bad(certificate, "a certificate"))?;
    let (from, until) = validity::of(first).ok_or_else(|| bad(certificate, "a certificate"))?;
    let name = certificate.display();
    match clock() {
        now if now < from => {
            let message = format!("the certificate in {name} is good from {from} on: put one there that is good now");
            return Err(Error::invalid("certificate_not_yet_valid", message));
        }
        now if now > until => {
            let message = format!("the certificate in {name} was good until {until}: put a renewed one there");
            return Err(Error::invalid("certificate_expired", message));
        }
        _ => {}
    }
    let own =
        PrivateKeyDer::from_pem_slice(&bytes(key)?).map_err(|error| bad(key, "a private key").with_source(error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::bug("no_cipher", "TLS has no protocol versions").with_source(error))?
        .with_no_client_auth()
        .with_single_cert(chain, own)
        .map_err(|error| unfit(certificate, key, error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        let message = format!("{} cannot be read: check the path and who may read it", path.display());
        Error::unavailable("unreadable_certificate", message).with_source(error)
    })
}

fn bad(path: &Path, what: &str) -> Error {
    Error::invalid("bad_certificate", format!("{} does not hold {what} in PEM form", path.display()))
}

fn unfit(certificate: &Path, key: &Path, error: rustls::Error) -> Error {
    let (certificate, key) = (certificate.display(), key.display());
    let (code, message) = match error {
        rustls::Error::InconsistentKeys(_) => (
            "key_mismatch",
            format!("the key in {key} is not that of the certificate in {certificate}: name the files of one pair"),
        ),
        _ => ("bad_certificate", format!("{certificate} and {key} cannot be used")),
    };
    Error::invalid(code, message).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::time::Time;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    const NOW: u64 = 1_800_000_000_000;

    /// A certificate that is good from one year to another, and its key.
    fn pair(from: i32, until: i32) -> (String, String) {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        let key = KeyPair::generate().unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    struct Files(tempfile::TempDir);

    impl Files {
        fn of(certificate: &str, key: &str) -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            files.write(certificate, key);
            files
        }

        fn write(&self, certificate: &str, key: &str) {
            std::fs::write(self.path("cert.pem"), certificate).unwrap();
            std::fs::write(self.path("key.pem"), key).unwrap();
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn open(&self) -> Result<Tls> {
            Tls::open(&self.path("cert.pem"), &self.path("key.pem"), Arc::new(|| Time(NOW)))
        }
    }

    #[test]
    fn a_pair_is_refused_unless_it_is_readable_whole_and_good_now() {
        let (certificate, key) = pair(2020, 2090);
        let other = pair(2020, 2090).1;
        assert!(Files::of(&certificate, &key).open().is_ok());
        for (certificate, key, code) in [
            ("", key.as_str(), "bad_certificate"),
            ("no certificate", &key, "bad_certificate"),
            (&certificate, "", "bad_certificate"),
            (&certificate, &other, "key_mismatch"),
            (&key, &certificate, "bad_certificate"),
            (&pair(2010, 2020).0, &key, "certificate_expired"),
            (&pair(2080, 2090).0, &key, "certificate_not_yet_valid"),
        ] {
            assert_eq!(Files::of(certificate, key).open().err().unwrap().code, code);
        }
        let files = Files::of(&certificate, &key);
        std::fs::remove_file(files.path("key.pem")).unwrap();
        assert_eq!(files.open().err().unwrap().code, "unreadable_certificate");
    }

    #[test]
    fn a_renewed_pair_is_used_and_a_bad_one_is_not() {
        let (certificate, key) = pair(2020, 2090);
        let files = Files::of(&certificate, &key);
        let tls = files.open().unwrap();
        let first = tls.config();
        assert!(Arc::ptr_eq(&first, &tls.config()), "nothing changed, nothing is read");
        let (renewed, its_key) = pair(2021, 2091);
        files.write(&renewed, "half a k");
        assert!(Arc::ptr_eq(&first, &tls.config()));
        assert_eq!(tls.unread(), 1);
        files.write(&renewed, &its_key);
        assert!(!Arc::ptr_eq(&first, &tls.config()));
        assert_eq!(tls.unread(), 1);
    }
}
