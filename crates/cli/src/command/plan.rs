//! `edgewise plan`: the regions that a flow is compiled to, or the plan as it is stored.

use super::Context;
use crate::args::Plan;
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::Kind;
use edgewise_core::plan::{Identity, Outlined};
use serde_json::value::RawValue;

pub(super) fn perform(args: &Plan, context: &mut Context<'_>) -> Result<Exit> {
    let file = FlowFile::typed(&args.file, context.cwd);
    let plan = file.one("has no plan: it is no valid flow")?.plan;
    let (hash, bytes) = plan.encode();
    let stored = String::from_utf8(bytes).ok().and_then(|text| RawValue::from_string(text).ok());
    let stored = stored.ok_or_else(|| Problem::new(Kind::Bug, "unprintable", "the plan has no JSON form"))?;
    let style = context.printer.out_style;
    let mut lines = vec![format!("{}  plan {hash}", style.paint(Ink::Bold, &text::escape(&plan.flow)))];
    lines.extend(naming(&plan, style));
    lines.extend(plan.outline().iter().flat_map(|region| told(region, style)));
    context.printer.one(hash.to_string(), &lines, &stored)?;
    Ok(Exit::Ok)
}

/// How its runs are told apart and found; the namespace always, the rest where it is said.
fn naming(plan: &edgewise_core::plan::Plan, style: Style) -> Vec<String> {
    let labels: Vec<String> = plan.naming.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut facts = vec![("namespace", plan.namespace().to_string())];
    facts.extend((!labels.is_empty()).then(|| ("labels", labels.join(", "))));
    facts.extend((plan.naming.identity == Identity::Strict).then(|| ("identity", "strict".to_owned())));
    let line = |(label, value): &(&str, String)| {
        format!("  {}  {}", style.paint(Ink::Dim, &text::pad(label, 9)), text::escape(value))
    };
    facts.iter().map(line).collect()
}

fn told(region: &Outlined, style: Style) -> Vec<String> {
    let head = style.paint(Ink::Dim, &text::escape(&region.head));
    let lines = region.lines.iter().map(|line| format!("  {}", text::escape(line)));
    let nothing = region.lines.is_empty().then(|| style.paint(Ink::Dim, "  nothing"));
    [String::new(), head].into_iter().chain(lines).chain(nothing).collect()
}
