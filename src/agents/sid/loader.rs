//! sid-code: from the leaf to what is brought back.

use super::Sid;
use crate::chain::Mode;
use crate::chain::agent::Loader;
use crate::chain::format::{Format, FormatBy};

impl Loader for Sid {
    fn format(&self, stated: Option<&str>, mode: Mode) -> Format {
        // The last line decides how the file is read, whatever the version field says.
        let (effective, by) = match (mode, stated) {
            (Mode::File, _) => (stated, FormatBy::Extension),
            (Mode::Chain, Some("3.0")) => (stated, FormatBy::Field),
            (Mode::Chain, _) => (Some("3.0"), FormatBy::TailShape),
            (Mode::Linear, None) => (Some("2.0"), FormatBy::Absence),
            (Mode::Linear, Some("3.0")) => (Some("2.0"), FormatBy::TailShape),
            _ => (stated, FormatBy::Field),
        };
        Format { stated: stated.map(str::to_owned), effective: effective.map(str::to_owned), by }
    }

    fn usual_format(&self) -> Format {
        self.format(Some("3.0"), Mode::Chain)
    }
}
