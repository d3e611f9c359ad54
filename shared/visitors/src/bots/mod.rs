//! Recognition of bots: crawlers, link previews, monitors and other programs.
//!
//! What a user agent says of itself decides, in this order: a name of [`NAMED`], a word that ends in "bot" or the like, a name of
//! the list that [others keep](../../crawler-user-agents/README.md), an address of who runs it. A program that says none of these
//! is a bot if it doesn't [claim to be a browser](crate::browsers::claims_to_be_one). To add a bot, add a word to [`NAMED`] and a
//! line to `tests/user_agents.tsv`; a test fails if a word has no line.

mod named;

use std::sync::LazyLock;

use named::{NAMED, Name};

use crate::browsers;
use crate::words::{Words, letters};

/// A bot by its name and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bot<'a> {
    /// The bot's name, whichever browser it claims to be. Empty if it doesn't say which bot it is.
    pub name: &'a str,
    /// The number that follows the name.
    pub major: Option<&'a str>,
    /// The number that follows the first one, after a dot.
    pub minor: Option<&'a str>,
}

/// The list's words that no other rule needs, see its README.
const LISTED: &str = include_str!("../../crawler-user-agents/words.txt");

/// How names of bots end.
const ENDINGS: [&str; 4] = ["bot", "crawler", "spider", "scraper"];

/// How names of other programs end, if a version or nothing follows.
const PROGRAMS: [&str; 4] = ["fetcher", "preview", "httpclient", "http-client"];

/// How names of phones and apps begin that people have, though they contain an ending of a bot's name.
const PEOPLE: [&str; 3] = ["cubot", "irobot", "switchbot"];

static NAMES: LazyLock<Words> = LazyLock::new(|| Words::new(NAMED.iter().map(|(word, _)| *word)));
static LIST: LazyLock<Words> = LazyLock::new(|| Words::new(LISTED.lines().filter(|line| !line.starts_with('#'))));

impl<'a> Bot<'a> {
    /// Recognises a bot by its user agent; `None` for a person. Without a user agent it is a bot, since every browser sends one.
    #[must_use]
    pub fn find(user_agent: &'a str) -> Option<Self> {
        let user_agent = user_agent.trim();
        let lower = user_agent.to_ascii_lowercase();
        let claims_to_be_a_browser = browsers::claims_to_be_one(&lower);
        named(user_agent, &lower)
            .or_else(|| names(user_agent, &lower).find_map(|(at, name)| ending(user_agent, at, name)))
            .or_else(|| listed(user_agent, &lower))
            .or_else(|| with_contact(user_agent, &lower))
            .filter(|bot| !bot.name.is_empty() || claims_to_be_a_browser)
            .or_else(|| (!claims_to_be_a_browser).then(|| program(user_agent)))
    }

    /// A bot by its name and what follows the name, with which the version may begin.
    fn new(name: &'a str, rest: &'a str) -> Self {
        let rest = rest.strip_prefix(['/', ' ']).unwrap_or(rest);
        let (major, rest) = number(rest.strip_prefix('v').unwrap_or(rest));
        let minor = major.and_then(|_| number(rest.strip_prefix('.')?).0);
        Self { name, major, minor }
    }
}

fn named<'a>(user_agent: &'a str, lower: &str) -> Option<Bot<'a>> {
    let (rank, found) = NAMES.find(lower)?;
    let bot = Bot::new(&user_agent[found.clone()], &user_agent[found.end..]);
    Some(match NAMED[rank].1 {
        Name::Fixed(name) => Bot { name, ..bot },
        Name::Own => bot,
    })
}

fn listed<'a>(user_agent: &'a str, lower: &str) -> Option<Bot<'a>> {
    let (_, found) = LIST.find(lower)?;
    let name = user_agent[found.clone()].trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
    Some(Bot::new(name, &user_agent[found.start + name.len()..]))
}

/// Names in a user agent, in lower case, and where they begin: whole words, but not those inside of an address.
fn names<'a>(user_agent: &'a str, lower: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let bytes = user_agent.as_bytes();
    let begins = move |at: usize| match at.checked_sub(1).map(|before| bytes[before]) {
        None => true,
        Some(before) => matches!(before, b' ' | b'(' | b'[' | b';' | b'+' | b',' | b'"' | b'\''),
    };
    (0..bytes.len()).filter(move |&at| in_name(bytes[at]) && begins(at)).filter_map(move |at| {
        let length = bytes[at..].iter().take_while(|byte| in_name(**byte)).count();
        (bytes.get(at + length) != Some(&b'@')).then(|| (at, &lower[at..at + length]))
    })
}

/// The bot whose name, which begins here, ends like a bot's.
fn ending<'a>(user_agent: &'a str, at: usize, name: &str) -> Option<Bot<'a>> {
    if PEOPLE.iter().any(|people| name.starts_with(people)) {
        return None;
    }
    let length = ENDINGS
        .iter()
        .filter_map(|ending| length_with(name, ending))
        .max()
        .or_else(|| program_length(name, &user_agent[at + name.len()..]))?;
    let end = at + length;
    let start = if is_bare(&name[..length]) { with_words_before(user_agent, at) } else { at };
    // A word without a name before it says nothing of which bot it is.
    let own = if start == at && is_bare(&name[..length]) { "" } else { &user_agent[start..end] };
    Some(Bot::new(own, &user_agent[end..]))
}

/// How long a name is that ends like this, but for a version and `-Image` or the like.
fn length_with(name: &str, ending: &str) -> Option<usize> {
    let end = name.rfind(ending)? + ending.len();
    let end = end + usize::from(name[end..].starts_with('s'));
    let mut rest = name[end..].chars();
    match (rest.next(), rest.next()) {
        (None, _) => Some(end),
        (Some('-'), _) => Some(end + name[end..][..letters(&name[end..])].trim_end_matches('-').len()),
        (Some('_' | '0'..='9'), _) => Some(end),
        (Some('.'), next) => next.is_none_or(|next| !next.is_ascii_alphabetic()).then_some(end),
        _ => None,
    }
}

fn program_length(name: &str, rest: &str) -> Option<usize> {
    let ends = PROGRAMS.iter().any(|program| name.ends_with(program)) && (rest.is_empty() || rest.starts_with('/'));
    ends.then_some(name.len())
}

/// Whether a word says that this is a bot, but not which.
fn is_bare(name: &str) -> bool {
    let name = name.strip_suffix('s').unwrap_or(name);
    name == "robot" || ENDINGS.contains(&name)
}

/// Where a name begins that has several words, of which the last is here: after a product or a bracket.
fn with_words_before(user_agent: &str, at: usize) -> usize {
    let before = &user_agent[..at];
    let start = before.rfind(['(', ')', '[', ']', ';', ',']).map_or(0, |bracket| bracket + 1);
    let start = match before[start..].rfind('/') {
        Some(slash) => before[start + slash..].find(' ').map_or(at, |space| start + slash + space),
        None => start,
    };
    start + (before[start..].len() - before[start..].trim_start().len())
}

/// What comes before the names of most bots that claim to be a browser.
const COMPATIBLE: &str = "compatible;";

/// The bot that names, as bots do, an address where one can complain. Without its `+`, that may be a toolbar's.
fn with_contact<'a>(user_agent: &'a str, lower: &str) -> Option<Bot<'a>> {
    if !["+http:", "+https:", "+mailto:"].iter().any(|contact| lower.contains(contact)) {
        return None;
    }
    let Some(at) = lower.find(COMPATIBLE).map(|at| at + COMPATIBLE.len()) else { return Some(Bot::new("", "")) };
    let end = user_agent[at..].find([';', '/', '(', ')', '<', '>', '+']).map_or(user_agent.len(), |end| at + end);
    let name = user_agent[at..end].trim();
    Some(if lower[at..end].trim_start().starts_with("msie") {
        Bot::new("", "")
    } else {
        Bot::new(name, &user_agent[end..])
    })
}

/// The program that a user agent begins with: `Program/1.4 (…)`, `A program 1.4`.
fn program(user_agent: &str) -> Bot<'_> {
    let end = user_agent.find(['/', ';', '(', ')', '<', '>', '[', ']', ',']).unwrap_or(user_agent.len());
    let words = &user_agent[..end];
    let version = words.match_indices(' ').map(|(at, _)| at).find(|at| Bot::new("", &words[*at..]).major.is_some());
    let end = version.unwrap_or(end);
    let name = user_agent[..end].trim();
    Bot::new(if name.contains(char::is_alphanumeric) { name } else { "" }, &user_agent[end..])
}

/// The number that a text begins with, and the rest.
fn number(text: &str) -> (Option<&str>, &str) {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    ((!digits.is_empty()).then_some(digits), rest)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_is_the_first_of_a_listed_user_agent() {
        let used: BTreeSet<usize> = include_str!("../../tests/user_agents.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split('\t').nth(4))
            .filter_map(|user_agent| NAMES.find(&user_agent.to_ascii_lowercase()))
            .map(|(rank, _)| rank)
            .collect();

        let unused: Vec<&str> =
            NAMED.iter().enumerate().filter(|(rank, _)| !used.contains(rank)).map(|(_, (word, _))| *word).collect();
        assert!(unused.is_empty(), "no line for {unused:#?}");
    }

    #[test]
    fn at_least_99_percent_of_the_list_are_bots() {
        let listed: Vec<&str> = include_str!("../../crawler-user-agents/instances.txt").lines().collect();

        let people: Vec<&str> = listed.iter().copied().filter(|user_agent| Bot::find(user_agent).is_none()).collect();

        assert!(listed.len() > 2000, "{} user agents", listed.len());
        assert!(people.len() * 100 <= listed.len(), "{} people:\n{}", people.len(), people.join("\n"));
    }

    #[test]
    fn no_browser_phone_television_console_or_app_of_people_is_a_bot() {
        let people: Vec<&str> = include_str!("../../tests/people.txt")
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();

        let bots: Vec<_> =
            people.iter().filter_map(|user_agent| Some((Bot::find(user_agent)?.name, user_agent))).collect();

        assert!(people.len() >= 200, "{} user agents", people.len());
        assert!(bots.is_empty(), "{bots:#?}");
    }

    #[test]
    fn a_name_that_ends_like_a_bots_is_one_wherever_its_version_stands() {
        for (user_agent, name, major) in [
            ("Brightbot 1.0", "Brightbot", Some("1")),
            ("Brightbot/2.1", "Brightbot", Some("2")),
            ("Brightbot v3", "Brightbot", Some("3")),
            ("Mozilla/5.0 (X11; Linux x86_64; brightbot0.5.0; what else) Firefox/67.0", "brightbot", Some("0")),
            ("1.0 Brightspider", "Brightspider", None),
            ("Mozilla/5.0 (compatible; A Bright Bot 4.2)", "A Bright Bot", Some("4")),
            ("Mozilla/5.0 (X11) Safari/537.36 Bright scraper", "Bright scraper", None),
            ("bright.crawler-Image/1.0", "bright.crawler-Image", Some("1")),
        ] {
            let bot = Bot::find(user_agent).expect(user_agent);

            assert_eq!((bot.name, bot.major), (name, major), "{user_agent}");
        }
    }

    #[test]
    fn who_sends_no_user_agent_is_a_bot_without_a_name() {
        for nothing in ["", " \t "] {
            assert_eq!(Bot::find(nothing), Some(Bot { name: "", major: None, minor: None }));
        }
    }

    #[test]
    fn a_program_that_claims_to_be_no_browser_is_a_bot() {
        for (user_agent, name, major) in [
            ("Some Program", "Some Program", None),
            ("Some Program 1.4", "Some Program", Some("1")),
            ("program/1.4 (Linux)", "program", Some("1")),
            ("(program)", "", None),
        ] {
            let bot = Bot::find(user_agent).expect(user_agent);

            assert_eq!((bot.name, bot.major), (name, major), "{user_agent}");
        }
    }

    #[test]
    fn an_address_that_contains_an_ending_says_nothing() {
        for address in ["https://www.chatbot.example/", "chatbot.example", "spider@chat.example", "www.example/robot"] {
            assert!(
                Bot::find(&format!("Mozilla/5.0 (X11; Linux x86_64; {address}) Firefox/3.6")).is_none(),
                "{address}"
            );
        }
    }
}
