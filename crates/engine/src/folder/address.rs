//! Where an engine listens: a socket in the folder. Where that path is too long for a socket, it is in a
//! private folder among the temporary files, and `engine.addr` says where.

use super::{private, unusable};
use crate::entropy::Entropy;
use edgewise_core::{Error, Result};
use std::fs::{DirBuilder, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

const SOCKET: &str = "engine.sock";
const ADDRESS: &str = "engine.addr";
/// What the private folders are called.
const ELSEWHERE: &str = "edgewise-";
/// Longest path of a socket: systems have 104 bytes or more, one of them for the end.
const PATH_BYTES: usize = 103;

/// A socket that is listened on; dropping this takes its files away.
#[derive(Debug)]
pub(super) struct Bound {
    dir: PathBuf,
}

/// Listens. To be called by whoever holds the lock: what an earlier engine left is taken away first.
pub(super) fn bind(dir: &Path) -> Result<(UnixListener, Bound)> {
    remove(dir);
    let bound = Bound { dir: dir.to_owned() };
    let here = dir.join(SOCKET);
    let path = if fits(&here) { here } else { elsewhere(dir)? };
    let failed = |error| unusable("the socket", &path, error);
    let listener = UnixListener::bind(&path).map_err(failed)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed)?;
    Ok((listener, bound))
}

/// Connects; `None` if nobody listens.
pub(super) async fn connect(dir: &Path) -> Result<Option<UnixStream>> {
    let path = match std::fs::read(dir.join(ADDRESS)) {
        Ok(path) => PathBuf::from(std::ffi::OsStr::from_bytes(&path)),
        Err(_) => dir.join(SOCKET),
    };
    if !fits(&path) {
        return Ok(None);
    }
    match UnixStream::connect(&path).await {
        Ok(stream) => Ok(Some(stream)),
        Err(e) if nobody_is_there(e.kind()) => Ok(None),
        Err(e) => Err(unusable("the socket", &path, e)),
    }
}

/// Nobody listens, whoever did was just leaving, or too many wait already: all of this may be different soon.
fn nobody_is_there(kind: ErrorKind) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotFound, WouldBlock};
    matches!(kind, NotFound | ConnectionRefused | ConnectionReset | ConnectionAborted | BrokenPipe | WouldBlock)
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= PATH_BYTES
}

/// Makes a folder that nobody else can look into, and writes down where it is.
fn elsewhere(dir: &Path) -> Result<PathBuf> {
    let name = format!("{ELSEWHERE}{:016x}", Entropy::from_system()?.bits() as u64);
    let places = [std::env::temp_dir(), PathBuf::from("/tmp")];
    let private_dir = places.into_iter().map(|place| place.join(&name)).find(|path| fits(&path.join(SOCKET)));
    let Some(private_dir) = private_dir else {
        let message = format!("{} is too long for a socket: choose a folder with a shorter path", dir.display());
        return Err(Error::invalid("path_too_long", message));
    };
    // It must be new: whoever made it before could listen in our place.
    let made = DirBuilder::new().mode(0o700).create(&private_dir);
    made.map_err(|error| unusable("the folder", &private_dir, error))?;
    let path = private_dir.join(SOCKET);
    // Written whole or not at all: a client may be reading it.
    let (draft, address) = (dir.join("engine.addr.new"), dir.join(ADDRESS));
    let write = private(&mut std::fs::OpenOptions::new()).open(&draft);
    let written = write.and_then(|mut file| {
        file.set_len(0)?;
        file.write_all(path.as_os_str().as_bytes())
    });
    written.and_then(|()| std::fs::rename(&draft, &address)).map_err(|e| unusable("the file", &address, e))?;
    Ok(path)
}

/// Takes a socket away, ours or one that a killed engine left.
fn remove(dir: &Path) {
    if let Ok(path) = std::fs::read(dir.join(ADDRESS)) {
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&path));
        let folder = path
            .parent()
            .filter(|folder| folder.file_name().is_some_and(|name| name.as_bytes().starts_with(ELSEWHERE.as_bytes())));
        if let Some(folder) = folder {
            let _ = std::fs::remove_file(folder.join(SOCKET));
            let _ = std::fs::remove_dir(folder);
        }
        let _ = std::fs::remove_file(dir.join(ADDRESS));
    }
    let _ = std::fs::remove_file(dir.join(SOCKET));
}

impl Drop for Bound {
    fn drop(&mut self) {
        remove(&self.dir);
    }
}
