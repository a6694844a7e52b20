//! How a plan is stored: JSON in columns, with the exceptions said beside them.
//!
//! The hash is taken over exactly these bytes, so encoding is canonical: one plan, one text.

use super::build::{PlanDraft, RegionDraft};
use super::{Accepts, Identity, Join, Naming, OnFailure, Plan, Publish, Region, Spec, Statement};
use crate::error::{Error, Result};
use crate::id::PlanHash;
use crate::input::Input;
use crate::name::Name;
use crate::template::Template;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

const VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    v: u32,
    flow: Name,
    #[serde(default)]
    namespace: Option<Name>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    identity: Identity,
    #[serde(default)]
    on_failure: OnFailure,
    #[serde(default)]
    inputs: Vec<Input>,
    #[serde(default)]
    output: Option<Template>,
    #[serde(default)]
    publish: Vec<Publish>,
    specs: Vec<Spec>,
    regions: Vec<WireRegion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRegion {
    names: Vec<String>,
    specs: Vec<u32>,
    /// For each node the nodes it needs.
    needs: Vec<Vec<u32>>,
    /// Joins that are not `all`: node, join.
    #[serde(default)]
    joins: Vec<(u32, Join)>,
    /// Edges that accept something else than success: edge number, set.
    #[serde(default)]
    accepts: Vec<(u32, Accepts)>,
    /// The statements, if it is a chain.
    #[serde(default)]
    script: Option<Vec<Statement>>,
}

/// A plan on its way out: the same columns, written from where they are. A plan may be large, and is not copied.
#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    flow: &'a Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a Name>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "super::is_default")]
    identity: Identity,
    #[serde(skip_serializing_if = "super::is_default")]
    on_failure: OnFailure,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    inputs: &'a [Input],
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Template>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    publish: &'a [Publish],
    specs: &'a [Spec],
    regions: Vec<WrittenRegion<'a>>,
}

struct WrittenRegion<'a>(&'a Region);

/// A column that is made while it is written.
struct Column<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Column<F> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq((self.0)())
    }
}

impl Serialize for WrittenRegion<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let region = self.0;
        let nodes = 0..region.len();
        let ups = |node| Column(move || region.needs(node).map(|(_, edge)| edge.up));
        let mut columns = s.serialize_struct("WireRegion", 6)?;
        columns.serialize_field("names", &Column(|| region.names.iter()))?;
        columns.serialize_field("specs", &region.specs)?;
        columns.serialize_field("needs", &Column(|| nodes.clone().map(ups)))?;
        let joins: Vec<(u32, Join)> =
            nodes.clone().map(|n| (n, region.join(n))).filter(|(_, j)| *j != Join::All).collect();
        if !joins.is_empty() {
            columns.serialize_field("joins", &joins)?;
        }
        let accepts: Vec<(u32, Accepts)> = (0..region.edge_count())
            .map(|e| (e, region.edge(e).accepts))
            .filter(|(_, a)| *a != Accepts::SUCCESS)
            .collect();
        if !accepts.is_empty() {
            columns.serialize_field("accepts", &accepts)?;
        }
        if let Some(script) = &region.script {
            columns.serialize_field("script", script)?;
        }
        columns.end()
    }
}

impl Plan {
    /// The stored form, and the hash that names it.
    pub fn encode(&self) -> (PlanHash, Vec<u8>) {
        let wire = Written {
            v: VERSION,
            flow: &self.flow,
            namespace: self.naming.namespace.as_ref(),
            labels: &self.naming.labels,
            identity: self.naming.identity,
            on_failure: self.on_failure,
            inputs: &self.inputs,
            output: self.output.as_ref(),
            publish: &self.publish,
            specs: &self.specs,
            regions: self.regions.iter().map(WrittenRegion).collect(),
        };
        let bytes = serde_json::to_vec(&wire).unwrap_or_default();
        (PlanHash::of(&bytes), bytes)
    }

    /// Reads the stored form; the whole graph is checked again, so damage cannot become behaviour.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let corrupt = |why: String| Error::corrupt("bad_plan", format!("a stored plan cannot be read: {why}"));
        let wire: Wire = serde_json::from_slice(bytes).map_err(|e| corrupt(e.to_string()))?;
        if wire.v != VERSION {
            return Err(corrupt(format!("it has version {}, this program reads version {VERSION}", wire.v)));
        }
        let mut regions = Vec::with_capacity(wire.regions.len());
        for region in wire.regions {
            regions.push(region.draft().ok_or_else(|| corrupt("its columns differ in length".into()))?);
        }
        let Wire { namespace, labels, identity, specs, on_failure, inputs, output, publish, .. } = wire;
        let naming = Naming { namespace, labels, identity };
        let draft = PlanDraft { specs, regions, on_failure, inputs, output, naming, publish };
        draft.build(wire.flow).map_err(|problems| corrupt(problems[0].message.clone()))
    }
}

impl WireRegion {
    fn draft(self) -> Option<RegionDraft> {
        if self.names.len() != self.specs.len() || self.needs.len() != self.specs.len() {
            return None;
        }
        let mut joins = vec![Join::All; self.specs.len()];
        for (node, join) in self.joins {
            *joins.get_mut(node as usize)? = join;
        }
        let mut draft = RegionDraft { script: self.script, ..RegionDraft::default() };
        for ((name, spec), join) in self.names.iter().zip(&self.specs).zip(joins) {
            draft.node(name, *spec, join);
        }
        let mut accepts = self.accepts.iter().peekable();
        let mut edge = 0;
        for (down, needs) in self.needs.iter().enumerate() {
            for up in needs {
                let set = accepts.next_if(|(e, _)| *e == edge).map_or(Accepts::SUCCESS, |(_, a)| *a);
                draft.edge(*up, down as u32, set);
                edge += 1;
            }
        }
        accepts.next().is_none().then_some(draft)
    }
}
