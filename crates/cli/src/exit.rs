//! Exit codes: what a script learns without reading a word.

use edgewise_core::Kind;
use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done as asked.
    Ok = 0,
    /// The run failed; or we did, in a way that neither other words nor another try would mend.
    Failed = 1,
    /// The command or the flow is wrong as it stands.
    Usage = 2,
    /// There is no such thing.
    NotFound = 3,
    /// Somebody was first, or the state forbids it.
    Conflict = 4,
    /// This is not permitted.
    Denied = 5,
    /// Not over: it waits for somebody or something.
    Waiting = 6,
    /// Nobody answered, or the store cannot be used now. Another try may help.
    Unreachable = 7,
    /// The time given was not enough.
    Timeout = 124,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// All of them with what they mean, for the help text.
    pub const ALL: [(Exit, &'static str); 10] = [
        (Exit::Ok, "done as asked"),
        (Exit::Failed, "the run failed, or something broke that another try would not mend"),
        (Exit::Usage, "wrong usage, or the flow is invalid"),
        (Exit::NotFound, "no such run, task or file"),
        (Exit::Conflict, "somebody was first, or the state forbids it"),
        (Exit::Denied, "not permitted, here or by the file system"),
        (Exit::Waiting, "not over: it waits for somebody"),
        (Exit::Unreachable, "nobody answered: try again"),
        (Exit::Timeout, "the time given was not enough"),
        (Exit::Interrupted, "stopped by Ctrl-C"),
    ];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// By what the caller would do: correct the request (2), look elsewhere (3), look again and decide (4), ask for
/// permission (5), try later (7). Damage and bugs of ours end as 1, like a failed run: no script can mend them.
impl From<Kind> for Exit {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Invalid | Kind::Limit => Self::Usage,
            Kind::NotFound => Self::NotFound,
            Kind::Conflict | Kind::Stale => Self::Conflict,
            Kind::Denied => Self::Denied,
            Kind::Unavailable => Self::Unreachable,
            Kind::Corrupt | Kind::Bug => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_has_its_code() {
        for (kind, code) in [
            (Kind::Invalid, 2),
            (Kind::NotFound, 3),
            (Kind::Denied, 5),
            (Kind::Conflict, 4),
            (Kind::Stale, 4),
            (Kind::Limit, 2),
            (Kind::Unavailable, 7),
            (Kind::Corrupt, 1),
            (Kind::Bug, 1),
        ] {
            assert_eq!(Exit::from(kind).code(), code, "{kind:?}");
        }
    }

    #[test]
    fn the_list_for_the_help_text_is_complete_and_in_order() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|(exit, _)| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 124, 130]);
    }
}
