//! What is measured: executables of ours, variants of them, and what others wrote.

use std::{collections::BTreeMap, path::PathBuf};

use linklet_test_support::TOKEN_SECRET;

use crate::{
    functions::{self, TemplateError, Variables},
    lambda::Program,
    options::{Options, Variant},
    peers::{self, Peer, PeerError},
    tables::Tables,
    workloads::Workload,
};

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
    /// Installs the peers that are wanted.
    ///
    /// # Errors
    /// When one can't be installed, although this machine has what it needs.
    pub fn new(options: &'a Options, programs: PathBuf) -> Result<Self, PeerError> {
        let mut found = Vec::new();
        for peer in ["node", "python"] {
            let name = format!("peer-{peer}");
            if options.wants(&name) {
                found.extend(peers::install(peer)?.map(|peer| (name, peer)));
            }
        }
        Ok(Self { options, programs, peers: found })
    }

    /// The wanted subjects, in the order of the report, to be run with these tables.
    ///
    /// # Errors
    /// When a function needs a variable that isn't known.
    pub fn subjects(&self, tables: &Tables) -> Result<Vec<Subject>, TemplateError> {
        let (cold, hot) = (Workload::cold_links(tables.links), Workload::hot_link());
        let mut subjects = vec![self.baseline("noop"), self.baseline("noop-extension")];
        subjects.push(self.bare_calls(cold.clone(), tables)?);
        for (name, function, workload) in [
            ("redirect-cold-link", "redirect", cold.clone()),
            ("redirect-hot-link", "redirect", hot.clone()),
            ("shorten", "shorten", Workload::shorten(tables)),
            ("list", "list", Workload::list(tables)),
            ("stats", "stats", Workload::stats()),
            ("auth", "auth", Workload::me(tables)),
        ] {
            subjects.push(self.function(name, function, workload, tables)?);
        }
        subjects.retain(|subject| self.options.wants(&subject.name));
        for variant in &self.options.variants {
            subjects.push(self.variant(variant, "cold-link", cold.clone(), tables)?);
            subjects.push(self.variant(variant, "hot-link", hot.clone(), tables)?);
        }
        for (name, peer) in &self.peers {
            subjects.push(self.peer(name, peer, cold.clone(), tables)?);
        }
        Ok(subjects)
    }

    /// Who works between their events: a redirect that writes nothing, since DynamoDB here gets slower with each write.
    ///
    /// # Errors
    /// When it needs a variable that isn't known.
    pub fn neighbour(&self, tables: &Tables) -> Result<Subject, TemplateError> {
        self.function("neighbour", "redirect", Workload::looks(tables.links), tables)
    }

    fn baseline(&self, name: &str) -> Subject {
        let executable = self.programs.join(format!("bench-{name}"));
        Subject {
            name: name.to_owned(),
            program: Program { command: vec![executable.clone()], variables: Variables::new(), memory: 256 },
            package: executable,
            versions: BTreeMap::new(),
            workload: Workload::nothing(),
        }
    }

    /// What a redirect can't do without: an empty function and two calls.
    fn bare_calls(&self, workload: Workload, tables: &Tables) -> Result<Subject, TemplateError> {
        let Subject { program: Program { command, .. }, package, .. } = self.baseline("noop-calls");
        let mut subject = self.function("noop-calls", "redirect", workload, tables)?;
        subject.program.command = command;
        Ok(Subject { package, ..subject })
    }

    fn function(
        &self,
        name: &str,
        function: &str,
        workload: Workload,
        tables: &Tables,
    ) -> Result<Subject, TemplateError> {
        let executable = self.programs.join(function);
        let (mut variables, memory) = functions::variables(function, &tables.queues)?;
        variables.extend(tables.endpoints());
        let program = Program { command: vec![executable.clone()], variables, memory };
        Ok(Subject { name: name.to_owned(), program, package: executable, versions: BTreeMap::new(), workload })
    }

    fn variant(
        &self,
        variant: &Variant,
        links: &str,
        workload: Workload,
        tables: &Tables,
    ) -> Result<Subject, TemplateError> {
        let mut subject = self.function(&format!("{}-{links}", variant.label), "redirect", workload, tables)?;
        subject.package.clone_from(&variant.program);
        subject.program.command = vec![variant.program.clone()];
        subject.program.variables.extend(variant.variables.clone());
        Ok(subject)
    }

    fn peer(&self, name: &str, peer: &Peer, workload: Workload, tables: &Tables) -> Result<Subject, TemplateError> {
        let mut subject = self.function(name, "redirect", workload, tables)?;
        subject.program.command.clone_from(&peer.command);
        subject.program.variables.insert("CLICK_SALT".to_owned(), TOKEN_SECRET.to_owned());
        subject.program.variables.extend(peer.variables.clone());
        subject.package.clone_from(&peer.package_dir);
        subject.versions.clone_from(&peer.versions);
        Ok(subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        get_item::GetItem,
        options::{APART, SUBJECTS},
    };

    #[tokio::test]
    async fn every_subject_can_be_asked_for() {
        let variant = Variant { label: "mine".to_owned(), program: "/tmp/mine".into(), variables: Variables::new() };
        let subjects = ["noop", "redirect-hot-link"].map(str::to_owned).into();
        let all = Options { subjects: Vec::new(), ..Options::default() };
        let some = Options { subjects, variants: vec![variant], ..Options::default() };
        let tables = Tables::start(1).await;
        let names = |options: &Options| -> Vec<String> {
            let cast = Cast { options, programs: PathBuf::new(), peers: Vec::new() };
            cast.subjects(&tables).unwrap().into_iter().map(|subject| subject.name).collect()
        };

        let ours: Vec<_> = SUBJECTS.into_iter().filter(|name| !name.starts_with("peer-")).collect();
        let others = [GetItem::NAME].into_iter().chain(APART).map(str::to_owned).collect();
        let mut measured = [names(&all), others].concat();
        measured.sort_by_key(|name| SUBJECTS.iter().position(|subject| subject == name));
        assert_eq!(measured, ours);
        assert_eq!(names(&some), ["noop", "redirect-hot-link", "mine-cold-link", "mine-hot-link"]);
    }
}
