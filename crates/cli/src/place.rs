//! Where runs are: the data folder that the settings name, as commands that act use it.

use crate::args::RunRef;
use crate::config::Config;
use crate::problem::{Problem, Result};
use crate::remote::Remote;
use crate::view;
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::folder::{Options, Work};
use edgewise_engine::http::{Http, Rules};
use edgewise_engine::queues::Queues;
use edgewise_engine::reader::Reader;
use edgewise_engine::secrets::{Lending, Secrets};
use edgewise_engine::{Door, Folder, Home};
use std::path::PathBuf;

/// The folder, and what an engine in it would be.
pub struct Place {
    /// The folder.
    pub folder: Folder,
    /// Where commands of tasks run.
    pub project: PathBuf,
    slots: u32,
    http: Rules,
    secrets: Secrets,
    queues: Queues,
    config: Config,
}

impl Place {
    /// The place that the settings name; it need not exist yet.
    pub fn of(config: &Config) -> Self {
        let slots = u32::try_from(config.workers.value).unwrap_or(u32::MAX);
        let http = Rules { allow: config.http_allow.value.0.clone() };
        let folder = Folder::at(&config.dir.value)
            .keeping(config.retention.value.clone())
            .keeping_events(config.keep_events.value);
        let queues = config.queues.value.clone();
        let secrets = Secrets::with_file(config.secrets_file.value.clone());
        Self { folder, project: config.project.clone(), slots, http, secrets, queues, config: config.clone() }
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// An engine that works: it runs commands and others can talk to it.
    pub fn worker(&self, background: bool) -> Options {
        let (http, secrets) = (self.http.clone(), self.secrets.clone());
        let work = Work { project: self.project.clone(), slots: self.slots, http, secrets };
        Options { home: Home::local(), work: Some(work), background, queues: self.queues.clone() }
    }

    /// An engine that others talk to; it does tasks itself only if it is told to.
    pub fn server(&self, work: bool) -> Options {
        let options = self.worker(true);
        let slots = if work { self.slots } else { 0 };
        Options { work: options.work.map(|work| Work { slots, ..work }), ..options }
    }

    /// What webhooks are told with: the same rules as for the requests of tasks.
    pub fn http(&self) -> Http {
        Http::new(self.http.clone(), wall_clock)
    }

    /// The secrets that a server may give to workers elsewhere.
    pub fn lending(&self) -> Lending {
        Lending::new(self.secrets.clone(), self.config.send_secrets.value.0.iter().cloned())
    }

    /// A way in for whoever only wants something recorded: no command is started because of it.
    pub async fn record(&self) -> Result<Door> {
        if let Some(remote) = Remote::of(&self.config)? {
            return Ok(remote.door());
        }
        let options = Options { home: Home::local(), work: None, background: false, queues: self.queues.clone() };
        Ok(Door::open(self.folder.clone(), options).await?)
    }

    /// A way in for whoever wants something done, and would do it.
    pub async fn work(&self) -> Result<Door> {
        if let Some(remote) = Remote::of(&self.config)? {
            return Ok(remote.door());
        }
        Ok(Door::open(self.folder.clone(), self.worker(false)).await?)
    }

    /// A look at what is there.
    pub fn reader(&self) -> Result<Reader> {
        view::reader(&self.config)
    }

    /// Refuses to go on where nothing was ever run: nothing is made there by asking.
    pub fn there_are_runs(&self) -> Result<()> {
        let dir = self.folder.dir();
        if view::is_there(&self.config) {
            return Ok(());
        }
        let what = format!("there are no runs in {}", dir.display());
        Err(Problem::new(Kind::NotFound, "no_store", what)
            .next("start one with `edgewise run FILE`, or name another folder with --dir"))
    }

    /// The run that was meant. Nothing is made where there is nothing.
    pub fn find(&self, run: &RunRef) -> Result<RunId> {
        self.there_are_runs()?;
        let text = match run {
            RunRef::Last => "@",
            RunRef::Prefix(prefix) => prefix,
        };
        Ok(self.reader()?.find(text)?)
    }
}

/// The threads that commands of this kind need: few, since work is done by the commands of tasks.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| {
        Problem::new(Kind::Unavailable, "no_thread", "the system gave no threads").why(error.to_string())
    })
}
