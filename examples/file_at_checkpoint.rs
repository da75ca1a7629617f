//! Prints a file as it was at a checkpoint: `cargo run --example file_at_checkpoint -- INDEX SNAPSHOT FILE`.

use std::io::{Error, Result, Write};
use std::path::Path;

use sid_audit::checkpoint::model::{Found, Index, IndexRead};
use sid_audit::checkpoint::rebuild::{Limits, content_at};
use sid_audit::store::Source;
use sid_audit::text::Text;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, snapshot, file] = &arguments[..] else {
        return Err(Error::other("usage: file_at_checkpoint INDEX SNAPSHOT FILE"));
    };
    let source = Source::open(Path::new(index))?;
    let IndexRead::Readable(index) = Index::read(&source, None)? else {
        return Err(Error::other("not a checkpoint index that can be read whole"));
    };
    let Found::At(position) = index.find(&Text::from(snapshot.as_str())) else {
        return Err(Error::other("there is no such snapshot"));
    };
    let Some(number) = index.file(file.as_bytes()) else {
        return Err(Error::other("no snapshot holds that file"));
    };
    match content_at(&index, &source, number, position, Limits::default()).rebuilt {
        Ok(Some(bytes)) => std::io::stdout().write_all(&bytes),
        Ok(None) => Err(Error::other("no full copy stands before that snapshot")),
        Err(fault) => Err(Error::other(fault.words())),
    }
}
