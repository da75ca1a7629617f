//! What an answer in the file proves: the API accepted what stands above it, on the same path and of the same provider.

use super::build::{Lines, call, text};
use super::{judge_session, witnessed};
use serde_json::json;
use sid_audit::agents::CLAUDE;
use sid_audit::session::Shape;
use sid_audit::verdict::ApiVerdict::{Ok as Fine, Refused};

fn open_call() -> Lines {
    Lines::default().user(json!("hello")).says("m1", json!([call("c1", "Bash")])).user(json!("stop"))
}

#[test]
fn what_a_model_answered_was_accepted() {
    let answered = witnessed(CLAUDE, Shape::Main, open_call().says("m2", json!([text("ok")])).bytes());
    judge_session(&answered, false).says(Fine, &[]);
    judge_session(&witnessed(CLAUDE, Shape::Main, open_call().bytes()), false).says(Refused, &["T301 error@2"]);
}

#[test]
fn an_answer_says_nothing_of_its_own_response_and_of_what_follows() {
    let later = open_call().says("m2", json!([text("ok"), call("c2", "Bash")])).user(json!("and now?"));
    judge_session(&witnessed(CLAUDE, Shape::Main, later.bytes()), false).says(Refused, &["T301 error@4"]);
}
