//! `edgewise graph`: a flow, a run or items, drawn.

use super::at::At;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Draw a flow, a run, or what items wait for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise graph build.yaml                   in the terminal
  edgewise graph @                            the last run, with states
  edgewise graph ew-7k2                       an item, with all that it waits for and that waits for it
  edgewise graph                              all items that are not closed
  edgewise graph build.yaml --to build.svg    a picture; the form follows the file's ending
  edgewise graph @ --format mermaid
  edgewise graph @ --at 17                    as it was after event 17")]
pub struct Graph {
    /// A flow's file, an item or a run: its id, the beginning of it, or @ for the last one [default: all items]
    #[arg(value_name = "FILE|ID")]
    pub what: Option<String>,
    /// In which form [default: text, or what the ending of --to says]
    #[arg(long, value_enum, value_name = "FORM")]
    pub format: Option<Form>,
    /// Write it to this file
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// A run as it was then: the seq of an event, an instant, a time, or `10m ago`
    #[arg(long, value_name = "TIME|SEQ", value_parser = At::parse)]
    pub at: Option<At>,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Lines for a terminal.
    Text,
    /// A picture for browsers.
    Svg,
    /// For Graphviz.
    Dot,
    /// For pages that draw it themselves.
    Mermaid,
    /// Nodes, edges, groups and their places.
    Json,
}

impl Form {
    /// The form that the ending of a file names.
    pub fn of_file(file: &Path) -> Option<Self> {
        let ending = file.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "txt" => Self::Text,
            "svg" => Self::Svg,
            "dot" | "gv" => Self::Dot,
            "mmd" | "mermaid" => Self::Mermaid,
            "json" => Self::Json,
            _ => return None,
        })
    }
}
