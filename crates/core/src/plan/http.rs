//! A request for the built-in HTTP runner: what is sent where. Everything in it is evaluated at the grant.

use super::is_default;
use crate::template::Template;
use serde::{Deserialize, Serialize};

/// A request over HTTP; its response is the task's output.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Http {
    /// What is asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub method: Method,
    /// Of whom.
    pub url: Template,
    /// Headers besides those that the runner sets: a map of texts, or nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub headers: Template,
    /// What is sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Read something.
    #[default]
    Get,
    /// The same without a body in the answer.
    Head,
    /// Hand something over.
    Post,
    /// Put something in a place.
    Put,
    /// Change a part of something.
    Patch,
    /// Take something away.
    Delete,
}

/// What is sent along with a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A value as JSON.
    Json(Template),
    /// A text as it is.
    Text(Template),
}

impl Method {
    /// All of them, as they are written.
    pub const ALL: [(&'static str, Self); 6] = [
        ("GET", Self::Get),
        ("HEAD", Self::Head),
        ("POST", Self::Post),
        ("PUT", Self::Put),
        ("PATCH", Self::Patch),
        ("DELETE", Self::Delete),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl Http {
    /// Every template in it.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let body = self.body.iter().map(|body| match body {
            Body::Json(template) | Body::Text(template) => template,
        });
        [&self.url, &self.headers].into_iter().chain(body)
    }
}

/// Whether a name can be that of a header.
pub fn is_header(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.len() <= 128 && name.bytes().all(token)
}

/// Headers that the runner sets by itself: a flow that set them could make two requests of one.
pub const OWN_HEADERS: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "upgrade"];
