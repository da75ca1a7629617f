//! Where reports go: standard output or a file, and messages to standard error. The only place in the crate that prints.
//!
//! Lines are made of spans, and every span is neutralised when it is printed, so nothing that came out of a session
//! reaches a terminal as it stands. Bytes ([`Out::bytes`]) are exact in a pipe or file, and on a terminal with `--raw`.

use std::io::{self, BufWriter, IsTerminal, Write};

use super::sanitize::visible;
use super::style::{END, Span, Style};

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Colour {
    /// on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured
    #[default]
    Auto,
    /// always
    Always,
    /// never
    Never,
}

impl Colour {
    /// Whether a stream is coloured. A variable counts when it is set to something, as its conventions say.
    fn on(self, terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
            Colour::Auto => set("CLICOLOR_FORCE") || (terminal && std::env::var_os("TERM").is_none_or(|t| t != "dumb")),
        }
    }
}

/// A report's file: it gets its name when it is whole.
pub trait Finish: Write {
    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// I/O errors.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    File(BufWriter<Box<dyn Finish>>),
    Bytes(Vec<u8>),
}

/// Where a report goes.
pub struct Out {
    sink: Sink,
    terminal: bool,
    colour: bool,
    raw: bool,
    width: usize,
}

/// How wide a page is that no terminal shows.
const WIDTH: usize = 80;
/// Narrower than this nothing can be laid out; wider than this nobody reads.
const NARROWEST: usize = 40;
const WIDEST: usize = 160;

impl Out {
    /// Standard output.
    pub fn stdout(colour: Colour, raw: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let width = if terminal { terminal_width() } else { WIDTH };
        let sink = Sink::Stdout(BufWriter::with_capacity(64 * 1024, io::stdout()));
        Out { sink, terminal, colour: colour.on(terminal), raw, width }
    }

    /// A file. Colours only when they are asked for.
    pub fn file(file: Box<dyn Finish>, colour: Colour) -> Self {
        let sink = Sink::File(BufWriter::with_capacity(64 * 1024, file));
        Out { sink, terminal: false, colour: colour == Colour::Always, raw: true, width: WIDTH }
    }

    /// Memory, for tests and for pages that are kept.
    pub fn memory(width: usize) -> Self {
        Out { sink: Sink::Bytes(Vec::new()), terminal: false, colour: false, raw: true, width }
    }

    /// What was written to memory.
    pub fn into_bytes(self) -> Vec<u8> {
        match self.sink {
            Sink::Bytes(bytes) => bytes,
            Sink::Stdout(_) | Sink::File(_) => Vec::new(),
        }
    }

    /// Columns of the page.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a terminal shows it.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// A line of spans.
    ///
    /// # Errors
    /// I/O errors.
    pub fn line<'s>(&mut self, spans: impl IntoIterator<Item = Span<'s>>) -> io::Result<()> {
        for span in spans {
            let text = visible(&span.text);
            if self.colour && span.style != Style::Plain && !text.is_empty() {
                write!(self, "{}{text}{END}", span.style.code())?;
            } else {
                self.write_all(text.as_bytes())?;
            }
        }
        self.write_all(b"\n")
    }

    /// A line of plain text.
    ///
    /// # Errors
    /// I/O errors.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.line([super::style::plain(text)])
    }

    /// An empty line.
    ///
    /// # Errors
    /// I/O errors.
    pub fn gap(&mut self) -> io::Result<()> {
        self.write_all(b"\n")
    }

    /// Bytes of a store: exact, or on a terminal made visible line by line unless `--raw` was given.
    ///
    /// # Errors
    /// I/O errors.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.terminal || self.raw {
            return self.write_all(bytes);
        }
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let (text, end) = match line.strip_suffix(b"\n") {
                Some(text) => (text, "\n"),
                None => (line, ""),
            };
            let shown = visible(&String::from_utf8_lossy(text)).into_owned();
            write!(self, "{shown}{end}")?;
        }
        Ok(())
    }

    /// Writes what is left and gives a file its name.
    ///
    /// # Errors
    /// I/O errors.
    pub fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Stdout(mut stdout) => stdout.flush(),
            Sink::File(file) => file.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
            Sink::Bytes(_) => Ok(()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(stdout) => stdout.write(bytes),
            Sink::File(file) => file.write(bytes),
            Sink::Bytes(held) => held.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(stdout) => stdout.flush(),
            Sink::File(file) => file.flush(),
            Sink::Bytes(_) => Ok(()),
        }
    }
}

/// The columns of the terminal; `COLUMNS` wins, as in other tools.
fn terminal_width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    told.or_else(columns).unwrap_or(WIDTH).clamp(NARROWEST, WIDEST)
}

#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}

/// A message on standard error: the fact, lines below it, and a hint that names the next command. A standard error that
/// is closed is no reason to fail.
pub fn complain(word: &str, fact: &str, below: &[String], hint: Option<&str>) {
    let mut message = format!("{word}: {}\n", visible(fact));
    for line in below {
        message.push_str(&format!("  {}\n", visible(line)));
    }
    if let Some(hint) = hint {
        message.push_str(&format!("hint: {}\n", visible(hint)));
    }
    let _ = io::stderr().lock().write_all(message.as_bytes());
}

/// Whether there is a person who reads the page and can answer.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// A question on standard error, answered by a line of standard input. Everything but yes is no; so is its end.
///
/// # Errors
/// I/O errors.
pub fn ask(question: &str) -> io::Result<bool> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "{} [y/N] ", visible(question))?;
    stderr.flush()?;
    // Others may have something to say while the answer is awaited.
    drop(stderr);
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
