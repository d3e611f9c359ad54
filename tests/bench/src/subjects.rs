//! What is measured: executables of ours, variants of them, and what others wrote.

use std::{collections::BTreeMap, path::PathBuf};

use linklet_test_support::{Program, TOKEN_SECRET};

use crate::options::{Options, Variant};
use crate::peers::{self, Peer};
use crate::tables::Tables;
use crate::workloads::Workload;

/// Something to measure.
pub struct Subject {
    pub name: String,
    pub program: Program,
    /// What is uploaded: an executable, or a folder.
    pub package: PathBuf,
    /// Of what else it is made of.
    pub versions: BTreeMap<String, String>,
    pub workload: Workload,
}

/// All that can be measured here.
pub struct Cast<'a> {
    options: &'a Options,
    /// The folder of the executables.
    programs: PathBuf,
    /// Under their subjects' names.
    peers: Vec<(String, Peer)>,
}

impl<'a> Cast<'a> {
    /// Installs the peers that are wanted, as far as this machine has what they need.
    pub fn new(options: &'a Options, programs: PathBuf) -> Self {
        let peers = ["node", "python"].into_iter().map(|peer| (format!("peer-{peer}"), peer));
        let wanted = peers.filter(|(name, _)| options.wants(name));
        let peers = wanted.filter_map(|(name, peer)| peers::install(peer).map(|peer| (name, peer))).collect();
        Self { options, programs, peers }
    }

    /// The wanted subjects, in the order of the report, to be run with these tables.
    pub fn subjects(&self, tables: &Tables) -> Vec<Subject> {
        let (cold, hot) = (Workload::cold_links(tables.links), Workload::hot_link());
        let mut subjects = vec![self.noop(), self.subject("noop-calls", "redirect", "bench-noop-calls", &cold, tables)];
        for (name, function, workload) in [
            ("redirect-cold-link", "redirect", &cold),
            ("redirect-hot-link", "redirect", &hot),
            ("shorten", "shorten", &Workload::shorten(tables)),
            ("list", "list", &Workload::list(tables)),
            ("stats", "stats", &Workload::stats()),
            ("auth", "auth", &Workload::me(tables)),
        ] {
            subjects.push(self.subject(name, function, function, workload, tables));
        }
        subjects.retain(|subject| self.options.wants(&subject.name));
        for variant in &self.options.variants {
            subjects.push(self.variant(variant, "cold-link", &cold, tables));
            subjects.push(self.variant(variant, "hot-link", &hot, tables));
        }
        subjects.extend(self.peers.iter().map(|(name, peer)| self.peer(name, peer, &cold, tables)));
        subjects
    }

    /// Who works between their events: a redirect that writes nothing, since DynamoDB here gets slower with each write.
    pub fn neighbour(&self, tables: &Tables) -> Subject {
        self.subject("neighbour", "redirect", "redirect", &Workload::looks(tables.links), tables)
    }

    fn noop(&self) -> Subject {
        let executable = self.programs.join("bench-noop");
        Subject {
            name: "noop".to_owned(),
            program: Program { command: vec![executable.clone()], variables: BTreeMap::new(), memory: 256 },
            package: executable,
            versions: BTreeMap::new(),
            workload: Workload::nothing(),
        }
    }

    /// An executable in the environment of a function.
    fn subject(&self, name: &str, function: &str, executable: &str, workload: &Workload, tables: &Tables) -> Subject {
        let package = self.programs.join(executable);
        let program = tables.program(function, package.clone());
        Subject { name: name.to_owned(), program, package, versions: BTreeMap::new(), workload: workload.clone() }
    }

    fn variant(&self, variant: &Variant, links: &str, workload: &Workload, tables: &Tables) -> Subject {
        let mut subject = self.subject(&format!("{}-{links}", variant.label), "redirect", "redirect", workload, tables);
        subject.package.clone_from(&variant.program);
        subject.program.command = vec![variant.program.clone()];
        subject.program.variables.extend(variant.variables.clone());
        subject
    }

    fn peer(&self, name: &str, peer: &Peer, workload: &Workload, tables: &Tables) -> Subject {
        let mut subject = self.subject(name, "redirect", "redirect", workload, tables);
        subject.program.command.clone_from(&peer.command);
        subject.program.variables.insert("CLICK_SALT".to_owned(), TOKEN_SECRET.to_owned());
        subject.program.variables.extend(peer.variables.clone());
        subject.package.clone_from(&peer.package_dir);
        subject.versions.clone_from(&peer.versions);
        subject
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::get_item::GetItem;
    use crate::options::{APART, SUBJECTS};

    #[tokio::test]
    async fn every_subject_can_be_asked_for() {
        let variant = Variant { label: "mine".to_owned(), program: "/tmp/mine".into(), variables: BTreeMap::new() };
        let subjects = ["noop", "redirect-hot-link"].map(str::to_owned).into();
        let all = Options { subjects: Vec::new(), ..Options::default() };
        let some = Options { subjects, variants: vec![variant], ..Options::default() };
        let tables = Tables::start(1).await;
        let names = |options: &Options| -> Vec<String> {
            let cast = Cast { options, programs: PathBuf::new(), peers: Vec::new() };
            cast.subjects(&tables).into_iter().map(|subject| subject.name).collect()
        };

        let ours: Vec<_> = SUBJECTS.into_iter().filter(|name| !name.starts_with("peer-")).collect();
        let others = [GetItem::NAME].into_iter().chain(APART).map(str::to_owned).collect();
        let mut measured = [names(&all), others].concat();
        measured.sort_by_key(|name| SUBJECTS.iter().position(|subject| subject == name));
        assert_eq!(measured, ours);
        assert_eq!(names(&some), ["noop", "redirect-hot-link", "mine-cold-link", "mine-hot-link"]);
    }
}
