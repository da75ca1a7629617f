//! Claude Code: from the leaf to what is brought back.

use super::Claude;
use crate::chain::Mode;
use crate::chain::agent::Loader;
use crate::chain::format::{Format, FormatBy};

impl Loader for Claude {
    fn format(&self, stated: Option<&str>, _: Mode) -> Format {
        Format { stated: stated.map(str::to_owned), effective: None, by: FormatBy::Absence }
    }

    fn usual_format(&self) -> Format {
        self.format(None, Mode::Chain)
    }
}
