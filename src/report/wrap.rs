//! Words into lines of a given width.

use unicode_width::UnicodeWidthStr;

/// The text in lines of at most `width` characters; a longer word stands alone. Line feeds in the text stay.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_behind(text, width, 0)
}

/// The same where the first line has some columns used already.
pub fn wrap_behind(text: &str, width: usize, used: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut length = used;
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let size = word.width();
            if !line.is_empty() && length + 1 + size > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if !line.is_empty() {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += size;
        }
        lines.push(line);
        length = 0;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a enormously-long b", 5), ["a", "enormously-long", "b"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap_behind("one two three", 9, 4), ["one", "two three"]);
    }
}
