//! Numbers, sizes, times and places as people read them.

use std::io;

use unicode_width::UnicodeWidthStr;

use super::out::Out;
use super::sanitize::visible;
use super::style::{Span, plain};
use super::wrap::wrap_behind;
use crate::metrics::figure::Cost;
use crate::record::facts::NO_TIME;

/// `12 345`, with narrow gaps that no shell splits at: a number is one word.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            text.push('\'');
        }
        text.push(digit);
    }
    text
}

/// `1 record`, `3 records`; a number of more than four digits in groups.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", number(n), if n == 1 { "" } else { "s" })
}

/// `1 full copy`, `143 full copies`.
pub fn full_copies(n: u64) -> String {
    format!("{} full {}", number(n), if n == 1 { "copy" } else { "copies" })
}

/// `12'345`, `1.23 M`, `45.6 G`: amounts that need not be exact to the last digit.
pub fn amount(n: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1_000_000_000, "G"), (1_000_000, "M")];
    match UNITS.into_iter().find(|(unit, _)| n >= *unit) {
        None => number(n),
        Some((unit, name)) => {
            let value = n as f64 / unit as f64;
            let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            format!("{value:.digits$} {name}")
        }
    }
}

/// `$0.0366`, `$12.34`.
pub fn dollars(cost: Cost) -> String {
    let dollars = cost.dollars();
    if dollars < 1.0 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// `532 bytes`, `12.3 KiB`, `4.0 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return counted(bytes, "byte");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// `2026-03-10 09:12`, in UTC; empty for no time.
pub fn moment(ms: i64) -> String {
    if ms == NO_TIME {
        return String::new();
    }
    let text = crate::record::time::format(ms);
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.get(..5).unwrap_or(time)),
        None => text,
    }
}

/// The moment in full, then only the time of day when both are of one day.
pub fn moments(first: i64, last: i64) -> (String, String) {
    let (first, last) = (moment(first), moment(last));
    let same = first.get(..10) == last.get(..10);
    let short = last.get(11..).filter(|_| same).map(str::to_owned);
    (first, short.unwrap_or(last))
}

/// Prints text behind a lead, wrapped, each further line indented.
///
/// # Errors
/// I/O errors.
pub fn paragraph(out: &mut Out, lead: Vec<Span<'_>>, indent: usize, text: &str) -> io::Result<()> {
    let text = visible(text);
    let taken: usize = lead.iter().map(|span| visible(&span.text).width()).sum();
    let room = out.width().saturating_sub(indent).max(20);
    // The first line begins where the lead ends, so it is wrapped with that many columns already used.
    let mut lines = wrap_behind(&text, room, taken.saturating_sub(indent)).into_iter();
    let first = lines.next().unwrap_or_default();
    out.line(lead.into_iter().chain([plain(first)]))?;
    for line in lines {
        out.line([plain(format!("{:indent$}{line}", ""))])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes() {
        assert_eq!(
            [0, 999, 1000, 12_345, 1_234_567].map(number),
            ["0", "999", "1000", "12'345", "1'234'567"].map(String::from)
        );
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(
            [1, 1023, 1024, 5 << 20, 3 << 30].map(size),
            ["1 byte", "1023 bytes", "1.0 KiB", "5.0 MiB", "3.0 GiB"]
        );
        assert_eq!(
            [12_345, 1_234_567, 45_600_000, 444_000_000, 45_600_000_000].map(amount),
            ["12'345", "1.23 M", "45.6 M", "444 M", "45.6 G"]
        );
        assert_eq!([36_600_000, 12_340_000_000].map(|nano| dollars(Cost::from_nano(nano))), ["$0.0366", "$12.34"]);
        assert_eq!(moment(0), "1970-01-01 00:00");
        assert_eq!(moment(NO_TIME), "");
        assert_eq!(moments(0, 60_000), ("1970-01-01 00:00".to_owned(), "00:01".to_owned()));
    }
}
