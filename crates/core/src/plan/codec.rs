//! How a plan is stored: JSON in columns, with the exceptions said beside them.
//!
//! The hash is taken over exactly these bytes, so encoding is canonical: one plan, one text.

use super::build::{PlanDraft, RegionDraft};
use super::{Accepts, Identity, Join, Naming, OnFailure, Plan, Region, Spec, Statement};
use crate::error::{Error, Result};
use crate::id::PlanHash;
use crate::input::Input;
use crate::name::Name;
use crate::template::Template;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    v: u32,
    flow: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<Name>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "super::is_default")]
    identity: Identity,
    #[serde(default, skip_serializing_if = "super::is_default")]
    on_failure: OnFailure,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Input>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Template>,
    specs: Vec<Spec>,
    regions: Vec<WireRegion>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRegion {
    names: Vec<String>,
    specs: Vec<u32>,
    /// For each node the nodes it needs.
    needs: Vec<Vec<u32>>,
    /// Joins that are not `all`: node, join.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<(u32, Join)>,
    /// Edges that accept something else than success: edge number, set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accepts: Vec<(u32, Accepts)>,
    /// The statements, if it is a chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    script: Option<Vec<Statement>>,
}

impl Plan {
    /// The stored form, and the hash that names it.
    pub fn encode(&self) -> (PlanHash, Vec<u8>) {
        let wire = Wire {
            v: VERSION,
            flow: self.flow.clone(),
            namespace: self.naming.namespace.clone(),
            labels: self.naming.labels.clone(),
            identity: self.naming.identity,
            on_failure: self.on_failure,
            inputs: self.inputs.clone(),
            output: self.output.clone(),
            specs: self.specs.clone(),
            regions: self.regions.iter().map(WireRegion::of).collect(),
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
        let Wire { namespace, labels, identity, specs, on_failure, inputs, output, .. } = wire;
        let naming = Naming { namespace, labels, identity };
        let draft = PlanDraft { specs, regions, on_failure, inputs, output, naming };
        draft.build(wire.flow).map_err(|problems| corrupt(problems[0].message.clone()))
    }
}

impl WireRegion {
    fn of(region: &Region) -> Self {
        let nodes = 0..region.len();
        let joins = nodes.clone().map(|n| (n, region.join(n))).filter(|(_, j)| *j != Join::All).collect();
        let accepts = (0..region.edge_count())
            .map(|e| (e, region.edge(e).accepts))
            .filter(|(_, a)| *a != Accepts::SUCCESS)
            .collect();
        Self {
            names: region.names.iter().map(str::to_owned).collect(),
            specs: region.specs.clone(),
            needs: nodes.map(|n| region.needs(n).map(|(_, e)| e.up).collect()).collect(),
            joins,
            accepts,
            script: region.script.clone(),
        }
    }

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
