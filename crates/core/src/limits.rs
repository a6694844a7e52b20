//! Every limit of the core, by name, in one place.
//!
//! A limit is a promise to the machine that runs us: whatever a flow or a worker sends, memory and
//! time stay bounded. Crossing one is refused with a message that names the limit.

/// Longest name of a flow, task, action, worker, person or input.
pub const NAME_BYTES: usize = 128;
/// Most labels of one run.
pub const LABELS: usize = 64;
/// Longest value of a label.
pub const LABEL_BYTES: usize = 256;
/// Largest flow file that is read.
pub const FLOW_BYTES: usize = 64 << 20;
/// Most bytes that the specs of one plan come to, before equal ones are shared.
pub const PLAN_BYTES: usize = 512 << 20;
/// Deepest nesting of a flow file, a value or a template.
pub const DEPTH: usize = 64;
/// Deepest nesting of stored JSON: whoever reads it back gives up beyond.
pub const STORED_LEVELS: usize = 127;
/// Deepest nesting of what a template comes to, or is gathered of outputs: with the values in it that can be more than a
/// value, and where it is kept there are levels around it.
pub const FILLED_DEPTH: usize = 96;
/// Most nodes in one plan, over all its regions.
pub const PLAN_NODES: usize = 2_000_000;
/// Most statements of functions that one file compiles again because several flows call them, and most defaults that
/// its calls leave to the function.
pub const COPIED_STATEMENTS: usize = 200_000;
/// Most edges in one plan, over all its regions.
pub const PLAN_EDGES: usize = 16_000_000;
/// Most tasks one run may come to, with all its scopes.
pub const RUN_TASKS: usize = 8_000_000;
/// Most items of one spread.
pub const SPREAD_ITEMS: usize = 1_000_000;
/// Most failures that the failure of a spread carries; it says how many there were.
pub const SPREAD_ERRORS: usize = 10;
/// How many failures deep the cause of a failure is told.
pub const CAUSES: usize = 16;
/// Deepest nesting of regions (a spread within a spread, a loop within a branch).
pub const REGION_DEPTH: usize = 64;
/// Deepest nesting of runs: a flow that starts a flow that starts a flow.
pub const RUN_DEPTH: u16 = 16;
/// Largest output of one task, as JSON text.
pub const OUTPUT_BYTES: usize = 16 << 20;
/// Largest input of a run, as JSON text.
pub const INPUT_BYTES: usize = 16 << 20;
/// Longest message kept of a failure; the rest is cut and said to be.
pub const MESSAGE_BYTES: usize = 8 << 10;
/// Most attempts a task may be given.
pub const MAX_ATTEMPTS: u16 = 10_000;
/// Lowest and highest priority of a task; 0 is in the middle.
pub const PRIORITY: std::ops::RangeInclusive<i16> = -1_000..=1_000;
/// Most attempts that a limit may allow at once, and most slots of a queue.
pub const SLOTS: u32 = 1_000_000;
/// Most that a rate may count.
pub const RATE: u32 = 1_000_000;
/// Most domain events that one flow, or one task, publishes.
pub const PUBLISHED: usize = 32;
/// Largest payload of a domain event, as JSON; a larger one is left out, and that is said.
pub const DOMAIN_PAYLOAD_BYTES: usize = 256 << 10;
/// Longest key of a limit, once it is evaluated.
pub const LIMIT_KEY_BYTES: usize = 256;
/// Longest duration a flow may name: ten years.
pub const DURATION_MS: u64 = 10 * 366 * 24 * 3_600_000;
/// Most approvers one gate may name.
pub const APPROVERS: usize = 1_000;
/// Longest comment of a person on a gate or a cancel.
pub const COMMENT_BYTES: usize = 8 << 10;
/// Scopes one event may make, and statements it may run, before the rest waits for `RunAdvanced`.
pub const INLINE_STEPS: u32 = 10_000;
/// Most problems reported for one flow file.
pub const PROBLEMS: usize = 100;
/// Longest text of one expression.
pub const EXPR_BYTES: usize = 64 << 10;
/// Most parameters of one flow or function in program text, arguments of one call, names of one assignment.
pub const ARGUMENTS: usize = 256;
/// Longest text of a pattern.
pub const PATTERN_BYTES: usize = 1_000;
/// Most parts of a pattern, once what it repeats is written out.
pub const PATTERN_PARTS: usize = 5_000;
/// Most steps in which the inputs of one run are held to their patterns: an engine that starts runs does nothing else
/// meanwhile.
pub const INPUT_PATTERN_STEPS: u64 = 1_000_000;
/// Deepest nesting of one expression, also along a chain such as `a + b + c`.
pub const EXPR_DEPTH: u32 = 200;
/// Most parts of one expression, once named values stand in place of their names.
pub const EXPR_NODES: usize = 10_000;
/// Most parts that take the place of named values, in all expressions of one flow.
pub const LET_PARTS: usize = 250_000;
/// Longest text of one expression, once named values stand in place of their names.
pub const EXPR_WHOLE_BYTES: usize = 1 << 20;
/// Most steps in which an expression is evaluated: about one for each part, each time it is looked at.
pub const EVAL_STEPS: u64 = 1_000_000;
/// So many steps of evaluating cost as much of an event as one statement.
pub const STEPS_A_STATEMENT: u64 = 1_000;
/// Most bytes that evaluating one expression makes, whether they are kept or not.
pub const EVAL_BYTES: usize = 32 << 20;
/// Most steps in which an expression that names nothing is evaluated while its flow is compiled.
pub const CONSTANT_STEPS: u64 = 1_000;
/// Most steps of one rehearsal: a loop that never ends must end somewhere.
pub const REHEARSAL_STEPS: u32 = 100_000;
/// Most steps that one supposed fact may lead to, for the same reason.
pub const WHAT_IF_STEPS: u32 = 1_000_000;
/// Longest name of a schedule: it is part of the keys of its runs.
pub const SCHEDULE_NAME_BYTES: usize = 80;
/// Most schedules of one workspace.
pub const SCHEDULES: usize = 100_000;
/// Most ticks of a schedule that wait for the run before them.
pub const QUEUED_TICKS: usize = 1_000;
/// Most missed ticks that a schedule catches up with.
pub const CAUGHT_UP: u32 = 1_000;
/// A tick that is found to be due later than this was missed.
pub const TICK_GRACE_MS: u64 = 60_000;
/// Most runs of one backfill at a time.
pub const BACKFILL_AT_ONCE: u32 = 1_000;
/// Largest input of a schedule, as JSON text.
pub const SCHEDULE_INPUT_BYTES: usize = 64 << 10;
/// Longest key of a setting.
pub const SETTING_KEY_BYTES: usize = 128;
/// Largest value of a setting, as JSON text.
pub const SETTING_BYTES: usize = 64 << 10;
/// Longest title of an item or a gate.
pub const WORK_TITLE_BYTES: usize = 500;
/// Longest description, and longest acceptance, of an item.
pub const WORK_TEXT_BYTES: usize = 256 << 10;
/// Largest metadata of an item or a dependency, as JSON text.
pub const WORK_METADATA_BYTES: usize = 64 << 10;
/// Most tags of one item.
pub const WORK_TAGS: usize = 64;
/// Longest name that an item or a gate has elsewhere.
pub const WORK_REFERENCE_BYTES: usize = 1 << 10;
/// Most items of one workspace, deleted ones too.
pub const WORK_ITEMS: usize = 50_000_000;
/// Least and most urgent priority of an item, as numbers: 1 goes first.
pub const WORK_PRIORITY: std::ops::RangeInclusive<u8> = 1..=5;
/// Deepest chain of reasons that one answer tells: a deeper one could not be printed or read back.
pub const REASON_DEPTH: usize = 40;
