//! A validator of the part of JSON Schema (draft 4) that the schema of SARIF uses. A keyword that it does not know fails
//! the test, so nothing of the schema goes unchecked in silence.

use serde_json::Value;

/// What is wrong with a document, each with the path to it.
pub(crate) fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, document, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else { panic!("a schema is an object, at {at}") };
    for (keyword, given) in schema {
        let wrong = match keyword.as_str() {
            "$schema" | "title" | "id" | "description" | "default" | "definitions" => continue,
            "$ref" => {
                let target = given.as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
                check(root, target.expect("a definition"), value, at, found);
                continue;
            }
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = given.get(name) {
                        check(root, schema, inner, &format!("{at}/{name}"), found);
                    }
                }
                continue;
            }
            "additionalProperties" => {
                let named = schema.get("properties").and_then(Value::as_object);
                let others = value.as_object().into_iter().flatten();
                for (name, inner) in others.filter(|(name, _)| named.is_none_or(|named| !named.contains_key(*name))) {
                    match given {
                        Value::Bool(true) => {}
                        Value::Bool(false) => found.push(format!("{at}: {name} is not allowed")),
                        schema => check(root, schema, inner, &format!("{at}/{name}"), found),
                    }
                }
                continue;
            }
            "items" => {
                for (n, inner) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, given, inner, &format!("{at}/{n}"), found);
                }
                continue;
            }
            "anyOf" | "oneOf" => {
                let fit = given.as_array().expect("a list").iter().filter(|one| {
                    let mut inner = Vec::new();
                    check(root, one, value, at, &mut inner);
                    inner.is_empty()
                });
                let fit = fit.count();
                if keyword == "oneOf" { fit != 1 } else { fit == 0 }
            }
            "required" => {
                let names = given.as_array().expect("a list").iter().filter_map(Value::as_str);
                value.is_object() && names.filter(|name| value.get(name).is_none()).count() > 0
            }
            "type" => {
                let types = given.as_array().map_or_else(|| vec![given], |all| all.iter().collect());
                !types.iter().filter_map(|one| one.as_str()).any(|one| is(value, one))
            }
            "enum" => !given.as_array().expect("a list").contains(value),
            "minimum" => value.as_f64().is_some_and(|n| n < given.as_f64().expect("a number")),
            "maximum" => value.as_f64().is_some_and(|n| n > given.as_f64().expect("a number")),
            "minItems" => value.as_array().is_some_and(|all| (all.len() as u64) < given.as_u64().expect("a number")),
            "uniqueItems" => {
                let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
                given == true && all.iter().enumerate().any(|(n, one)| all[..n].contains(one))
            }
            "format" => value.as_str().is_some_and(|text| !is_formed(text, given.as_str().expect("a word"))),
            "pattern" => panic!("{at} has a pattern, which nothing here can check: {value}"),
            other => panic!("the schema has {other}, which is not known here"),
        };
        if wrong {
            found.push(format!("{at}: {keyword} {given}, but {value}"));
        }
    }
}

fn is(value: &Value, one: &str) -> bool {
    match one {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("no type {other}"),
    }
}

/// Characters that a URI may hold, and a scheme where one is asked for.
fn is_formed(text: &str, form: &str) -> bool {
    let uri = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&b));
    match form {
        "uri" => uri(text) && text.contains(':'),
        "uri-reference" => uri(text),
        "date-time" => sid_audit::record::time::parse(text.as_bytes()).is_some(),
        other => panic!("no format {other}"),
    }
}

#[test]
fn it_finds_what_is_wrong() {
    let schema = serde_json::json!({"type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {"a": {"$ref": "#/definitions/n"}, "b": {"enum": ["x"]}},
        "definitions": {"n": {"type": "integer", "minimum": 1}}});
    let wrong = |document| violations(&schema, &document).len();
    assert_eq!(wrong(serde_json::json!({"a": 1, "b": "x"})), 0);
    assert_eq!(wrong(serde_json::json!({"a": 0, "b": "y", "c": 1})), 3);
    assert_eq!(wrong(serde_json::json!({})), 1);
    assert_eq!(wrong(serde_json::json!([])), 1);
}
