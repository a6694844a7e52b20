//! How a picture looks: colours for both grounds, and a sign for each phase so that colour is never the only one.

use crate::state::Phase;

/// The style of the whole file. Colours are said twice instead of once as variables, which some viewers do not know.
pub(super) const STYLE: &str = "<style>
text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif; }
.ground { fill: #ffffff; }
.title { font-size: 16px; font-weight: 600; fill: #1f2328; }
.subtitle { font-size: 12px; fill: #59636e; }
.name { font-size: 13px; font-weight: 500; fill: #1f2328; }
.note { font-size: 11px; fill: #59636e; }
.label { font-size: 11px; fill: #59636e; text-anchor: middle; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; paint-order: stroke; }
.box { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1.2; }
.group { fill: #818b98; fill-opacity: 0.07; stroke: #8c959f; stroke-width: 1; stroke-dasharray: 5 4; }
.edge { fill: none; stroke: #818b98; stroke-width: 1.4; }
.tip { fill: #818b98; }
.sign { fill: #818b98; }
.mark { fill: none; stroke: #ffffff; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.bar { fill: #d1d9e0; }
.ready .sign, .blocked .sign, .skipped .sign { fill: none; stroke: #818b98; stroke-width: 1.5; }
.ready .mark, .blocked .mark, .skipped .mark { stroke: #818b98; }
.running .sign, .running .done, .running.tip { fill: #0969da; }
.waiting .sign, .waiting .done, .cancelled .sign, .cancelled .done { fill: #9a6700; }
.succeeded .sign, .succeeded .done, .succeeded.tip { fill: #1a7f37; }
.failed .sign, .failed .done, .failed.tip { fill: #cf222e; }
.running .box { fill: #ddf4ff; stroke: #0969da; }
.waiting .box { fill: #fff8c5; stroke: #9a6700; }
.succeeded .box { fill: #dafbe1; stroke: #1a7f37; }
.failed .box { fill: #ffebe9; stroke: #cf222e; }
.cancelled .box { fill: #fff8c5; stroke: #9a6700; stroke-dasharray: 2 3; }
.blocked .box { fill: #ffffff; }
.skipped .box { fill: #ffffff; stroke-dasharray: 4 3; }
.skipped .name, .skipped .note { fill: #818b98; }
.succeeded.edge { stroke: #1a7f37; }
.failed.edge { stroke: #cf222e; }
.refused.edge { stroke-dasharray: 2 4; }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117; }
.title, .name { fill: #f0f6fc; }
.subtitle, .note, .label { fill: #9198a1; }
.label { stroke: #0d1117; }
.box { fill: #151b23; stroke: #656c76; }
.edge { stroke: #656c76; }
.tip, .sign { fill: #656c76; }
.mark { stroke: #0d1117; }
.bar { fill: #3d444d; }
.ready .sign, .blocked .sign, .skipped .sign { fill: none; stroke: #656c76; }
.ready .mark, .blocked .mark, .skipped .mark { stroke: #656c76; }
.running .sign, .running .done, .running.tip { fill: #4493f8; }
.waiting .sign, .waiting .done, .cancelled .sign, .cancelled .done { fill: #d29922; }
.succeeded .sign, .succeeded .done, .succeeded.tip { fill: #3fb950; }
.failed .sign, .failed .done, .failed.tip { fill: #f85149; }
.running .box { fill: #121d2f; stroke: #4493f8; }
.waiting .box, .cancelled .box { fill: #272115; stroke: #d29922; }
.succeeded .box { fill: #12261e; stroke: #3fb950; }
.failed .box { fill: #25171c; stroke: #f85149; }
.blocked .box, .skipped .box { fill: #0d1117; }
.skipped .name, .skipped .note { fill: #848d97; }
.succeeded.edge { stroke: #3fb950; }
.failed.edge { stroke: #f85149; }
}
</style>";

/// What is drawn in the circle of a phase, around its middle.
pub(super) fn mark(phase: Phase) -> &'static str {
    match phase {
        Phase::Blocked => "M-2.5 0h.01M2.5 0h.01",
        Phase::Ready => "M0 0h.01",
        Phase::Running => "M-1.8 -3.2L3.2 0L-1.8 3.2Z",
        Phase::Waiting => "M0 -3.6V0.4L2.6 2",
        Phase::Succeeded => "M-3.2 0.4L-0.9 2.8L3.4 -2.4",
        Phase::Failed => "M-2.6 -2.6L2.6 2.6M2.6 -2.6L-2.6 2.6",
        Phase::Skipped => "M-3 0H3",
        Phase::Cancelled => "M-2.6 2.6L2.6 -2.6",
    }
}
