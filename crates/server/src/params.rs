//! Parameters of the path and of the query, refused with a problem like everything else.

use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use edgewise_core::Error;
use serde::de::DeserializeOwned;

/// The parameters of the path.
pub struct Path<T>(pub T);

/// The parameters of the query. Unknown ones are refused by the form itself.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|path| Self(path.0)).map_err(|error| refuse("path", &error))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        query.map(|query| Self(query.0)).map_err(|error| refuse("query", &error))
    }
}

fn refuse(what: &str, error: &dyn std::fmt::Display) -> Problem {
    Problem(Error::invalid("bad_parameter", format!("the {what} cannot be read: {error}; see /api/openapi.json")))
}
