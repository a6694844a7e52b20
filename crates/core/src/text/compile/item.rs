//! `@item(title="…", assignee="ann")`: an item of the work graph that somebody closes, as `item:` is in YAML.

use super::body::given_as;
use super::error;
use crate::expr;
use crate::flow::problem::Sink;
use crate::limits;
use crate::plan::ItemTask;
use crate::suggest::{nearest, shown};
use crate::template::Template;
use crate::text::tree::ActionCall;

/// The action that is an item.
pub(super) const NAME: &str = "item";

const ARGUMENTS: [&str; 6] = ["title", "description", "acceptance", "priority", "assignee", "tags"];

/// The item of a call whose arguments are bound; `None` if something is wrong with it, which is said.
pub(super) fn item(call: &ActionCall, arguments: Vec<expr::Expr>, sink: &mut Sink<'_>) -> Option<ItemTask> {
    let (mut fields, mut good) = (Vec::new(), true);
    for ((name, written), value) in call.arguments.iter().zip(arguments) {
        let Some(at) = ARGUMENTS.iter().position(|known| *known == name.text) else {
            let help = nearest(&name.text, ARGUMENTS).map(|near| format!("did you mean {}?", shown(near)));
            let all = "it has `title`, `description`, `acceptance`, `priority`, `assignee` and `tags`";
            let message = format!("`@item` has no argument {}", shown(&name.text));
            error(sink, name.at, "unknown_key", message).help(help.or(Some(all.into())));
            good = false;
            continue;
        };
        let priority = value.as_literal().filter(|_| name.text == "priority");
        if let Some(bad) = priority.filter(|bad| !bad.as_u64().is_some_and(is_priority)) {
            let message = format!("the priority of an item is 1 to 5, not {bad}");
            let help = "1 is done first, 5 last; 3 if it is not said";
            error(sink, written.at, "bad_value", message).help(Some(help.into()));
            good = false;
        }
        fields.push((at, name.text.clone(), given_as(value)));
    }
    if let Some(key) = call.policies.for_workers() {
        let message = format!("`{key}` has no meaning behind an item: no worker is given it");
        error(sink, call.at, "misplaced_key", message).help(Some("use `retry`, `timeout` or `overall`".into()));
        good = false;
    }
    if good && !fields.iter().any(|(at, ..)| *at == 0) {
        let help = "say in one line what is to be done: `@item(title=\"Review it\")`";
        error(sink, call.at, "missing_argument", "`@item` is not given `title`".into()).help(Some(help.into()));
        return None;
    }
    // In the order that YAML has them in, so that both make the same plan.
    fields.sort_by_key(|(at, ..)| *at);
    let fields = Template::Map(fields.into_iter().map(|(_, key, value)| (key, value)).collect());
    good.then_some(ItemTask { fields })
}

fn is_priority(number: u64) -> bool {
    u8::try_from(number).is_ok_and(|number| limits::WORK_PRIORITY.contains(&number))
}
