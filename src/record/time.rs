//! Times of records: RFC 3339 into milliseconds since 1970.

/// Milliseconds since 1970 of an RFC 3339 time; none when it is no such time.
pub fn parse(text: &[u8]) -> Option<i64> {
    usual(text).or_else(|| {
        let text = std::str::from_utf8(text).ok()?;
        text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
    })
}

/// The one form that every agent here writes, `2026-01-01T00:00:02.000Z`: read in place, because there is one in each
/// record. Everything else goes to the library.
fn usual(text: &[u8]) -> Option<i64> {
    let t: &[u8; 24] = text.try_into().ok()?;
    if [t[4], t[7], t[10], t[13], t[16], t[19], t[23]] != *b"--T::.Z" {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        t[range].iter().try_fold(0_i64, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second, milli) = (number(11..13)?, number(14..16)?, number(17..19)?, number(20..23)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = [31, 28 + i64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let in_month =
        usize::try_from(month - 1).ok().and_then(|m| longest.get(m)).is_some_and(|n| (1..=*n).contains(&day));
    if !in_month || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970-01-01, years counted from March so that the leap day is the last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (m * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milli)
}

/// The time as RFC 3339 with milliseconds, in UTC.
pub fn format(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map(|t| format!("{t:.3}")).unwrap_or_else(|_| ms.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        assert_eq!(parse(b"1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(parse(b"2024-02-29T23:59:59.999Z"), Some(1_709_251_199_999));
        assert_eq!(parse(b"2026-01-01T00:00:00+01:00"), Some(1_767_222_000_000));
        assert_eq!(parse(b"2025-02-29T00:00:00.000Z"), None);
        assert_eq!(parse(b"yesterday"), None);
        assert_eq!(format(0), "1970-01-01T00:00:00.000Z");
    }

    proptest! {
        #[test]
        fn the_fast_way_agrees_with_the_library(ms in -30_000_000_000_000_i64..200_000_000_000_000) {
            let text = format(ms);
            prop_assert_eq!(parse(text.as_bytes()), Some(ms));
        }
    }
}
