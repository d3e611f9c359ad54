//! The same redirect as others would write it: in Node and in Python.

use std::{
    collections::BTreeMap,
    env, io,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde::Deserialize;

use crate::functions::Variables;

/// `install.py` ends like this if a peer can't be installed here, which is no failure of ours.
const NOT_HERE: i32 = 3;

/// An installed peer.
#[derive(Debug, Deserialize)]
pub struct Peer {
    pub command: Vec<PathBuf>,
    #[serde(rename = "env")]
    pub variables: Variables,
    pub package_dir: PathBuf,
    pub versions: BTreeMap<String, String>,
}

/// Why it can't be known whether there is one.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("install.py can't be started")]
    Start(#[source] io::Error),
    #[error("install.py {0} has failed")]
    Install(String),
    #[error("install.py {name} has not said how to start it")]
    Answer { name: String, source: serde_json::Error },
}

/// Installs a peer, unless it is there already; `None` if this machine lacks something, which is printed.
///
/// # Errors
/// When installing fails for another reason.
pub fn install(name: &str) -> Result<Option<Peer>, PeerError> {
    let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/install.py");
    let output =
        Command::new(python).args([script, name]).stderr(Stdio::inherit()).output().map_err(PeerError::Start)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().last().unwrap_or_default();
    match output.status.code() {
        Some(0) => {
            let peer = serde_json::from_str(last);
            peer.map(Some).map_err(|source| PeerError::Answer { name: name.to_owned(), source })
        }
        Some(NOT_HERE) => {
            eprintln!("peer-{name} is left out: {last}");
            Ok(None)
        }
        _ => Err(PeerError::Install(name.to_owned())),
    }
}
