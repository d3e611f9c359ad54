//! The same redirect as others would write it: in Node and in Python.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

/// `install.py` ends like this if a peer can't be installed here, which is no failure of ours.
const NOT_HERE: i32 = 3;

/// An installed peer.
#[derive(Debug, Deserialize)]
pub struct Peer {
    pub command: Vec<PathBuf>,
    #[serde(rename = "env")]
    pub variables: BTreeMap<String, String>,
    pub package_dir: PathBuf,
    pub versions: BTreeMap<String, String>,
}

/// Installs a peer, unless it is there already; `None` if this machine lacks something, which is printed.
///
/// # Panics
/// When installing fails for another reason.
pub fn install(name: &str) -> Option<Peer> {
    let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command = Command::new(python);
    command.args(["-m", "tests.bench.peers.install", name]).current_dir(root).stderr(Stdio::inherit());
    let output = command.output().expect("Python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().last().unwrap_or_default();
    match output.status.code() {
        Some(0) => Some(serde_json::from_str(last).expect("install.py says how to start a peer")),
        Some(NOT_HERE) => {
            eprintln!("peer-{name} is left out: {last}");
            None
        }
        _ => panic!("install.py {name} has failed"),
    }
}
