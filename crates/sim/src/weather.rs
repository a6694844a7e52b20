//! The weather of a seed: which troubles there are in it, and how often each strikes.
//!
//! Swarm testing: a seed with every trouble at once hardly gets anywhere, and one with a few of them gets
//! to places where the others never would. So each trouble is on or off, with a strength of its own.

use crate::dice::Dice;

macro_rules! troubles {
    ($($(#[$doc:meta])* $name:ident = $word:literal),* $(,)?) => {
        /// Something that can go wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Trouble { $($(#[$doc])* $name),* }

        impl Trouble {
            /// All of them.
            pub const ALL: &[Trouble] = &[$(Trouble::$name),*];

            /// What it is called in schedules and tables.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }
        }
    };
}

troubles! {
    /// A message never arrives.
    Loss = "message lost",
    /// A message arrives twice.
    Duplicate = "message doubled",
    /// A message is held up.
    Delay = "message delayed",
    /// Messages overtake each other.
    Reorder = "messages reordered",
    /// An orchestrator dies before it has done what it was asked.
    CrashBefore = "crash before the commit",
    /// An orchestrator dies after a commit and before anybody is answered.
    CrashAfter = "crash after the commit",
    /// An orchestrator dies when some are answered and some are not.
    CrashBetween = "crash between answers",
    /// A commit landed and its answer was lost.
    UnknownLanded = "unknown result, landed",
    /// A commit did not land and nobody knows.
    UnknownLost = "unknown result, not landed",
    /// A sync failed; the process must end.
    SyncFailed = "failed sync",
    /// Somebody else was first.
    Conflict = "forced conflict",
    /// The store is busy.
    Busy = "store busy",
    /// The store is full.
    Full = "store full",
    /// An orchestrator is frozen, and returns believing what it believed.
    Pause = "pause and return",
    /// A worker reports long after its lease was lost.
    Zombie = "zombie worker",
    /// A worker dies with what it has in hand.
    LostWorker = "lost worker",
    /// The clocks of orchestrators differ.
    Skew = "clock skew",
    /// A clock is set forwards.
    JumpForward = "clock jump forwards",
    /// A clock is set back.
    JumpBack = "clock jump back",
    /// An orchestrator is not woken when it is due.
    LostWakeUp = "lost wake-up",
    /// Rows are written late.
    LateFlush = "late flush",
    /// Rows are not written.
    LostFlush = "lost flush",
    /// An orchestrator loads rows that are old.
    StaleRows = "stale rows loaded",
    /// All rows are lost while everything is down.
    LostRows = "all rows lost",
}

/// How often each trouble strikes, in a thousand chances.
#[derive(Debug, Clone)]
pub struct Weather {
    chance: Vec<u64>,
}

impl Weather {
    /// The weather that the dice give.
    pub fn new(dice: &mut Dice) -> Self {
        let fair = dice.one_in(10);
        let draw = |trouble: &Trouble| {
            let on = dice.one_in(2) && !fair;
            let strength = *dice.pick(&[5, 20, 60, 150]);
            let rare = matches!(trouble, Trouble::LostRows | Trouble::SyncFailed);
            u64::from(on) * if rare { 1 + strength / 20 } else { strength }
        };
        Self { chance: Trouble::ALL.iter().map(draw).collect() }
    }

    /// Whether a trouble exists in this weather.
    pub fn has(&self, trouble: Trouble) -> bool {
        self.chance[trouble as usize] > 0
    }

    /// Whether a trouble strikes now.
    pub fn strikes(&self, trouble: Trouble, dice: &mut Dice) -> bool {
        let chance = self.chance[trouble as usize];
        chance > 0 && dice.below(1_000) < chance
    }
}
