//! Prints the messages that an agent would send with the next prompt of a session:
//! `cargo run --example next_request -- SESSION`.

#![allow(clippy::disallowed_macros, reason = "an example prints")]

use sid_audit::Session;
use sid_audit::record::content::Part;

fn main() -> std::io::Result<()> {
    let Some(path) = std::env::args_os().nth(1) else {
        return Err(std::io::Error::other("usage: next_request SESSION"));
    };
    let session = Session::open(path)?;
    let request = session.request();
    for row in request.cleaned() {
        let record = request.rows[row as usize].record;
        println!("line {}", session.record(record).line);
        for part in session.content(record)? {
            match part {
                Part::Text(text) => println!("  text: {}", first_line(&text)),
                Part::Thinking(text) => println!("  thinking: {}", first_line(&text)),
                Part::Call { id, name, .. } => println!("  call {id}: {name}"),
                Part::Result { call, is_error: true, .. } => println!("  result of {call}, an error"),
                Part::Result { call, .. } => println!("  result of {call}"),
                Part::Other(_) => println!("  something else"),
            }
        }
    }
    Ok(())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
