//! What operators block: hosts and workspaces that do harm.

use std::fmt;

use crate::{Host, Invalid, Link, SuspensionReason, TargetUrl, WorkspaceId};

/// What is blocked. As text it is `host:spam.example` or `workspace:` and an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// A host with its subdomains: no link may lead there.
    Host(Host),
    /// A workspace: no link of it may lead anywhere.
    Workspace(WorkspaceId),
}

/// A decision of an operator, which holds for links that exist and for new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What is blocked.
    pub blocked: Blocked,
    /// Why.
    pub reason: SuspensionReason,
}

impl Blocked {
    /// Reads what is blocked.
    ///
    /// # Errors
    /// When the text is neither a host nor a workspace.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text.split_once(':') {
            Some(("host", host)) => Host::parse(host).map(Self::Host),
            Some(("workspace", id)) => WorkspaceId::parse(id).map(Self::Workspace),
            _ => Err(Invalid::new("only hosts and workspaces are blocked")),
        }
    }

    /// Whether a link is affected: its destination, its fallback, or where one of its rules or variants leads.
    pub fn affects(&self, link: &Link) -> bool {
        match self {
            Self::Host(host) => link.destinations().any(|url| is_at(url, host.as_str())),
            Self::Workspace(workspace) => link.identity.workspace == *workspace,
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(formatter, "host:{host}"),
            Self::Workspace(workspace) => write!(formatter, "workspace:{workspace}"),
        }
    }
}

/// Whether a URL is at a host or at a subdomain of it.
fn is_at(url: &TargetUrl, host: &str) -> bool {
    // Only a browser knows where a host leads that isn't one for us.
    let found = Host::parse(&url.host()).map(|found| found.to_string()).unwrap_or_default();
    found.strip_suffix(host).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_host_is_found_in_every_spelling_and_with_its_subdomains() {
        let at = |url: &str| is_at(&TargetUrl::parse(url).unwrap(), "spam.example");

        for hit in ["https://spam.example/a", "http://SPAM.example.:8080", "https://www.spam.example?x#y"] {
            assert!(at(hit), "{hit}");
        }
        for other in ["https://notspam.example/", "https://spam.example.org/", "https://example/spam.example"] {
            assert!(!at(other), "{other}");
        }
    }

    #[test]
    fn what_is_blocked_survives_the_text() {
        for blocked in
            [Blocked::Host(Host::parse("spam.example").unwrap()), Blocked::Workspace(WorkspaceId::generate())]
        {
            assert_eq!(Blocked::parse(&blocked.to_string()), Ok(blocked));
        }
        for refused in ["", "spam.example", "host:", "workspace:spam"] {
            assert!(Blocked::parse(refused).is_err(), "{refused}");
        }
    }
}
