//! What to measure, from the command line.

use std::{collections::BTreeMap, path::PathBuf};

/// What can be measured.
pub const SUBJECTS: [&str; 15] = [
    "noop",
    "noop-calls",
    "get-item",
    "redirect-cold-link",
    "redirect-hot-link",
    "shorten",
    "list",
    "stats",
    "auth",
    "peer-node",
    "peer-python",
    "analytics",
    "pages",
    "questions",
    "bulk",
];

/// Of these, the ones that come after the rest, with tables and reports of their own.
pub const APART: [&str; 4] = ["analytics", "pages", "questions", "bulk"];

/// All options.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The names of the subjects to measure; empty means all.
    pub subjects: Vec<String>,
    /// How many invocations of each are timed.
    pub invocations: usize,
    /// How many cold starts.
    pub starts: usize,
    /// The profile that the functions were built with.
    pub profile: String,
    pub variants: Vec<Variant>,
    pub extent: Extent,
}

/// How much of everything is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    #[default]
    All,
    /// A hundredth, to try that everything can be measured. The numbers mean nothing.
    Trial,
}

impl Extent {
    /// So many of as many, and at least one.
    pub fn of(self, count: usize) -> usize {
        match self {
            Self::All => count,
            Self::Trial => count.div_ceil(100),
        }
    }
}

/// Another build of redirect, measured with the same links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its subjects are this with `-cold-link` and `-hot-link` after it.
    pub label: String,
    pub program: PathBuf,
    /// What is different in its environment.
    pub variables: BTreeMap<String, String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            subjects: Vec::new(),
            invocations: 20_000,
            starts: 25,
            profile: "release".to_owned(),
            variants: Vec::new(),
            extent: Extent::All,
        }
    }
}

impl Options {
    /// Reads them. An empty value changes nothing, so that a Makefile can pass on what it wasn't given.
    ///
    /// # Errors
    /// When there is something else among them, or a value makes no sense: what it is.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--subjects" | "--invocations" | "--starts" | "--profile" | "--variants" | "--trial"
                    if value.is_empty() => {}
                "--subjects" => options.subjects = value.split(',').map(subject).collect::<Result<_, _>>()?,
                "--invocations" => options.invocations = number(&value)?,
                "--starts" => options.starts = number(&value)?,
                "--profile" => options.profile = value,
                "--variants" => {
                    options.variants = value.split_whitespace().map(Variant::parse).collect::<Result<_, _>>()?;
                }
                "--trial" if value == "yes" => options.extent = Extent::Trial,
                _ => return Err(format!("{name} {value} is no option")),
            }
        }
        Ok(options)
    }

    /// The turns that subjects take. Each begins with new tables: this DynamoDB gets slower with each write.
    pub fn rounds(&self) -> usize {
        self.extent.of(5)
    }

    /// Whether anything takes part in the rounds.
    pub fn has_rounds(&self) -> bool {
        !self.variants.is_empty() || SUBJECTS.iter().any(|subject| self.wants(subject) && !APART.contains(subject))
    }

    /// Whether a subject is to be measured.
    pub fn wants(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|wanted| wanted == subject)
    }
}

impl Variant {
    fn parse(text: &str) -> Result<Self, String> {
        let unclear = || format!("{text} is no variant: label=program[:NAME=value…]");
        let mut parts = text.split(':').map(|part| part.split_once('=').ok_or_else(unclear));
        let (label, program) = parts.next().ok_or_else(unclear)??;
        let variables = parts.map(|part| part.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Ok(Self { label: label.to_owned(), program: program.into(), variables: variables.collect::<Result<_, _>>()? })
    }
}

fn subject(name: &str) -> Result<String, String> {
    let is_known = SUBJECTS.contains(&name);
    is_known
        .then(|| name.to_owned())
        .ok_or_else(|| format!("{name} is no subject. Subjects are {}", SUBJECTS.join(", ")))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| format!("{text} is no number of at least 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(arguments.iter().map(|argument| (*argument).to_owned()))
    }

    #[test]
    fn without_options_or_with_empty_ones_everything_is_measured() {
        let empty =
            ["--subjects", "", "--invocations", "", "--starts", "", "--profile", "", "--variants", "", "--trial", ""];

        for arguments in [&[][..], &empty] {
            let options = parse(arguments).unwrap();
            assert_eq!(options, Options::default());
            assert!(options.wants("noop"));
        }
    }

    #[test]
    fn options_say_what_to_measure_and_how_often() {
        let options =
            parse(&["--subjects", "noop,redirect-hot-link", "--invocations", "100", "--starts", "5"]).unwrap();

        assert!(options.wants("noop") && options.wants("redirect-hot-link") && !options.wants("list"));
        assert_eq!((options.invocations, options.starts), (100, 5));
    }

    #[test]
    fn what_is_measured_apart_needs_no_rounds() {
        let variant = parse(&["--subjects", "bulk", "--variants", "a=/tmp/a"]).unwrap();

        assert!(!parse(&["--subjects", &APART.join(",")]).unwrap().has_rounds());
        assert!(parse(&["--subjects", "bulk,get-item"]).unwrap().has_rounds());
        assert!(parse(&[]).unwrap().has_rounds() && variant.has_rounds());
    }

    #[test]
    fn a_trial_is_a_hundredth_of_everything_and_some_of_it() {
        let (all, trial) = (parse(&[]).unwrap(), parse(&["--trial", "yes"]).unwrap());

        assert_eq!((all.rounds(), all.extent.of(20_000)), (5, 20_000));
        assert_eq!((trial.rounds(), trial.extent.of(20_000), trial.extent.of(1)), (1, 200, 1));
    }

    #[test]
    fn a_variant_is_another_program_with_variables() {
        let options = parse(&["--variants", "a=/tmp/a:CLICK_RECORDING=inline:X=1 b=/tmp/b"]).unwrap();

        let variables = [("CLICK_RECORDING", "inline"), ("X", "1")].map(|(name, value)| (name.into(), value.into()));
        let a = Variant { label: "a".into(), program: "/tmp/a".into(), variables: variables.into() };
        let b = Variant { label: "b".into(), program: "/tmp/b".into(), variables: BTreeMap::new() };
        assert_eq!(options.variants, [a, b]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in [
            ["--subject", "noop"],
            ["--subjects", "noop,nothing"],
            ["--invocations", "many"],
            ["--starts", "0"],
            ["--variants", "program"],
            ["--variants", "a=program:X"],
            ["--trial", "perhaps"],
        ] {
            assert!(parse(&arguments).is_err(), "{arguments:?}");
        }
        assert_eq!(parse(&["--starts"]).unwrap_err(), "--starts needs a value");
    }
}
