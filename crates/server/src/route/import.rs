//! Items from elsewhere: read as `edgewise import` reads them, and brought in as one commit.

use super::domain::blocking;
use super::item;
use crate::app::App;
use crate::auth::{Permission, Principal};
use crate::body::Json;
use crate::guard::permit;
use crate::idempotency::OwnKey;
use crate::problem::Result;
use axum::Extension;
use axum::extract::State;
use edgewise_client::wire::{ImportForm, ImportItems, Imported};
use edgewise_core::Error;
use edgewise_engine::command::Command;
use edgewise_engine::import::{Asked, Draft, Form, read};

pub async fn import(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    OwnKey(key): OwnKey,
    Json(asked): Json<ImportItems>,
) -> Result<Json<Imported>> {
    let dry_run = asked.dry_run;
    // A large text takes its time: others are answered meanwhile.
    let reading = blocking(move || read(&asked.texts, asked.form.map(form)).map_err(|error| misread(&error)));
    let (form, draft) = reading.await?;
    let mut told = told(form, &draft, dry_run);
    match draft.asked(form) {
        // Who approved and who closed what elsewhere: whoever brings it in is believed.
        Asked::Whole(whole) => {
            permit(&who, Permission::Admin)?;
            if !dry_run {
                app.engine().ask(Command::Import(whole)).await?;
            }
        }
        Asked::Ops(ops) => {
            item::check_authors(&ops, &who)?;
            if !dry_run {
                told.already = app.engine().work(ops, who.name, key).await?.first().is_some_and(|done| done.already);
            }
        }
    }
    Ok(Json(told))
}

fn told(form: Form, draft: &Draft, dry_run: bool) -> Imported {
    let (items, dependencies, gates) = draft.counts();
    Imported {
        items,
        dependencies,
        gates,
        form: word(form),
        dry_run,
        already: false,
        notes: draft.notes.iter().cloned().collect(),
        ids: draft.items().map(|(id, _)| id.to_string()).collect(),
    }
}

/// What to do about what could not be read.
fn misread(error: &Error) -> Error {
    let next = match error.code {
        "empty_import" => "give something in `texts`",
        "unknown_form" => "say what it is with `form`: edgewise, beads, quarry or github",
        _ => "nothing was written",
    };
    Error::new(error.kind, error.code, format!("{}; {next}", error.message))
}

fn form(asked: ImportForm) -> Form {
    match asked {
        ImportForm::Edgewise => Form::Edgewise,
        ImportForm::Beads => Form::Beads,
        ImportForm::Quarry => Form::Quarry,
        ImportForm::Github => Form::Github,
    }
}

fn word(form: Form) -> ImportForm {
    match form {
        Form::Edgewise => ImportForm::Edgewise,
        Form::Beads => ImportForm::Beads,
        Form::Quarry => ImportForm::Quarry,
        Form::Github => ImportForm::Github,
    }
}
