//! Each target with its corpus, and with mutations of it: briefly, on any toolchain, the same inputs each time.
//!
//! `PROPTEST_CASES` sets how many inputs a target gets, `PROPTEST_RNG_SEED` gives it others.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

use std::{collections::BTreeSet, env, fmt, fs, path::PathBuf};

use linklet_fuzz::{TARGETS, is_readable, target};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngSeed, TestRunner};

const CASES: u32 = 2_000;

/// Pieces that parsers care about.
const PIECES: [&str; 42] = [
    "://",
    "http",
    "@",
    "\\",
    "/",
    "//",
    "..",
    "%2e%2e",
    "%00",
    "%0d%0a",
    "\r\n",
    "\n",
    "\0",
    "\t",
    "\u{9b}",
    "\u{7f}",
    "\u{2028}",
    "\u{feff}",
    "\u{ffff}",
    "ü",
    "?",
    "&",
    "=",
    "#",
    ":",
    "[::1]",
    "xn--",
    "utm_source=",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "null",
    "1e999",
    "-1",
    "99999999999999999999",
    "{\"a\":",
    "Bearer ",
    "=\"",
    "' OR 1=1",
];

/// An input that is printed so that it can be put into a file with `printf`.
#[derive(Clone)]
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.escape_ascii())
    }
}

#[derive(Debug, Clone)]
enum Mutation {
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    CutAt(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let piece = select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec());
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Flip(at, byte)),
        (any::<Index>(), piece).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (any::<Index>(), vec(any::<u8>(), 1..4)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (any::<Index>(), 1_usize..8).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<Index>(), 2_usize..64).prop_map(|(at, times)| Mutation::Repeat(at, times)),
        any::<Index>().prop_map(Mutation::CutAt),
    ]
}

fn mutated(mut input: Vec<u8>, mutations: Vec<Mutation>) -> Input {
    for mutation in mutations {
        let length = input.len();
        match mutation {
            Mutation::Flip(at, byte) if length > 0 => input[at.index(length)] = byte,
            Mutation::Insert(at, bytes) => {
                let at = at.index(length + 1);
                input.splice(at..at, bytes);
            }
            Mutation::Remove(at, count) if length > 0 => {
                let at = at.index(length);
                input.drain(at..length.min(at + count));
            }
            Mutation::Repeat(at, times) if length > 0 => {
                let at = at.index(length);
                let repeated = vec![input[at]; times];
                input.splice(at..at, repeated);
            }
            Mutation::CutAt(at) => input.truncate(at.index(length + 1)),
            _ => {}
        }
    }
    Input(input)
}

fn files(name: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    files(name).iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Otherwise a change of the items leaves a corpus that is refused at its first look, and nothing behind that is tried.
#[test]
fn the_records_of_the_corpus_are_read_unless_their_names_say_otherwise() {
    for file in files("records") {
        let name = file.file_name().unwrap().to_str().unwrap();
        let is_meant_to_be = !name.starts_with("bad_") && !name.starts_with("unknown_");

        assert_eq!(is_readable(&fs::read(&file).unwrap()), is_meant_to_be, "{name}");
    }
}

fn run(name: &str) {
    let run = target(name).unwrap().run;
    let corpus = corpus(name);
    corpus.iter().for_each(|input| run(input));

    let near_the_corpus =
        (select(corpus), vec(mutation(), 1..8)).prop_map(|(input, mutations)| mutated(input, mutations));
    let anything = vec(any::<u8>(), 0..256).prop_map(Input);
    let config = Config {
        cases: env::var("PROPTEST_CASES").map_or(CASES, |cases| cases.parse().unwrap()),
        failure_persistence: None,
        rng_seed: match Config::default().rng_seed {
            RngSeed::Random => RngSeed::Fixed(0),
            chosen => chosen,
        },
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&prop_oneof![9 => near_the_corpus, 1 => anything], |input| {
        run(&input.0);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{name}: {failure}");
    }
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_run_and_has_a_corpus() {
            let run: BTreeSet<&str> = [$(stringify!($name)),*].into();
            let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();

            assert_eq!(run, known);
            assert!(known.iter().all(|name| !corpus(name).is_empty()));
        }
    };
}

targets![bodies, codes, cursors, edges, imports, keys, messages, records, requests, tokens, urls, user_agents];
