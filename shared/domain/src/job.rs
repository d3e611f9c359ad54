//! Jobs: work on many things of a workspace, which takes longer than a request may.
//!
//! A job is carried out in turns. What it is about is its [`JobWork`]; all else here is the same for every kind.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Changer, CorrelationId, Invalid, JobId, KeyPrefix, Link, LinkPatch, LinkState, Role, ShortCode, Tag, TagChange,
    Tags, Timestamp, UserId, WorkspaceId, optional, validated::null_as_default,
};

/// A job of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Which job it is.
    pub id: JobId,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// What is to be done.
    pub work: JobWork,
    /// The role in which its creator has asked for it: it may do what this role may, whatever else its creator becomes.
    pub role: Role,
    /// Who has asked for it.
    pub created_by: UserId,
    /// The API key with which they have.
    pub created_with: Option<KeyPrefix>,
    /// The correlation id of the request, which all that the job writes has.
    pub correlation_id: CorrelationId,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// How many things there were for it then, if all were counted.
    pub expected: Option<u64>,
    /// Where it stands.
    pub state: JobState,
    /// What it has done.
    pub progress: JobProgress,
    /// Where the next turn goes on; `None` at the beginning.
    pub after: Option<String>,
    /// How many turns have noted how far they came.
    pub turn: u64,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When a turn noted last how far it came; at first, when the job began.
    pub noted_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it has failed.
    pub reason: Option<JobFailure>,
    /// Who has cancelled it.
    pub cancelled_by: Option<Changer>,
}

impl Job {
    /// How many jobs of a workspace wait while another one runs.
    pub const MOST_WAITING: usize = 4;
    /// For how long a job may come no further before it is given up.
    pub const PATIENCE: Duration = Duration::from_secs(3_600);

    /// A new job of a workspace, whose creator asks for it in this role.
    #[must_use]
    pub fn new(
        workspace: WorkspaceId,
        work: JobWork,
        (creator, role): (Changer, Role),
        (created_at, correlation_id): (Timestamp, CorrelationId),
        expected: Option<u64>,
    ) -> Self {
        Self {
            id: JobId::generate(),
            workspace,
            work,
            role,
            created_by: creator.user,
            created_with: creator.key,
            correlation_id,
            created_at,
            expected,
            state: JobState::Queued,
            progress: JobProgress::default(),
            after: None,
            turn: 0,
            started_at: None,
            noted_at: None,
            ended_at: None,
            reason: None,
            cancelled_by: None,
        }
    }

    /// Who has asked for it, and with which API key.
    #[must_use]
    pub fn creator(&self) -> Changer {
        Changer { user: self.created_by, key: self.created_with.clone(), name: None }
    }

    /// Whether it has begun and come no further for so long that it is given up.
    #[must_use]
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        self.work.is_of_links() && self.state.is_under_way() && self.has_stood_still(now)
    }

    /// Whether no turn has noted anything for so long that none will.
    #[must_use]
    pub fn has_stood_still(&self, now: Timestamp) -> bool {
        self.noted_at.is_some_and(|noted| noted.plus(Self::PATIENCE) <= now)
    }

    /// What becomes of a job that is given up: if it was to be cancelled, it is.
    #[must_use]
    pub fn given_up(&self) -> (JobState, Option<JobFailure>) {
        match self.state {
            JobState::Cancelling => (JobState::Cancelled, None),
            _ => (JobState::Failed, Some(JobFailure::NoProgress)),
        }
    }

    /// Whether its creator, who has this role now, may still do what the job does.
    #[must_use]
    pub fn is_backed_by(&self, role: Option<Role>) -> bool {
        role.is_some_and(|role| role >= self.role)
    }
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for the jobs before it.
    Queued,
    /// Its turns are taken.
    Running,
    /// It ends as soon as what has begun of it is done.
    Cancelling,
    /// All is done.
    Done,
    /// It was given up.
    Failed,
    /// Somebody has ended it.
    Cancelled,
}

impl JobState {
    /// Whether turns of it are taken.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }

    /// Whether nothing more happens to it.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Its name in the API and in items.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a job has failed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobFailure {
    /// Who has asked for it may not do it any more.
    RightsLost,
    /// It came no further for an hour.
    NoProgress,
    /// Something that it has to read can't be read.
    InternalError,
}

impl JobFailure {
    /// The word for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::RightsLost => "rights_lost",
            Self::NoProgress => "no_progress",
            Self::InternalError => "internal_error",
        }
    }

    /// The sentence for people.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::RightsLost => "whoever has asked for it may not do this any more",
            Self::NoProgress => "it came no further for an hour",
            Self::InternalError => "something went wrong on our side",
        }
    }
}

/// What a job has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobProgress {
    /// How many things it has looked at that are meant.
    pub seen: u64,
    /// How many of them it has changed. The others were as they are wanted, or refused.
    pub changed: u64,
    /// How many refused.
    pub failed: u64,
    /// The first of those.
    #[serde(default)]
    pub failures: Vec<LinkRefusal>,
}

impl JobProgress {
    /// Of how many that refused it is kept why.
    pub const MOST_FAILURES: usize = 20;

    /// Adds what was done after this.
    pub fn add(&mut self, later: Self) {
        self.seen += later.seen;
        self.changed += later.changed;
        self.failed += later.failed;
        self.failures.extend(later.failures);
        self.failures.truncate(Self::MOST_FAILURES);
    }
}

/// Why a link was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRefusal {
    /// The link.
    pub short_code: ShortCode,
    /// The code of the problem that a request to change this link alone would have met.
    pub code: String,
    /// Its sentence.
    pub detail: String,
}

/// What a job is to do. Each kind names itself by the member `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobWork {
    /// Doing the same to many links.
    Links(Box<LinkJob>),
    /// Closing a workspace, or bringing it back.
    Workspace(WorkspaceJob),
}

/// What becomes of a workspace. A turn does what the workspace itself says then, so this is what was asked for, and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkspaceJob {
    /// It is closed, and purged when nobody can bring it back any more.
    CloseWorkspace,
    /// It is open again.
    ReopenWorkspace,
}

impl JobWork {
    /// Whether it concerns links alone. Such a job needs whoever has asked for it to be a member still, can be cancelled, and is given up
    /// when it comes no further. What becomes of a workspace is settled when it was asked for.
    #[must_use]
    pub fn is_of_links(&self) -> bool {
        matches!(self, Self::Links(_))
    }

    /// What is to be done, in words that come after `to`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Links(job) => job.task.in_words(),
            Self::Workspace(WorkspaceJob::CloseWorkspace) => "close the workspace".to_owned(),
            Self::Workspace(WorkspaceJob::ReopenWorkspace) => "bring the workspace back".to_owned(),
        }
    }
}

/// Doing the same to all links that a filter finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkJob {
    /// What is done to each link.
    #[serde(flatten)]
    pub task: LinkTask,
    /// Which links are meant.
    pub filter: GivenFilter,
}

/// What is done to each link of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkTask {
    /// It gets a tag.
    Tag {
        /// The tag.
        tag: Tag,
    },
    /// It loses a tag.
    Untag {
        /// The tag.
        tag: Tag,
    },
    /// If it has a tag, that is called otherwise from now on.
    RenameTag {
        /// The tag.
        from: Tag,
        /// What it is called then.
        to: Tag,
    },
    /// It is switched off.
    SwitchOff,
    /// It is switched on.
    SwitchOn,
    /// It is put away.
    Archive,
    /// It is no longer put away.
    Unarchive,
    /// It is deleted.
    Delete,
    /// It is deleted with its statistics.
    Purge,
    /// It gets another expiry.
    SetExpiry {
        /// When it expires; `None` if never.
        expires_at: Option<Timestamp>,
    },
}

/// What is left to do to a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkStep {
    /// It is as it is wanted.
    Nothing,
    /// It is to be changed.
    Change(Box<LinkPatch>),
    /// It is to be deleted.
    Delete,
    /// It is to be purged.
    Purge,
}

impl LinkTask {
    /// What is left to do to a link at this time.
    ///
    /// # Errors
    /// When the link can't be so.
    pub fn step(&self, link: &Link, now: Timestamp) -> Result<LinkStep, Invalid> {
        let (tags, availability) = (&link.metadata.tags, link.availability);
        match self {
            Self::Purge => return Ok(LinkStep::Purge),
            Self::Delete if !availability.is_deleted() => return Ok(LinkStep::Delete),
            _ => {}
        }
        let patch = match self {
            Self::Tag { tag } => retagged(tags, TagChange::adding(tag).made_to(tags)?),
            Self::Untag { tag } => retagged(tags, TagChange::removing(tag).made_to(tags)?),
            Self::RenameTag { from, to } => retagged(tags, tags.renamed(from, to)),
            Self::SwitchOff | Self::SwitchOn => {
                let is_active = matches!(self, Self::SwitchOn);
                let is_wanted = if is_active { LinkState::Active } else { LinkState::Inactive };
                (availability.state != is_wanted)
                    .then(|| LinkPatch { is_active: Some(is_active), ..LinkPatch::default() })
            }
            Self::Archive | Self::Unarchive => {
                let archived = matches!(self, Self::Archive);
                (link.archived != archived).then(|| LinkPatch { archived: Some(archived), ..LinkPatch::default() })
            }
            Self::SetExpiry { expires_at } if availability.expires_at != *expires_at => {
                if expires_at.is_some_and(|expiry| expiry <= now) {
                    return Err(Invalid::new("expires_at must be in the future").in_field("expires_at"));
                }
                Some(LinkPatch { expires_at: Some(*expires_at), ..LinkPatch::default() })
            }
            Self::SetExpiry { .. } | Self::Delete | Self::Purge => None,
        };
        let Some(patch) = patch else { return Ok(LinkStep::Nothing) };
        link.changed_by(&patch, now).availability.check_window()?;
        Ok(LinkStep::Change(Box::new(patch)))
    }

    /// Whether a deleted link can be so, too.
    #[must_use]
    pub fn concerns_deleted(&self) -> bool {
        matches!(self, Self::Delete | Self::Purge)
    }

    /// What is to be done, in words that come after `to`.
    fn in_words(&self) -> String {
        match self {
            Self::Tag { tag } => format!("add the tag {}", tag.as_str()),
            Self::Untag { tag } => format!("remove the tag {}", tag.as_str()),
            Self::RenameTag { from, to } => format!("rename the tag {} to {}", from.as_str(), to.as_str()),
            Self::SwitchOff => "switch links off".to_owned(),
            Self::SwitchOn => "switch links on".to_owned(),
            Self::Archive => "archive links".to_owned(),
            Self::Unarchive => "take links out of the archive".to_owned(),
            Self::Delete => "delete links".to_owned(),
            Self::Purge => "purge links with their statistics".to_owned(),
            Self::SetExpiry { expires_at: Some(expiry) } => format!("let links expire at {expiry}"),
            Self::SetExpiry { expires_at: None } => "let links never expire".to_owned(),
        }
    }
}

fn retagged(before: &Tags, after: Tags) -> Option<LinkPatch> {
    let tags = Some(after).filter(|after| *after != Tags::default());
    (tags.as_ref().unwrap_or(&Tags::default()) != before)
        .then(|| LinkPatch { tags: Some(tags), ..LinkPatch::default() })
}

/// Which links are meant, as it was given: by the parameters of a list, or by the filter of a job. What the texts mean is read where
/// they are used, so a job shows its filter as it was given, and finds what the same list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GivenFilter {
    /// That all are meant that a list without parameters shows.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
    /// A text to find.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Conditions on the tags, of which a link has to meet each.
    #[serde(deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tag: Vec<String>,
    /// Who has created the link.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// A status, or `all`.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// `false`, `true` or `all`.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub archived: Option<String>,
    /// The first time of creation.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub created_after: Option<String>,
    /// The last time of creation.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub created_before: Option<String>,
    /// The time zone of dates.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// What the link is called elsewhere.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
}

impl GivenFilter {
    /// The links that have a tag, also archived ones.
    #[must_use]
    pub fn of_tag(tag: &Tag) -> Self {
        let escaped = tag.as_str().replace('\\', r"\\").replace(',', r"\,");
        let text = if escaped.starts_with('-') { format!(r"\{escaped}") } else { escaped };
        Self { tag: vec![text], archived: Some("all".to_owned()), ..Self::default() }
    }

    /// Whether it says which links are meant. Nobody is to change all of them by forgetting to say so.
    #[must_use]
    pub fn says_which(&self) -> bool {
        let Self { all, search, tag, created_by, status, archived, created_after, created_before, tz: _, external_id } =
            self;
        *all == Some(true)
            || tag.iter().any(|text| !text.is_empty())
            || [search, created_by, status, archived, created_after, created_before, external_id]
                .iter()
                .any(|member| member.is_some())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Availability, Generation, LinkId, LinkIdentity, LinkMetadata, Revision, TagTerm, TargetUrl, Terms};

    fn some_link() -> Link {
        let now = Timestamp::now();
        let code = ShortCode::parse("launch").unwrap();
        let id = LinkId { code, generation: Generation::parse("x7Kf2a").unwrap() };
        Link {
            identity: LinkIdentity { id, workspace: WorkspaceId::generate(), owner: UserId::generate() },
            target: TargetUrl::parse("https://example.com/landing").unwrap(),
            created_at: now,
            updated_at: now,
            availability: Availability::default(),
            expiry_is_published: false,
            metadata: LinkMetadata::default(),
            terms: Terms::default(),
            routing: None,
            watch: false,
            archived: false,
            revision: Revision::FIRST,
        }
    }

    fn tag(text: &str) -> Tag {
        Tag::parse(text).unwrap()
    }

    fn work(value: Value) -> JobWork {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn work_is_written_as_it_is_read_with_the_members_of_its_kind() {
        for written in [
            json!({"kind": "rename_tag", "from": "a", "to": "b", "filter": {"tag": ["a"], "archived": "all"}}),
            json!({"kind": "switch_off", "filter": {"all": true}}),
            json!({"kind": "set_expiry", "expires_at": "2027-01-01T00:00:00.000Z", "filter": {"tag": ["a", "-b"]}}),
            json!({"kind": "set_expiry", "expires_at": null, "filter": {"search": "x"}}),
            json!({"kind": "close_workspace"}),
            json!({"kind": "reopen_workspace"}),
        ] {
            assert_eq!(serde_json::to_value(work(written.clone())).unwrap(), written);
        }
    }

    #[test]
    fn the_filter_of_a_tag_finds_it_whatever_is_in_it() {
        for text in ["a", "a,b", "-a", r"\", r"-\,", "a-b", "50 %"] {
            let filter = GivenFilter::of_tag(&tag(text));
            let terms: Vec<_> = filter.tag.iter().map(|text| TagTerm::parse(text)).collect();
            assert_eq!(terms, [Ok(TagTerm::AnyOf(vec![text.to_owned()]))], "{text}");
        }
    }

    #[test]
    fn a_filter_has_to_say_which_links_are_meant() {
        let says = |filter: Value| serde_json::from_value::<GivenFilter>(filter).unwrap().says_which();

        for empty in
            [json!({}), json!({"all": false}), json!({"tz": "UTC"}), json!({"search": ""}), json!({"tag": [""]})]
        {
            assert!(!says(empty.clone()), "{empty}");
        }
        for full in
            [json!({"all": true}), json!({"search": "x"}), json!({"archived": "all"}), json!({"tag": ["", "a"]})]
        {
            assert!(says(full.clone()), "{full}");
        }
    }

    #[test]
    fn nothing_is_done_to_a_link_that_is_as_it_is_wanted() {
        let now = Timestamp::now();
        let mut link = some_link();
        link.metadata.tags = vec!["Sale".to_owned()].try_into().unwrap();
        let step = |task: LinkTask| task.step(&link, now).unwrap();
        let patch = |step: LinkStep| match step {
            LinkStep::Change(patch) => serde_json::to_value(patch).unwrap(),
            other => panic!("{other:?}"),
        };

        for done in [
            LinkTask::Tag { tag: tag("sale") },
            LinkTask::Untag { tag: tag("new") },
            LinkTask::RenameTag { from: tag("new"), to: tag("old") },
            LinkTask::RenameTag { from: tag("sale"), to: tag("Sale") },
            LinkTask::SwitchOn,
            LinkTask::Unarchive,
            LinkTask::SetExpiry { expires_at: None },
        ] {
            assert_eq!(step(done.clone()), LinkStep::Nothing, "{done:?}");
        }
        assert_eq!(patch(step(LinkTask::Untag { tag: tag("SALE") })), json!({"tags": null}));
        assert_eq!(patch(step(LinkTask::RenameTag { from: tag("sale"), to: tag("SALE") })), json!({"tags": ["SALE"]}));
        assert_eq!(patch(step(LinkTask::SwitchOff)), json!({"is_active": false}));
        assert_eq!((step(LinkTask::Delete), step(LinkTask::Purge)), (LinkStep::Delete, LinkStep::Purge));
    }

    #[test]
    fn an_expiry_has_to_come_after_now_and_after_the_links_beginning() {
        let now = Timestamp::now();
        let mut link = some_link();
        link.availability.valid_from = Some(now.plus(Duration::from_secs(60)));
        let refused = |seconds| {
            let expires_at = Some(now.plus(Duration::from_secs(seconds)));
            LinkTask::SetExpiry { expires_at }.step(&link, now).err().map(|error| error.to_string())
        };

        assert_eq!(refused(0).as_deref(), Some("expires_at must be in the future"));
        assert_eq!(refused(60).as_deref(), Some("valid_from must be before expires_at"));
        assert_eq!(refused(61), None);
    }

    #[test]
    fn why_links_refused_is_kept_of_the_first_twenty() {
        let refusal = |number: usize| LinkRefusal {
            short_code: ShortCode::parse(&format!("code{number}")).unwrap(),
            code: "link_deleted".to_owned(),
            detail: "this link was deleted".to_owned(),
        };
        let page = |from: usize| JobProgress {
            seen: 15,
            changed: 0,
            failed: 15,
            failures: (from..from + 15).map(refusal).collect(),
        };

        let mut all = page(0);
        all.add(page(15));

        assert_eq!((all.seen, all.failed, all.failures.len()), (30, 30, 20));
        assert_eq!(all.failures.last(), Some(&refusal(19)));
    }
}
