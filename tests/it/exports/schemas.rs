//! The JSON Schemas: what is committed is what the types make, and what the program prints of every fixture is valid by
//! them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::run::{Run, fixtures};
use crate::support::temp::files_below;

#[cfg(feature = "schema")]
#[test]
fn schemas_are_what_the_types_make() {
    super::pages::compare("schemas", "schemas");
}

/// What is wrong with a document, each with the path to it.
pub(super) fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    validator.iter_errors(document).map(|error| format!("{error} at {}", error.instance_path())).collect()
}

/// A member that the schema does not name is wrong here, where a reader would ignore it.
fn strict(schema: &mut Value) {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        if let Value::Object(map) = value {
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            open.extend(map.values_mut());
        } else if let Value::Array(list) = value {
            open.extend(list);
        }
    }
}

fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let all = std::fs::read_dir(folder).expect("schemas/").map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".schema.json", "");
        let mut schema = serde_json::from_slice(&std::fs::read(path).expect("a schema")).expect("JSON");
        strict(&mut schema);
        (name, schema)
    });
    all.collect()
}

/// What is read: nothing, each store of the fixtures, or each session file in them.
enum Of {
    Nothing,
    Stores,
    Sessions,
}

/// The commands that write each document; `{}` is what is read.
const COMMANDS: &[(&str, Of, &str)] = &[
    ("explain", Of::Nothing, "explain"),
    ("scan", Of::Stores, "scan {} --cross-check"),
    ("checkpoints", Of::Stores, "checkpoints {} --verify"),
    ("fields", Of::Stores, "fields {} --all"),
    ("metrics", Of::Stores, "metrics {} --cross-check"),
    ("repair", Of::Stores, "repair {} --dry-run --up-to content --relink auto --diff"),
    ("chain", Of::Sessions, "chain {}"),
    ("predict", Of::Sessions, "predict {}"),
];

fn stores() -> Vec<PathBuf> {
    let folders =
        ["cases", "clean", "demo"].into_iter().flat_map(|room| std::fs::read_dir(fixtures(room)).expect("fixtures"));
    folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
}

fn sessions() -> Vec<PathBuf> {
    let files = stores().into_iter().flat_map(|store| {
        let below = files_below(&store);
        below.into_iter().map(move |file| store.join(file))
    });
    files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

#[test]
fn what_is_printed_is_valid() {
    let schemas = schemas();
    for name in schemas.keys() {
        assert!(COMMANDS.iter().any(|(of, ..)| of == name), "no command writes {name}");
    }
    for (name, of, command) in COMMANDS {
        let Some(schema) = schemas.get(*name) else { continue };
        let validator = jsonschema::validator_for(schema).expect("a schema");
        let paths = match of {
            Of::Nothing => vec![PathBuf::new()],
            Of::Stores => stores(),
            Of::Sessions => sessions(),
        };
        for path in paths {
            let words = command.split(' ').map(|word| if word == "{}" { path.as_os_str() } else { OsStr::new(word) });
            let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(words).args(["--format", "json"]);
            let outcome = run.go();
            if outcome.stdout.is_empty() {
                assert_eq!(outcome.status, Some(2), "{command} of {} says nothing", path.display());
                continue;
            }
            let document = outcome.json();
            let wrong = validator.iter_errors(&document).map(|error| format!("{error} at {}", error.instance_path()));
            let wrong: Vec<String> = wrong.collect();
            assert!(wrong.is_empty(), "{command} of {}: {wrong:#?}", path.display());
        }
    }
}
