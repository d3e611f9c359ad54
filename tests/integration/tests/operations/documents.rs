//! Whether the documents agree with what they are about: every link and every anchor leads somewhere, and the page of parameters and
//! lifetimes is made of the template and the code.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::{env, fs};

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

/// In the largest unit that has a whole number of it. Up to a day, people say hours.
fn in_words(seconds: u64) -> String {
    let (number, unit) = match seconds {
        seconds if seconds.is_multiple_of(86_400) && seconds > 86_400 => (seconds / 86_400, "day"),
        seconds if seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        _ => (seconds / 60, "minute"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// A row for each constant of lifetimes.rs: the first sentence of its documentation, if that begins with "How long".
fn rows_of_lifetimes() -> Vec<String> {
    let source = fs::read_to_string(root().join("shared/domain/src/lifetimes.rs")).unwrap();
    let documented = source
        .split("\n\n")
        .filter_map(|item| item.split_once("\npub const "))
        .filter(|(docs, _)| docs.starts_with("/// How long"));
    let rows = documented.map(|(docs, constant)| {
        let docs = docs.replace("\n/// ", " ").replace("/// ", "");
        let sentence = docs.split_once(". ").map_or(docs.trim_end_matches('.'), |(first, _)| first);
        let what = sentence.strip_prefix("How long ").unwrap();
        let factors = constant.split_once("from_secs(").unwrap().1.split_once(')').unwrap().0;
        let seconds = factors.split(" * ").map(|factor| match factor {
            "DAY" => 86_400,
            "HOUR" => 3_600,
            "MINUTE" => 60,
            number => number.replace('_', "").parse::<u64>().unwrap(),
        });
        format!("| {what} | {} | `{}` |", in_words(seconds.product()), constant.split(':').next().unwrap())
    });
    rows.collect()
}

/// A row for each parameter of the template: its default, what it may be, and what it is on the local system.
fn rows_of_parameters() -> Vec<String> {
    let settings = fs::read_to_string(root().join("samconfig.toml")).unwrap();
    let locally: BTreeMap<_, _> = settings
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\",")?.split_once('='))
        .collect();
    let written = |value: &Value| match value {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    };
    let rows = Template::load().parameters().iter().map(|(name, parameter)| {
        let bounds = [("MinValue", "from"), ("MaxValue", "to"), ("MaxLength", "characters, up to")];
        let bounds = bounds.iter().filter_map(|(bound, word)| Some(format!("{word} {}", parameter.get(bound)?)));
        let values = parameter["AllowedValues"].as_array().into_iter().flatten().map(written);
        let allowed = values.collect::<Vec<_>>().join(", ") + &bounds.collect::<Vec<_>>().join(" ");
        let locally = locally.get(name.as_str()).map_or(String::new(), |value| format!("`{value}`"));
        let about = parameter["Description"].as_str().unwrap().replace('|', "\\|");
        format!("| `{name}` | {} | {allowed} | {locally} | {about} |", written(&parameter["Default"]))
    });
    rows.collect()
}

/// `WRITE_PARAMETERS=yes` writes the page.
#[test]
fn the_page_of_parameters_is_made_of_template_and_code() {
    let path = root().join("docs/parameters.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut parts = page.split("\n|---|");
    let mut made = parts.next().unwrap().to_owned();
    for (part, rows) in parts.zip([rows_of_parameters(), rows_of_lifetimes()]) {
        let (head, after) = (part.lines().next().unwrap(), part.split_once("\n\n").map_or("", |(_, after)| after));
        made += &format!("\n|---|{head}\n{}\n{}{after}", rows.join("\n"), if after.is_empty() { "" } else { "\n" });
    }
    if env::var("WRITE_PARAMETERS").is_ok_and(|write| write == "yes") {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&path).unwrap());
}

/// CloudWatch Logs, and whoever the policy of a topic or queue lets in by itself. Roles have what they need from the template.
#[test]
fn the_key_policy_admits_every_service_that_uses_the_key_itself() {
    let section = fs::read_to_string(root().join("docs/encryption.md")).unwrap();
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
    let is_encrypted = |(_, policy): &(&str, &Value)| {
        !template.properties(policy["Topics"][0].as_str().unwrap())["KmsMasterKeyId"].is_null()
    };
    let of_topics = template.of_type("AWS::SNS::TopicPolicy").filter(is_encrypted);
    let policies = of_topics.chain(template.of_type("AWS::SQS::QueuePolicy"));
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
