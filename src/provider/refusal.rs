//! What an error that a client kept says of the request: whether the provider refused the request itself.

/// Words of an error that is none of the request's: money, limits, accounts and policy answer with 400 too, and go away
/// without a change of the session.
const NOT_OF_REQUEST: &[&str] = &[
    "credit balance",
    "billing",
    "usage limit",
    "rate limit",
    "rate_limit",
    "insufficient_quota",
    "usage polic",
    "organization has been disabled",
    "your account",
    "subscription",
    "/login",
    "not logged in",
    "api key",
    "overloaded",
];

/// Words of a refusal that stand without a status.
const OF_REQUEST: &[(&str, u16)] =
    &[("prompt is too long", 400), ("invalid_request_error", 400), ("request_too_large", 413)];

/// The status of an error by which the provider refused the request itself, 400 or 413; none for every other error.
/// `status` is what the client wrote beside the message; older clients write it only into the text ("API Error: 400 …").
///
/// Which errors are none of the request's: `docs/formats/claude-code.md`, section 7.
pub fn status(status: Option<u64>, message: &str) -> Option<u16> {
    let text = message.to_lowercase();
    if NOT_OF_REQUEST.iter().any(|word| text.contains(word)) {
        return None;
    }
    let status = status.or_else(|| leading(&text)).or_else(|| {
        let known = OF_REQUEST.iter().find(|(word, _)| text.contains(word));
        known.map(|(_, status)| u64::from(*status))
    })?;
    matches!(status, 400 | 413).then_some(status as u16)
}

/// The status that a text begins with.
fn leading(text: &str) -> Option<u64> {
    let text = text.strip_prefix("api error:").unwrap_or(text).trim_start();
    let digits = text.get(..3).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    let ends = text.as_bytes().get(3).is_none_or(|b| !b.is_ascii_alphanumeric());
    ends.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::status;

    #[test]
    fn only_a_refusal_of_the_request_counts() {
        assert_eq!(status(Some(400), "PDF too large."), Some(400));
        assert_eq!(status(None, "API Error: 400 messages.1: something"), Some(400));
        assert_eq!(status(None, "413 request_too_large"), Some(413));
        assert_eq!(status(None, "Prompt is too long"), Some(400));
        for (given, text) in [
            (Some(400), "Your credit balance is too low"),
            (Some(429), "API Error: 400 text of another"),
            (None, "API Error: 529 overloaded"),
            (None, "4000 lines were read"),
            (None, "Not logged in"),
            (None, "terminated"),
        ] {
            assert_eq!(status(given, text), None, "{text}");
        }
    }
}
