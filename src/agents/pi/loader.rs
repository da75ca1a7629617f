//! pi and OpenClaw: from the leaf to what is brought back.

use super::Pi;
use crate::chain::Mode;
use crate::chain::agent::Loader;
use crate::chain::format::{Format, FormatBy};

impl Loader for Pi {
    fn format(&self, stated: Option<&str>, _: Mode) -> Format {
        let (effective, by) = match stated {
            Some(version) => (version, FormatBy::Field),
            None => ("1", FormatBy::Absence),
        };
        Format { stated: stated.map(str::to_owned), effective: Some(effective.to_owned()), by }
    }

    fn usual_format(&self) -> Format {
        self.format(Some("3"), Mode::Chain)
    }
}
