//! Recognition of bots: crawlers, link previews, monitors and other programs.
//!
//! What a user agent says of itself decides, in this order: a name of `crawlers.tsv` or `programs.tsv`, a word that ends in "bot" or
//! the like, a name of the list that [others keep](../../crawler-user-agents/README.md), an address of who runs it. A program that
//! says none of these is a bot if it doesn't [claim to be a browser](crate::browsers::claims_to_be_one). To add a bot, add a word
//! to one of the two and a line to `tests/user_agents.tsv`; a test fails if a word has no line.
//!
//! For statistics all of them are alike. A link that may be opened a few times only asks for the [kind](BotKind), too: a crawler
//! mustn't use it up, but who fetches it with curl has got what it leads to. Whatever says that somebody is a crawler outweighs
//! the name of a tool, since crawlers are made with tools and often send their names.

use std::sync::LazyLock;

use crate::browsers;
use crate::words::{Words, letters};

/// Why a bot opens a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BotKind {
    /// Opens links without being asked by a person: a crawler, a link preview, a mail scanner, a monitor. So is who says nothing
    /// of itself, as scanners do.
    Crawler,
    /// A tool that a person runs, or a script: curl, an HTTP library, an application that asks in its own name.
    Program,
}

/// A bot by its name and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bot<'a> {
    /// Whether a person wants what the link leads to.
    pub kind: BotKind,
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
const PROGRAM_ENDINGS: [(&str, BotKind); 4] = [
    ("fetcher", BotKind::Crawler),
    ("preview", BotKind::Crawler),
    ("httpclient", BotKind::Program),
    ("http-client", BotKind::Program),
];

/// Tools that a word of [`LISTED`] finds, or a word of [`CRAWLERS`] that stands for many names.
const TOOLS: [&str; 5] = ["google-http-java-client", "indy library", "playwright", "puppeteer", "selenium"];

/// The list's words for crawlers that claim to be no browser. They are bots anyway, so these words tell the kind only.
const LISTED_CRAWLERS: &str = include_str!("../../crawler-user-agents/crawlers.txt");

/// Such words that the list hasn't.
const UNLISTED_CRAWLERS: [&str; 16] = [
    // Link previews in chats.
    "googlemessages",
    "matrix-media-repo",
    "revoltchat",
    // Who scans mails, and Microsoft Office, which asks before it opens the browser.
    "barracuda",
    "ciscosecureemail",
    "ironport",
    "mimecast",
    "proofpoint",
    "protocol discovery",
    // What programs say that they do.
    "checker",
    "monitor",
    "monitoring",
    "prefetch",
    "preview",
    "scanner",
    "uptime",
];

/// How names of phones and apps begin that people have, though they contain an ending of a bot's name.
const PEOPLE: [&str; 3] = ["cubot", "irobot", "switchbot"];

/// Words for crawlers and for tools, each with the fixed name that it gives to a bot, if it gives one.
static CRAWLERS: LazyLock<Vec<(&str, Option<&str>)>> = LazyLock::new(|| named_words(include_str!("crawlers.tsv")));
static PROGRAMS: LazyLock<Vec<(&str, Option<&str>)>> = LazyLock::new(|| named_words(include_str!("programs.tsv")));

static NAMES: LazyLock<Words> = LazyLock::new(|| Words::new(CRAWLERS.iter().chain(&*PROGRAMS).map(|(word, _)| *word)));
static LIST: LazyLock<Words> = LazyLock::new(|| Words::new(words_of(LISTED)));
static CRAWLERS_ONLY: LazyLock<Words> =
    LazyLock::new(|| Words::new(words_of(LISTED_CRAWLERS).chain(UNLISTED_CRAWLERS)));

fn words_of(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

fn named_words(list: &'static str) -> Vec<(&'static str, Option<&'static str>)> {
    words_of(list).map(|line| line.split_once('\t').map_or((line, None), |(word, name)| (word, Some(name)))).collect()
}

impl<'a> Bot<'a> {
    /// Recognises a bot by its user agent; `None` for a person. Without a user agent it is a bot, since every browser sends one.
    pub fn find(user_agent: &'a str) -> Option<Self> {
        let user_agent = user_agent.trim();
        let lower = user_agent.to_ascii_lowercase();
        let claims_to_be_a_browser = browsers::claims_to_be_one(&lower);
        let said = named(user_agent, &lower)
            .or_else(|| endings(user_agent, &lower).next())
            .or_else(|| listed(user_agent, &lower))
            .or_else(|| with_contact(user_agent, &lower));
        let bot = match said {
            Some(bot) if claims_to_be_a_browser || !bot.name.is_empty() => bot,
            None if claims_to_be_a_browser => return None,
            Some(Bot { kind, .. }) => Bot { kind, ..program(user_agent, &lower) },
            None => program(user_agent, &lower),
        };
        let crawls = bot.kind == BotKind::Program && crawls(user_agent, &lower, bot.name);
        Some(if crawls { Bot { kind: BotKind::Crawler, ..bot } } else { bot })
    }

    /// A crawler by its name and what follows the name, with which the version may begin.
    fn new(name: &'a str, rest: &'a str) -> Self {
        let rest = rest.strip_prefix(['/', ' ']).unwrap_or(rest);
        let (major, rest) = number(rest.strip_prefix('v').unwrap_or(rest));
        let minor = major.and_then(|_| number(rest.strip_prefix('.')?).0);
        Self { kind: BotKind::Crawler, name, major, minor }
    }
}

fn named<'a>(user_agent: &'a str, lower: &str) -> Option<Bot<'a>> {
    let (rank, found) = NAMES.find(lower)?;
    let (kind, name) = match rank.checked_sub(CRAWLERS.len()) {
        None => (kind_of(&lower[found.clone()]), CRAWLERS[rank].1),
        Some(rank) => (BotKind::Program, PROGRAMS[rank].1),
    };
    let bot = Bot::new(&user_agent[found.clone()], &user_agent[found.end..]);
    Some(Bot { kind, name: name.unwrap_or(bot.name), ..bot })
}

fn listed<'a>(user_agent: &'a str, lower: &str) -> Option<Bot<'a>> {
    let (_, found) = LIST.find(lower)?;
    let name = user_agent[found.clone()].trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
    let bot = Bot::new(name, &user_agent[found.start + name.len()..]);
    Some(Bot { kind: kind_of(&lower[found]), ..bot })
}

/// The kind of a bot with this name, in lower case, if nothing else says that it is a program.
fn kind_of(name: &str) -> BotKind {
    if TOOLS.contains(&name) { BotKind::Program } else { BotKind::Crawler }
}

/// Whether a program, which has the name of a tool or one that says nothing, is a crawler by what else it says.
fn crawls(user_agent: &str, lower: &str, name: &str) -> bool {
    endings(user_agent, lower).chain(listed(user_agent, lower)).any(|bot| bot.kind == BotKind::Crawler)
        || CRAWLERS_ONLY.find(lower).is_some()
        // Some tools name the page where they are explained.
        || contact(lower).is_some_and(|address| !address.contains(&name.to_ascii_lowercase()))
}

/// Names in a user agent, in lower case, and where they begin: whole words, but not those inside of an address.
fn names<'a>(user_agent: &str, lower: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
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

/// The bots of a user agent whose names end like a bot's.
fn endings<'a>(user_agent: &'a str, lower: &str) -> impl Iterator<Item = Bot<'a>> {
    names(user_agent, lower).filter_map(move |(at, name)| ending(user_agent, at, name))
}

/// The bot whose name, which begins here, ends like a bot's.
fn ending<'a>(user_agent: &'a str, at: usize, name: &str) -> Option<Bot<'a>> {
    if PEOPLE.iter().any(|people| name.starts_with(people)) {
        return None;
    }
    let length = ENDINGS.iter().filter_map(|ending| length_with(name, ending)).max();
    let (length, kind) = match length {
        Some(length) => (length, BotKind::Crawler),
        None => (name.len(), program_ending(name, &user_agent[at + name.len()..])?),
    };
    let end = at + length;
    let start = if is_bare(&name[..length]) { with_words_before(user_agent, at) } else { at };
    // A word without a name before it says nothing of which bot it is.
    let own = if start == at && is_bare(&name[..length]) { "" } else { &user_agent[start..end] };
    Some(Bot { kind, ..Bot::new(own, &user_agent[end..]) })
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

/// The kind of a program whose name ends like this, before such a rest.
fn program_ending(name: &str, rest: &str) -> Option<BotKind> {
    let (_, kind) = PROGRAM_ENDINGS.iter().find(|(ending, _)| name.ends_with(ending))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(*kind)
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

/// The address where one can complain, which bots name. Without its `+`, it may be a toolbar's.
fn contact(lower: &str) -> Option<&str> {
    let at = ["+http:", "+https:", "+mailto:"].iter().find_map(|contact| lower.find(contact))?;
    lower[at..].split([' ', ')', ';']).next()
}

fn with_contact<'a>(user_agent: &'a str, lower: &str) -> Option<Bot<'a>> {
    contact(lower)?;
    Some(compatible(user_agent, lower))
}

/// The bot that says that it is compatible with a browser.
fn compatible<'a>(user_agent: &'a str, lower: &str) -> Bot<'a> {
    let Some(at) = lower.find(COMPATIBLE).map(|at| at + COMPATIBLE.len()) else { return Bot::new("", "") };
    let end = user_agent[at..].find([';', '/', '(', ')', '<', '>', '+']).map_or(user_agent.len(), |end| at + end);
    let name = user_agent[at..end].trim();
    match lower[at..end].trim_start().starts_with("msie") {
        true => Bot::new("", ""),
        false => Bot::new(name, &user_agent[end..]),
    }
}

/// The program that a user agent begins with: `Program/1.4 (…)`, `A program 1.4`, `Mozilla/5.0 (compatible; Program/1.4)`. Who says
/// nothing of itself may be a scanner.
fn program<'a>(user_agent: &'a str, lower: &str) -> Bot<'a> {
    if lower.starts_with("mozilla/") {
        return Bot { kind: BotKind::Program, ..compatible(user_agent, lower) };
    }
    let end = user_agent.find(['/', ';', '(', ')', '<', '>', '[', ']', ',']).unwrap_or(user_agent.len());
    let words = &user_agent[..end];
    let version = words.match_indices(' ').map(|(at, _)| at).find(|at| Bot::new("", &words[*at..]).major.is_some());
    let end = version.unwrap_or(end);
    let name = user_agent[..end].trim();
    let bot = Bot::new(if name.contains(char::is_alphanumeric) { name } else { "" }, &user_agent[end..]);
    if user_agent.contains(char::is_alphanumeric) { Bot { kind: BotKind::Program, ..bot } } else { bot }
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

    /// The user agents of the file, each after what the first column says of it.
    fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
        include_str!("../../tests/user_agents.tsv")
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| (line.split('\t').next().expect("a device"), line.split('\t').nth(4).expect("five fields")))
    }

    #[test]
    fn every_listed_user_agent_is_of_its_device_and_kind() {
        let wrong: Vec<_> = lines()
            .map(|(expected, user_agent)| match Bot::find(user_agent).map(|bot| bot.kind) {
                Some(BotKind::Crawler) => (expected, "bot", user_agent),
                Some(BotKind::Program) => (expected, "program", user_agent),
                None => (expected, crate::device_of_person(user_agent).into(), user_agent),
            })
            .filter(|(expected, found, _)| expected != found)
            .collect();

        assert!(wrong.is_empty(), "user_agents.tsv: {wrong:#?}");
    }

    #[test]
    fn every_name_is_the_first_of_a_listed_user_agent() {
        let used: BTreeSet<usize> = lines()
            .filter_map(|(_, user_agent)| NAMES.find(&user_agent.to_ascii_lowercase()))
            .map(|(rank, _)| rank)
            .collect();

        let names = CRAWLERS.iter().chain(&*PROGRAMS).enumerate();
        let unused: Vec<&str> = names.filter(|(rank, _)| !used.contains(rank)).map(|(_, (word, _))| *word).collect();
        assert!(unused.is_empty(), "no line for {unused:#?}");
    }

    #[test]
    fn every_tool_is_one_that_another_rule_finds() {
        for tool in TOOLS {
            let bot = Bot::find(tool).expect(tool);

            assert_eq!((bot.name, bot.kind), (tool, BotKind::Program));
            let is_crawler = NAMES.find(tool).is_some_and(|(rank, _)| rank < CRAWLERS.len());
            assert!(LIST.find(tool).is_some() || is_crawler, "{tool}");
        }
    }

    #[test]
    fn at_least_99_percent_of_the_list_are_bots() {
        let listed: Vec<&str> = include_str!("../../crawler-user-agents/instances.txt").lines().collect();

        let people: Vec<&str> = listed.iter().copied().filter(|user_agent| Bot::find(user_agent).is_none()).collect();

        assert!(listed.len() > 2000, "{} user agents", listed.len());
        assert!(people.len() * 100 <= listed.len(), "{} people:\n{}", people.len(), people.join("\n"));
    }

    #[test]
    fn at_most_6_percent_of_the_list_are_programs() {
        let listed: Vec<&str> = include_str!("../../crawler-user-agents/instances.txt").lines().collect();

        let kinds = listed.iter().filter_map(|user_agent| Bot::find(user_agent)).map(|bot| bot.kind);
        let programs = kinds.filter(|kind| *kind == BotKind::Program).count();

        assert!(programs * 100 <= listed.len() * 6, "{programs} programs");
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
    fn a_name_ending_like_a_bots_is_found_wherever_its_version_stands() {
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

            assert_eq!((bot.kind, bot.name, bot.major), (BotKind::Crawler, name, major), "{user_agent}");
        }
    }

    #[test]
    fn who_says_nothing_of_itself_is_a_crawler_without_a_name() {
        for nothing in ["", " \t ", "-", "()"] {
            let bot = Bot { kind: BotKind::Crawler, name: "", major: None, minor: None };

            assert_eq!(Bot::find(nothing), Some(bot));
        }
    }

    #[test]
    fn a_program_is_a_crawler_if_anything_says_so() {
        for (user_agent, name) in [
            ("crawler/1.0", "crawler"),
            ("program/1.4 (+https://program.example)", "program"),
            ("Some Link Preview v2", "Some Link Preview"),
            ("some-uptime-check/1.0", "some-uptime-check"),
            ("Proofpoint URL Defense", "Proofpoint URL Defense"),
            ("Mimecast/1.0", "Mimecast"),
            ("Cisco-IronPort/15", "Cisco-IronPort"),
            // Crawlers that send the name of the tool that they are made with.
            ("brightbot/1.0 (some words; curl/7.58.0)", "curl"),
            ("Python/3.11 aiohttp/3.9.1 BrightBot/2", "aiohttp"),
            ("Apache-HttpClient/4.5.14 bright-spider", "Apache-HttpClient"),
            ("Viber/20 axios/1.7.2", "axios"),
            ("python-requests/2.31.0 (+https://program.example/about)", "python-requests"),
        ] {
            let bot = Bot::find(user_agent).expect(user_agent);

            assert_eq!((bot.kind, bot.name), (BotKind::Crawler, name), "{user_agent}");
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

            assert_eq!((bot.kind, bot.name, bot.major), (BotKind::Program, name, major), "{user_agent}");
        }
    }

    #[test]
    fn an_address_that_contains_an_ending_says_nothing() {
        for address in ["https://www.chatbot.example/", "chatbot.example", "spider@chat.example", "www.example/robot"] {
            let user_agent = format!("Mozilla/5.0 (X11; Linux x86_64; {address}) Firefox/3.6");
            assert!(Bot::find(&user_agent).is_none(), "{address}");
        }
    }
}
