//! The trail: who has done what, to whom or what, and from where.
//!
//! An entry names people by their ids only. It has no address, neither of mail nor of a client, no password, no token, and nothing of
//! a URL.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    CorrelationId, CountryCode, Event, EventDetail, EventId, FullName, Invalid, InvitationId, IpHash, JobId, KeyPrefix,
    LinkId, SessionId, ShortCode, TargetId, Timestamp, UrlDeleted, UrlPurged, UrlSwitched, UserId, WorkspaceId,
};

/// Whose trail it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trail {
    /// That of a workspace, which its admins read.
    Workspace(WorkspaceId),
    /// That of a person, which they read themselves.
    Person(UserId),
}

/// Who acts. As text it is the id of a person, the prefix of an API key, `operator` or `linklet`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Actor {
    /// A person, in a session or by what they have had mailed.
    Person(UserId),
    /// A program with an API key.
    Key(KeyPrefix),
    /// Whoever runs the system, by a command.
    Operator,
    /// Linklet itself, as a consequence of what somebody has done: the correlation id says of what.
    Linklet,
}

impl Actor {
    const OPERATOR: &'static str = "operator";
    const LINKLET: &'static str = "linklet";

    /// Reads a person's id or a key's prefix, or one of the two that have none.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            Self::OPERATOR => Ok(Self::Operator),
            Self::LINKLET => Ok(Self::Linklet),
            text => {
                let person = UserId::parse(text).map(Self::Person);
                let refused = || Invalid::new("actor must be a user_id, the prefix of an API key, operator or linklet");
                person.or_else(|_| KeyPrefix::parse(text).map(Self::Key)).map_err(|_| refused())
            }
        }
    }

    /// The person, if it is one.
    #[must_use]
    pub fn person(&self) -> Option<&UserId> {
        match self {
            Self::Person(user) => Some(user),
            Self::Key(_) | Self::Operator | Self::Linklet => None,
        }
    }

    /// What kind of actor it is, by its name in the API.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Person(_) => "person",
            Self::Key(_) => "key",
            Self::Operator => Self::OPERATOR,
            Self::Linklet => Self::LINKLET,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(user) => user.fmt(formatter),
            Self::Key(prefix) => formatter.write_str(prefix.as_str()),
            Self::Operator | Self::Linklet => formatter.write_str(self.kind()),
        }
    }
}

/// Who has changed something of which others are to hear. As text it is the id of the person, and behind it the prefix of the API key that
/// they have used, if it was one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Changer {
    /// The person; of an API key, its creator.
    pub user: UserId,
    /// The API key.
    pub key: Option<KeyPrefix>,
    /// What the person is called, as soon as somebody has looked it up. It isn't part of the text.
    pub name: Option<FullName>,
}

impl Changer {
    /// Reads a person's id, and a key's prefix if there is one behind it.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let (user, key) = text.split_once(' ').map_or((text, None), |(user, key)| (user, Some(key)));
        Ok(Self { user: UserId::parse(user)?, key: key.map(KeyPrefix::parse).transpose()?, name: None })
    }

    /// As the trail names them.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.key.clone().map_or(Actor::Person(self.user), Actor::Key)
    }

    /// What others call them.
    #[must_use]
    pub fn called(&self) -> &str {
        self.name.as_ref().map_or("somebody else", FullName::as_str)
    }
}

impl fmt::Display for Changer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(formatter, "{} {key}", self.user),
            None => self.user.fmt(formatter),
        }
    }
}

/// Where a change comes from. Whatever changes who may do what takes one, since the change has an entry in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who acts.
    pub actor: Actor,
    /// When the request came, or the consequence was drawn.
    pub at: Timestamp,
    /// The salted hash of the client's address, if there is a client.
    pub address: Option<IpHash>,
    /// The correlation id of the request, also of what follows from it later.
    pub correlation_id: CorrelationId,
}

impl Origin {
    /// What Linklet does itself, since somebody has done what has this correlation id.
    #[must_use]
    pub fn consequence(correlation_id: &CorrelationId, at: Timestamp) -> Self {
        Self { actor: Actor::Linklet, at, address: None, correlation_id: correlation_id.clone() }
    }

    /// What an operator's command does.
    #[must_use]
    pub fn command(at: Timestamp) -> Self {
        Self { actor: Actor::Operator, at, address: None, correlation_id: CorrelationId::generate() }
    }

    /// An entry of what is done, with a random id.
    #[must_use]
    pub fn entry(&self, trail: Trail, action: AuditAction) -> AuditEntry {
        AuditEntry {
            id: EventId::generate(),
            trail,
            at: self.at,
            actor: self.actor.clone(),
            action,
            subject: None,
            from: None,
            to: None,
            device: None,
            country: None,
            address: self.address.clone(),
            correlation_id: self.correlation_id.clone(),
        }
    }

    /// An entry of a workspace's trail.
    #[must_use]
    pub fn in_workspace(&self, workspace: &WorkspaceId, action: AuditAction, subject: AuditSubject) -> AuditEntry {
        AuditEntry { subject: Some(subject), ..self.entry(Trail::Workspace(*workspace), action) }
    }

    /// An entry of a person's own trail.
    #[must_use]
    pub fn of_person(&self, user: &UserId, action: AuditAction) -> AuditEntry {
        AuditEntry { subject: Some(AuditSubject::Account(*user)), ..self.entry(Trail::Person(*user), action) }
    }

    /// The entry of a person's trail that somebody has guessed their password wrong until they had to wait. A quarter of an hour has one,
    /// which has the time of its beginning.
    #[must_use]
    pub fn guessed(&self, user: &UserId) -> AuditEntry {
        const QUARTER: u64 = 15 * 60 * 1_000;
        let at = Timestamp::from_unix_millis(self.at.unix_millis() / QUARTER * QUARTER);
        AuditEntry { id: EventId::guessed(at), at, ..self.of_person(user, AuditAction::SessionGuessed) }
    }

    /// The entry of a person's trail that mail to their address came back. However often that is told, it has the same key.
    #[must_use]
    pub fn undeliverable(&self, user: &UserId) -> AuditEntry {
        AuditEntry { id: EventId::undeliverable(), ..self.of_person(user, AuditAction::AccountUndeliverable) }
    }
}

/// An entry of a trail, which nobody changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// A random id, or that of the event that the entry was made of. With the time it is the entry's key.
    pub id: EventId,
    /// Whose trail it is in.
    pub trail: Trail,
    /// When it was done.
    pub at: Timestamp,
    /// Who has done it.
    pub actor: Actor,
    /// What was done.
    pub action: AuditAction,
    /// To whom or what.
    pub subject: Option<AuditSubject>,
    /// What it was before.
    pub from: Option<String>,
    /// What it is since.
    pub to: Option<String>,
    /// The browser and system of a sign-in, in words.
    pub device: Option<String>,
    /// The country of a sign-in.
    pub country: Option<CountryCode>,
    /// The salted hash of the client's address.
    pub address: Option<IpHash>,
    /// The correlation id of the request.
    pub correlation_id: CorrelationId,
}

impl AuditEntry {
    /// About this.
    #[must_use]
    pub fn on(self, subject: AuditSubject) -> Self {
        Self { subject: Some(subject), ..self }
    }

    /// With what it was before.
    #[must_use]
    pub fn from(self, before: &(impl ToString + ?Sized)) -> Self {
        Self { from: Some(before.to_string()), ..self }
    }

    /// With what it is since.
    #[must_use]
    pub fn to(self, after: &(impl ToString + ?Sized)) -> Self {
        Self { to: Some(after.to_string()), ..self }
    }

    /// With the browser and the country of a sign-in, as far as they are known.
    #[must_use]
    pub fn at_place(self, device: Option<String>, country: Option<CountryCode>) -> Self {
        Self { device, country, ..self }
    }
}

impl AuditEntry {
    /// The entry that an event makes, under its id; `None` for one of which the trail says nothing.
    #[must_use]
    pub fn from_event(event: &Event) -> Option<Self> {
        let link = |link: &LinkId| AuditSubject::Link(link.code.clone());
        let (actor, action, subject, (from, to)) = match &event.detail {
            EventDetail::UrlUpdated(updated) => {
                let names = updated.changes.names().join(", ");
                let actor = updated.by.as_ref()?.actor();
                (actor, AuditAction::LinkChanged, link(&updated.link), (Some(names.clone()), Some(names)))
            }
            EventDetail::UrlActivated(UrlSwitched { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkChanged, link(id), (Some("inactive".into()), Some("active".into())))
            }
            EventDetail::UrlDeactivated(UrlSwitched { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkChanged, link(id), (Some("active".into()), Some("inactive".into())))
            }
            EventDetail::UrlDeleted(UrlDeleted { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkDeleted, link(id), (None, None))
            }
            EventDetail::UrlPurged(UrlPurged { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkPurged, link(id), (None, None))
            }
            EventDetail::JobFinished(finished) => {
                let (actor, subject) = (Actor::Person(finished.user_id), AuditSubject::Job(finished.job_id));
                (actor, AuditAction::JobFinished, subject, (None, Some(finished.state.as_str().to_owned())))
            }
            _ => return None,
        };
        let origin =
            Origin { actor, at: event.occurred_at, address: None, correlation_id: event.correlation_id.clone() };
        let entry = origin.in_workspace(&event.workspace_id, action, subject);
        Some(Self { id: event.event_id.clone(), from, to, ..entry })
    }
}

/// To whom or what something was done. As text it is its kind and its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
    /// A monitored URL.
    Target(TargetId),
    /// A job.
    Job(JobId),
    /// The account of whose trail it is.
    Account(UserId),
    /// A session.
    Session(SessionId),
}

impl AuditSubject {
    /// What kind of subject it is.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Member(_) => "member",
            Self::Invitation(_) => "invitation",
            Self::Key(_) => "key",
            Self::Workspace(_) => "workspace",
            Self::Link(_) => "link",
            Self::Target(_) => "target",
            Self::Job(_) => "job",
            Self::Account(_) => "account",
            Self::Session(_) => "session",
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Member(id) | Self::Account(id) => id.to_string(),
            Self::Invitation(id) => id.to_string(),
            Self::Key(prefix) => prefix.to_string(),
            Self::Workspace(id) => id.to_string(),
            Self::Link(code) => code.to_string(),
            Self::Target(id) => id.to_string(),
            Self::Job(id) => id.to_string(),
            Self::Session(id) => id.to_string(),
        }
    }

    /// The person, if it is one.
    #[must_use]
    pub fn person(&self) -> Option<&UserId> {
        match self {
            Self::Member(user) | Self::Account(user) => Some(user),
            _ => None,
        }
    }

    fn parse(text: &str) -> Result<Self, Invalid> {
        let (kind, id) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "member" => UserId::parse(id).map(Self::Member),
            "invitation" => InvitationId::parse(id).map(Self::Invitation),
            "key" => KeyPrefix::parse(id).map(Self::Key),
            "workspace" => WorkspaceId::parse(id).map(Self::Workspace),
            "link" => ShortCode::parse(id).map(Self::Link),
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

/// Declares the actions with their names, of which the part before the dot is what they are about.
macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident = $name:literal,)+) => {
        /// What was done, by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum AuditAction {
            $($(#[$doc])* $action,)+
        }

        impl AuditAction {
            /// All actions.
            pub const ALL: &[Self] = &[$(Self::$action,)+];

            /// Its name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)+
                }
            }
        }
    };
}

actions! {
    /// A workspace was founded.
    WorkspaceFounded = "workspace.founded",
    /// Its name, slug, settings or whether links may be led elsewhere.
    WorkspaceChanged = "workspace.changed",
    /// A workspace was closed.
    WorkspaceClosed = "workspace.closed",
    /// A workspace that was closed is open again.
    WorkspaceRestored = "workspace.restored",
    /// Somebody has accepted an invitation.
    MemberJoined = "member.joined",
    /// A member has another role.
    MemberRoleChanged = "member.role_changed",
    /// A membership that was paused goes on.
    MemberResumed = "member.resumed",
    /// A membership is paused.
    MemberPaused = "member.paused",
    /// A member was removed by somebody else.
    MemberRemoved = "member.removed",
    /// A member has left.
    MemberLeft = "member.left",
    /// Somebody was invited.
    InvitationCreated = "invitation.created",
    /// An invitation was withdrawn.
    InvitationWithdrawn = "invitation.withdrawn",
    /// An API key was made.
    KeyCreated = "key.created",
    /// An API key has another name.
    KeyChanged = "key.changed",
    /// An API key opens nothing until it goes on.
    KeyPaused = "key.paused",
    /// An API key that was paused goes on.
    KeyResumed = "key.resumed",
    /// An API key was revoked.
    KeyRevoked = "key.revoked",
    /// An API key that a member has left is somebody else's.
    KeyKept = "key.kept",
    /// Somebody else than its owner has changed a link, or switched it on or off.
    LinkChanged = "link.changed",
    /// Somebody else than its owner has deleted a link.
    LinkDeleted = "link.deleted",
    /// A link was purged.
    LinkPurged = "link.purged",
    /// Somebody else than its owner has changed a monitored URL.
    TargetChanged = "target.changed",
    /// Somebody else than its owner has deleted a monitored URL.
    TargetDeleted = "target.deleted",
    /// A job is over.
    JobFinished = "job.finished",
    /// An account was registered.
    AccountRegistered = "account.registered",
    /// The person's name was changed.
    AccountRenamed = "account.renamed",
    /// Another address was asked for.
    AccountAddressRequested = "account.address_requested",
    /// The account has another address.
    AccountAddressChanged = "account.address_changed",
    /// Another address that was asked for was dropped.
    AccountAddressKept = "account.address_kept",
    /// The person has shown that the address is theirs.
    AccountAddressVerified = "account.address_verified",
    /// The password was changed, or chosen for the first time.
    AccountPasswordChanged = "account.password_changed",
    /// The password was set with a token.
    AccountPasswordReset = "account.password_reset",
    /// An operator has made a token with which the password can be set.
    AccountResetIssued = "account.reset_issued",
    /// The person wants other mail.
    AccountMailChanged = "account.mail_changed",
    /// Mail to the address came back.
    AccountUndeliverable = "account.undeliverable",
    /// The account was closed.
    AccountClosed = "account.closed",
    /// Somebody has signed in.
    SessionBegan = "session.began",
    /// A session was ended.
    SessionEnded = "session.ended",
    /// All sessions were ended.
    SessionAllEnded = "session.all_ended",
    /// Somebody has guessed the password wrong until they had to wait.
    SessionGuessed = "session.guessed",
}

impl AuditAction {
    /// Reads an action's name.
    ///
    /// # Errors
    /// When there is no such action.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().copied().find(|action| action.as_str() == name);
        known.ok_or_else(|| Invalid::new("there is no such action"))
    }

    /// What it is about: the part of its name before the dot.
    #[must_use]
    pub fn group(self) -> &'static str {
        self.as_str().split('.').next().unwrap_or_default()
    }
}

/// Converts types that are texts as what they are stored, and back.
macro_rules! as_text {
    ($($name:ident: $show:expr,)+) => {$(
        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                Self::parse(&text)
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                $show(&value)
            }
        }
    )+};
}

as_text! {
    Actor: Actor::to_string,
    Changer: Changer::to_string,
    AuditSubject: AuditSubject::to_string,
    AuditAction: |action: &AuditAction| action.as_str().to_owned(),
}

/// Which actions somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionFilter {
    /// This one.
    One(AuditAction),
    /// All about the same: the part before the dot.
    Group(&'static str),
}

impl ActionFilter {
    /// Reads the name of an action, or the part before the dot for all that begin with it.
    ///
    /// # Errors
    /// When no action is called so.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let group = || AuditAction::ALL.iter().map(|action| action.group()).find(|group| *group == text);
        let filter = AuditAction::parse(text).ok().map(Self::One).or_else(|| group().map(Self::Group));
        filter.ok_or_else(|| {
            Invalid::new("action must be an action, such as member.removed, or what comes before its dot")
        })
    }
}

/// Which entries of a trail somebody wants to see: those of which all is true that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// None before this time.
    pub from: Option<Timestamp>,
    /// None after this time.
    pub to: Option<Timestamp>,
    /// Those of this actor.
    pub actor: Option<Actor>,
    /// Of these actions.
    pub action: Option<ActionFilter>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(at: &str) -> Origin {
        let correlation_id = CorrelationId::parse("req-1").unwrap();
        Origin { actor: Actor::Operator, at: Timestamp::parse(at).unwrap(), address: None, correlation_id }
    }

    #[test]
    fn an_actor_and_a_subject_survive_their_texts() {
        let user = UserId::generate();
        for actor in [
            Actor::Person(user),
            Actor::Key(KeyPrefix::parse("sk_live_a1B2c3D4").unwrap()),
            Actor::Operator,
            Actor::Linklet,
        ] {
            assert_eq!(Actor::parse(&actor.to_string()), Ok(actor));
        }
        for refused in ["", "ada@example.com", "Operator", "sk_live_"] {
            assert!(Actor::parse(refused).is_err(), "{refused}");
        }
        for subject in [
            AuditSubject::Member(user),
            AuditSubject::Key(KeyPrefix::parse("sk_live_a1B2c3D4").unwrap()),
            AuditSubject::Workspace(WorkspaceId::generate()),
            AuditSubject::Link(ShortCode::parse("launch").unwrap()),
            AuditSubject::Target(TargetId::parse("t_0000000000000000000007").unwrap()),
            AuditSubject::Session(SessionId::generate()),
        ] {
            assert_eq!(AuditSubject::parse(&subject.to_string()), Ok(subject));
        }
        assert!(AuditSubject::parse("member").is_err());
    }

    #[test]
    fn who_has_changed_something_survives_the_text_and_the_name_isnt_in_it() {
        let (user, name) = (UserId::generate(), FullName::parse("Ada").ok());
        for key in [None, KeyPrefix::parse("sk_live_a1B2c3D4").ok()] {
            let changer = Changer { user, key, name: name.clone() };

            assert_eq!(Changer::parse(&changer.to_string()), Ok(Changer { name: None, ..changer }));
        }
        assert!(Changer::parse(&format!("{user} Ada")).is_err());
    }

    #[test]
    fn an_action_has_one_name_and_is_about_something() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::parse(action.as_str()), Ok(*action));
            assert!(action.as_str().starts_with(&format!("{}.", action.group())));
        }
    }

    #[test]
    fn a_filter_is_an_action_or_what_comes_before_its_dot() {
        assert_eq!(ActionFilter::parse("member.left"), Ok(ActionFilter::One(AuditAction::MemberLeft)));
        assert_eq!(ActionFilter::parse("member"), Ok(ActionFilter::Group("member")));
        for refused in ["", "member.", "mem", "MEMBER", "member.left.now"] {
            assert!(ActionFilter::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn wrong_passwords_of_a_quarter_of_an_hour_have_the_same_key_and_those_of_the_next_have_not() {
        let user = UserId::generate();
        let key = |at| {
            let entry = origin(at).guessed(&user);
            (entry.at.to_string(), entry.id)
        };

        assert_eq!(key("2026-03-02T14:15:00.000Z"), key("2026-03-02T14:29:59.999Z"));
        assert_eq!(key("2026-03-02T14:22:00.000Z").0, "2026-03-02T14:15:00.000Z");
        assert_ne!(key("2026-03-02T14:29:59.999Z"), key("2026-03-02T14:30:00.000Z"));
    }

    #[test]
    fn two_entries_of_one_origin_have_ids_of_their_own() {
        let origin = origin("2026-03-02T14:22:00.000Z");
        let entry = || origin.of_person(&UserId::generate(), AuditAction::SessionEnded);

        assert_ne!(entry().id, entry().id);
    }
}
