//! The JSON Schema of each document, made from the types that write it. `schemas/` holds them as committed.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::explain;

/// The schemas, by the name of their file.
pub fn documents() -> Vec<(String, Vec<u8>)> {
    let all = [("explain", of::<Vec<explain::RuleJson>>())];
    all.into_iter().map(|(name, schema)| (format!("{name}.schema.json"), written(&schema))).collect()
}

/// What the type writes: members that are left out when there is nothing to say are optional.
fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

fn written(schema: &Schema) -> Vec<u8> {
    format!("{:#}\n", schema.as_value()).into_bytes()
}
