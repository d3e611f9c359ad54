//! To whom or what something is done.

use std::fmt;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::{Invalid, InvitationId, JobId, KeyPrefix, SessionId, ShareId, ShortCode, TargetId, UserId, WorkspaceId};

/// To whom or what something was done. As text it is its kind and its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum AuditSubject {
    /// A member of the workspace.
    Member(UserId),
    /// An invitation into it.
    Invitation(InvitationId),
    /// An API key of it.
    Key(KeyPrefix),
    /// The workspace.
    Workspace(WorkspaceId),
    /// A link.
    Link(ShortCode),
    /// A share of statistics.
    Share(ShareId),
    /// A monitored URL.
    Target(TargetId),
    /// A job.
    Job(JobId),
    /// The account of whose audit log it is.
    Account(UserId),
    /// A session.
    Session(SessionId),
}

impl AuditSubject {
    /// What kind of subject it is.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// Its id.
    pub fn id(&self) -> String {
        match self {
            Self::Member(id) | Self::Account(id) => id.to_string(),
            Self::Invitation(id) => id.to_string(),
            Self::Key(prefix) => prefix.to_string(),
            Self::Workspace(id) => id.to_string(),
            Self::Link(code) => code.to_string(),
            Self::Share(id) => id.to_string(),
            Self::Target(id) => id.to_string(),
            Self::Job(id) => id.to_string(),
            Self::Session(id) => id.to_string(),
        }
    }

    /// The person, if it is one.
    pub fn person(&self) -> Option<&UserId> {
        match self {
            Self::Member(user) | Self::Account(user) => Some(user),
            _ => None,
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let (kind, id) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "member" => UserId::parse(id).map(Self::Member),
            "invitation" => InvitationId::parse(id).map(Self::Invitation),
            "key" => KeyPrefix::parse(id).map(Self::Key),
            "workspace" => WorkspaceId::parse(id).map(Self::Workspace),
            "link" => ShortCode::parse(id).map(Self::Link),
            "share" => ShareId::parse(id).map(Self::Share),
            "target" => TargetId::parse(id).map(Self::Target),
            "job" => JobId::parse(id).map(Self::Job),
            "account" => UserId::parse(id).map(Self::Account),
            "session" => SessionId::parse(id).map(Self::Session),
            _ => Err(Invalid::new("there is no such kind of subject")),
        }
    }
}

impl fmt::Display for AuditSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.kind(), self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_survives_the_text() {
        let user = UserId::generate();
        for subject in [
            AuditSubject::Member(user),
            AuditSubject::Key(KeyPrefix::parse("lk_live_a1B2c3D4").unwrap()),
            AuditSubject::Workspace(WorkspaceId::generate()),
            AuditSubject::Link(ShortCode::parse("launch").unwrap()),
            AuditSubject::Target(TargetId::parse("t_0000000000000000000007").unwrap()),
            AuditSubject::Session(SessionId::generate()),
        ] {
            assert_eq!(AuditSubject::parse(&subject.to_string()), Ok(subject));
        }
        assert!(AuditSubject::parse("member").is_err());
    }
}
