//! Whether the documents agree with what they are about: every link and every anchor leads somewhere, the parameters and their
//! defaults are those of the template, and lifetimes are those of the code.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linklet_domain::lifetimes;
use linklet_test_support::Template;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Markdown file of the repository, but for what was built or installed.
fn documents() -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                collect(&path, found);
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found
}

/// What a document refers to and what can be referred to in it.
#[derive(Default)]
struct Document {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Document {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (mut document, mut heading, mut repeated) = (Self::default(), None::<String>, HashMap::new());
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().unwrap_or_default());
                    let seen = repeated.entry(anchor.clone()).or_insert(0);
                    document.anchors.insert(if *seen == 0 { anchor } else { format!("{anchor}-{seen}") });
                    *seen += 1;
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        document
    }
}

/// The name that GitHub gives a heading.
pub(super) fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// What is wrong with a link of a document, if anything.
fn fault(documents: &BTreeMap<PathBuf, Document>, path: &Path, link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = if file.is_empty() { path.to_owned() } else { path.parent()?.join(file) };
    let Ok(target) = target.canonicalize() else { return Some(format!("{}: there is no {link}", path.display())) };
    if !target.starts_with(root()) {
        return Some(format!("{}: {link} leads out of the repository", path.display()));
    }
    let document = documents.get(&target).filter(|_| anchor.is_some())?;
    let is_there = anchor.is_some_and(|anchor| document.anchors.contains(anchor));
    (!is_there).then(|| format!("{}: there is no heading for {link}", path.display()))
}

#[test]
fn every_relative_link_and_anchor_leads_somewhere() {
    let documents: BTreeMap<_, _> = documents().into_iter().map(|path| (path.clone(), Document::read(&path))).collect();
    assert!(documents.len() > 20, "only {} documents were found", documents.len());

    let faults: Vec<_> = documents
        .iter()
        .flat_map(|(path, document)| document.links.iter().map(move |link| (path, link)))
        .filter(|(_, link)| !link.contains("://") && !link.starts_with("mailto:"))
        .filter_map(|(path, link)| fault(&documents, path, link))
        .collect();

    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn what_newcomers_read_first_stays_short() {
    for (name, most) in [("README.md", 12_000), ("ARCHITECTURE.md", 16_000), ("CONTRIBUTING.md", 9_000)] {
        let length = fs::metadata(root().join(name)).unwrap().len();

        assert!(length <= most, "{name} has {length} bytes, more than {most}: move what is for one task to docs/");
    }
}

/// A section of docs/deploying.md, by its heading.
fn section(heading: &str) -> String {
    let page = fs::read_to_string(root().join("docs/deploying.md")).unwrap();
    page.split("\n## ").find(|section| section.lines().next() == Some(heading)).unwrap().to_owned()
}

/// In the largest unit that has a whole number of it.
fn in_words(lifetime: Duration) -> String {
    let seconds = lifetime.as_secs();
    // Up to a day, people say hours.
    let (number, unit) = match seconds {
        seconds if seconds.is_multiple_of(86_400) && seconds > 86_400 => (seconds / 86_400, "day"),
        seconds if seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        _ => (seconds / 60, "minute"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[test]
fn lifetimes_are_those_of_the_code() {
    let section = section("What is kept for how long");
    let kept: BTreeMap<_, _> = section.lines().filter_map(|row| row.trim_matches('|').split_once('|')).collect();

    for (what, lifetime) in [
        ("an expired link", lifetimes::EXPIRED_LINKS),
        ("the tombstone of a purged link, which reserves its code", lifetimes::PURGED_LINKS),
        ("raw clicks", lifetimes::RAW_CLICKS),
        ("ids of counted clicks", lifetimes::COUNTED_IDS),
        ("the overview of a workspace", lifetimes::OVERVIEWS),
        ("the answer to a question about a workspace", lifetimes::QUESTIONS),
        ("notifications", lifetimes::NOTIFICATIONS),
        ("the audit log: who has done what in a workspace, and with an account", lifetimes::AUDIT),
        ("API keys", lifetimes::EXPIRED_API_KEYS),
        ("an invitation, and its tokens", lifetimes::INVITATIONS),
        ("that a session was ended", lifetimes::SESSIONS),
        ("that all sessions of somebody were ended", lifetimes::RENEWABLE_SESSIONS),
        ("sessions of who stays signed in", lifetimes::RENEWABLE_SESSIONS),
        ("tokens for a new password", lifetimes::PASSWORD_RESETS),
        ("mailed tokens for an address", lifetimes::ADDRESS_VERIFICATIONS),
        ("counts of a client's calls", lifetimes::COUNTED_CALLS),
        ("from which addresses somebody has signed in, both hashed", lifetimes::FAMILIAR_ADDRESSES),
        ("a closed workspace, which one of its admins can bring back", lifetimes::CLOSED_WORKSPACES),
        ("jobs", lifetimes::ENDED_JOBS),
        ("results of checks", lifetimes::CHECK_RESULTS),
        ("that a link has stopped watching a URL", lifetimes::ENDED_WATCHES),
        ("idempotency keys", lifetimes::IDEMPOTENCY_KEYS),
    ] {
        let said = kept[format!(" {what} ").as_str()];
        let words = in_words(lifetime);
        assert!(said.contains(&format!(" {words} ")), "{what}:{said}instead of {words}");
    }
}

#[test]
fn the_parameters_and_their_defaults_are_the_templates() {
    let section = section("Parameters");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")).map(|row| row.split_once("` |").unwrap());
    let described: BTreeMap<_, _> = rows
        .map(|(name, cells)| (name.to_owned(), cells.split('|').next().unwrap().trim().trim_matches('`').to_owned()))
        .collect();

    let text = |default: &Value| match default {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let template = Template::load();
    let defaults: BTreeMap<_, _> =
        template.parameters().iter().map(|(name, parameter)| (name.clone(), text(&parameter["Default"]))).collect();
    assert_eq!(described, defaults);
}

/// CloudWatch Logs, and whoever the policy of a topic or queue lets in by itself. Roles have what they need from the template.
#[test]
fn the_key_policy_admits_every_service_that_uses_the_key_itself() {
    let section = section("A key of your own");
    let is_code = |line: &&str| line.starts_with("        ");
    let policy: String = section.lines().skip_while(|line| !is_code(line)).take_while(is_code).collect();
    let policy: Value = serde_json::from_str(&policy).unwrap();
    let named = |statement: &Value| {
        // The template has some statements under a condition.
        let statement = statement.get(1).unwrap_or(statement);
        statement["Principal"]["Service"].as_str().map(str::to_owned)
    };
    let described: BTreeSet<_> = policy["Statement"].as_array().unwrap().iter().filter_map(named).collect();

    let template = Template::load();
    let policies = template.of_type("AWS::SNS::TopicPolicy").chain(template.of_type("AWS::SQS::QueuePolicy"));
    let statements = policies.flat_map(|(_, policy)| policy["PolicyDocument"]["Statement"].as_array().unwrap());
    let mut expected: BTreeSet<_> = statements.filter_map(named).collect();
    expected.insert("logs.<region>.amazonaws.com".to_owned());
    assert_eq!(described, expected);
}

#[test]
fn every_action_of_a_workflow_is_pinned_by_its_commit() {
    let mut actions = 0;
    for file in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for action in text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses:")) {
            actions += 1;
            let (reference, version) = action.split_once(" # v").unwrap_or((action, ""));
            let commit = reference.split_once('@').map_or("", |(_, commit)| commit.trim());
            let is_hash = commit.len() == 40 && commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            assert!(is_hash && !version.is_empty(), "{}:{action}", path.display());
        }
    }
    assert!(actions > 0);
}

#[test]
fn an_anchor_is_what_github_makes_of_a_heading() {
    for (heading, expected) in [
        ("Each click counts once", "each-click-counts-once"),
        ("`sam local start-api`", "sam-local-start-api"),
        ("Redirects, 4xx & 5xx: what's what?", "redirects-4xx--5xx-whats-what"),
    ] {
        assert_eq!(anchor(&heading.replace('`', "")), expected);
    }
}
