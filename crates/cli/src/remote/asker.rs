//! Plain requests to a server, one after the other, for commands whose routes already answer what they print.

use super::{Remote, told};
use crate::place::runtime;
use crate::problem::Result;
use edgewise_client::Client;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

/// Somebody who asks a server and waits.
pub struct Asker {
    client: Client,
    runtime: Runtime,
}

impl Asker {
    pub(super) fn of(remote: &Remote) -> Result<Self> {
        Ok(Self { client: remote.client().map_err(told)?, runtime: runtime()? })
    }

    /// What stands at a path.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        Ok(self.runtime.block_on(self.client.get(path)).map_err(told)?)
    }

    /// Asks for something to be done.
    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        Ok(self.runtime.block_on(self.client.post(path, body)).map_err(told)?)
    }
}
