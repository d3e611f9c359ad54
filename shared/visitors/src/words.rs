//! Words that are looked up in a user agent, without regular expressions: nothing to compile, and little to keep.

use std::ops::Range;

/// A word in lower case that has to stand by itself, next to no further letter or digit. With `^` before it, it only counts at
/// the beginning of the user agent. One that ends in `-` matches whatever letters and hyphens follow.
struct Word {
    text: &'static str,
    first_only: bool,
    rank: usize,
}

/// Some words, sorted.
pub(crate) struct Words(Vec<Word>);

impl Words {
    /// These words, of which the first has the best rank.
    pub(crate) fn new(words: impl Iterator<Item = &'static str>) -> Self {
        let mut words: Vec<Word> = words
            .enumerate()
            .map(|(rank, word)| match word.strip_prefix('^') {
                Some(text) => Word { text, first_only: true, rank },
                None => Word { text: word, first_only: false, rank },
            })
            .collect();
        words.sort_unstable_by_key(|word| (word.text, word.rank));
        Self(words)
    }

    /// The rank of the best word in a text in lower case, and where it stands. Of equal words, the first counts.
    pub(crate) fn find(&self, text: &str) -> Option<(usize, Range<usize>)> {
        starts(text).flat_map(|start| self.at(text, start)).min_by_key(|(rank, found)| (*rank, found.start))
    }

    fn at<'a>(&'a self, text: &'a str, start: usize) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let rest = &text[start..];
        let beginning = &rest.as_bytes()[..rest.len().min(2)];
        let from = self.0.partition_point(|word| word.text.as_bytes() < beginning);
        self.0[from..]
            .iter()
            .take_while(move |word| word.text.as_bytes().starts_with(beginning))
            .filter(move |word| !word.first_only || start == 0)
            .filter_map(move |word| Some((word.rank, start..start + length(rest, word.text)?)))
    }
}

/// How long a word is at the beginning of a text, if it stands there.
fn length(text: &str, word: &str) -> Option<usize> {
    let rest = text.strip_prefix(word)?;
    let further = if word.ends_with('-') { letters(rest) } else { 0 };
    let ends = !word.ends_with(in_word) || !rest.starts_with(in_word);
    ends.then_some(word.len() + further)
}

/// How many letters and hyphens a text begins with.
pub(crate) fn letters(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count()
}

fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(|&at| in_word(bytes[at].into()) && (at == 0 || !in_word(bytes[at - 1].into())))
}

fn in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
