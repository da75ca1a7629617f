//! When a session was written: how many records in each stretch of its time, those that come back apart from the rest.
//! The drawing beside it follows the file, in which a night takes no room; here it does.

use maud::{Markup, html};

use super::nothing;
use crate::record::facts::NO_TIME;
use crate::report::format::{counted, moment};
use crate::session::Session;

const WIDTH: i64 = 1080;
const HEIGHT: i64 = 72;
/// Room for the words below.
const FOOT: i64 = 20;
/// How many stretches there are.
const BARS: usize = 216;

/// Draws it; nothing for a session in which no time passes.
pub(super) fn drawing(session: &Session) -> Markup {
    let times = || session.facts.records.iter().map(|record| record.time).filter(|&time| time != NO_TIME);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return nothing() };
    let span = i128::from(last) - i128::from(first);
    if span <= 0 {
        return nothing();
    }
    let mut adopted = vec![false; session.facts.records.len()];
    for &n in &session.chain.adopted {
        adopted[n as usize] = true;
    }
    let mut bars = vec![(0_u64, 0_u64); BARS];
    for (record, adopted) in session.facts.records.iter().zip(adopted).filter(|(record, _)| record.time != NO_TIME) {
        let at = (i128::from(record.time) - i128::from(first)) * (BARS as i128 - 1) / span;
        if let Some((all, own)) = usize::try_from(at).ok().and_then(|at| bars.get_mut(at)) {
            *all += 1;
            *own += u64::from(adopted);
        }
    }
    let most = bars.iter().map(|(all, _)| *all).max().unwrap_or(1).max(1);
    // Rounded up: one record is a bar that can be seen.
    let height = |n: u64| (n as i64 * HEIGHT).div_euclid(most as i64).max(i64::from(n > 0) * 2);
    let begins = |at: usize| {
        let time = i128::from(first) + span * at as i128 / (BARS as i128 - 1);
        moment(i64::try_from(time).unwrap_or(last))
    };
    let width = WIDTH / BARS as i64;
    html! {
        figure {
            div.wide tabindex="0" role="group" aria-label="When it was written" {
                svg role="img" aria-label={ "records over time, from " (moment(first)) " to " (moment(last)) " UTC" }
                    width=(WIDTH) height=(HEIGHT + FOOT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT + FOOT) } {
                    @for (at, &(all, own)) in bars.iter().enumerate().filter(|(_, (all, _))| *all > 0) {
                        g {
                            title { (begins(at)) ": " (counted(all, "record")) ", " (own) " of them adopted" }
                            rect.bar x=(at as i64 * width) y=(HEIGHT - height(all)) width=(width - 1) height=(height(all)) {}
                            rect.bar.adopted x=(at as i64 * width) y=(HEIGHT - height(own)) width=(width - 1) height=(height(own)) {}
                        }
                    }
                    line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                    text.faint x="0" y=(HEIGHT + FOOT - 4) { (moment(first)) }
                    text.faint.end x=(WIDTH) y=(HEIGHT + FOOT - 4) { (moment(last)) " UTC" }
                }
            }
            figcaption {
                "When it was written: each bar is " (length(span / BARS as i128)) ", the tallest "
                (counted(most, "record")) "; the strong part comes back."
            }
        }
    }
}

/// A length of time in the unit that fits it.
fn length(ms: i128) -> String {
    const UNITS: [(i128, &str); 4] = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")];
    for (unit, word) in UNITS {
        if ms >= unit {
            return format!("about {}", counted(u64::try_from((ms + unit / 2) / unit).unwrap_or(u64::MAX), word));
        }
    }
    "less than a second".to_owned()
}
