//! The domain rules of Linklet, independent of AWS, HTTP and Lambda.
//!
//! Every type here is valid by construction: values are validated when they are parsed or deserialized, and code that
//! receives a [`ShortCode`], [`TargetUrl`] or [`Event`] doesn't validate it again.

mod account;
mod api_key;
mod audience;
mod audit;
mod availability;
mod base62;
mod block;
mod branding;
mod click;
mod click_id;
mod closure;
mod correlation_id;
mod creation;
mod credential;
mod email_request;
mod event;
mod exact_json;
mod folding;
mod handover;
mod idempotency_key;
mod ids;
mod invitation;
mod job;
pub mod lifetimes;
mod link;
mod link_changes;
mod link_id;
mod link_metadata;
mod link_password;
mod link_query;
mod mail_choice;
mod milestone;
mod normalized_url;
mod notification;
mod one_time_token;
mod overview;
mod own_address;
mod password;
pub mod reclaim;
mod redirect;
mod redirect_options;
mod registration;
mod renewal;
mod report;
mod revision;
mod share;
mod short_code;
mod sign_in_roles;
mod source;
pub mod spreadsheet;
mod stats;
mod target_url;
mod throttle;
mod timestamp;
mod unsubscribe_token;
mod uri;
mod validated;
mod visibility;
mod watch;
mod workspace;

pub use account::{Account, EmailAddress, FullName, Member, Membership, Role};
pub use api_key::{ApiKey, ApiKeySecret, KeyHash, KeyName, KeyPrefix, Scope, Scopes};
pub use audience::{Audience, BrowserFamily, Client, Device};
pub use audit::{
    ActionFilter, Actor, AuditAction, AuditContext, AuditEntry, AuditFilter, AuditLog, AuditSubject, Changer,
};
pub use availability::{Availability, LinkState, LinkStatus, RemovalReason, SuspensionReason, Suspensions};
pub use base62::ALPHABET;
pub use block::{Block, Blocked};
pub use branding::{Color, Contact, Logo, LogoId};
pub use click::{Click, CountryCode, IpHash, ParkedClick, Salt, Spread, Visitor};
pub use click_id::ClickId;
pub use closure::Closure;
pub use correlation_id::CorrelationId;
pub use creation::{CreationPolicy, Creator};
pub use credential::{Credential, Identity, IdentityHash};
pub use email_request::{AccountChange, EmailRequest, RequestedEmail};
pub use event::{
    Event, EventDetail, JobFinished, LinkEvent, MilestoneReached, TargetDown, TargetUp, UrlClicked, UrlCreated,
    UrlDeleted, UrlExhausted, UrlResumed, UrlSuspended, UrlUpdated,
};
pub use exact_json::ExactJson;
pub use handover::{Handover, KeysLeft, oldest_admin_but};
pub use idempotency_key::{AnswerKey, IdempotencyKey};
pub use ids::{EmailRequestId, EventId, InvitationId, JobId, SessionId, UserId, WorkspaceId};
pub use invitation::{Invitation, NotMailed};
pub use job::{
    Backing, ClosedPerson, GivenFilter, Job, JobFailure, JobProgress, JobState, JobWork, LinkJob, LinkRefusal,
    LinkTask, Run, Task, TaskWork, Work, WorkId, WorkspaceJob,
};
pub use link::{ExpiryStep, Link, LinkEdit, LinkIdentity, LinkWrite, Record, StoredLink, Tombstone};
pub use link_changes::{HistoryEntry, LinkChanges, Transition};
pub use link_id::{Generation, LinkId};
pub use link_metadata::{Description, ExternalId, LinkMetadata, LinkName, LinkPatch, Notes, TagChange, Tags, Title};
pub use link_password::LinkPassword;
pub use link_query::{
    ArchivedFilter, LinkFilter, LinkSearch, LinkSummary, PageNumber, PageRows, SortBy, SortOrder, StatusFilter,
    TagTerm, Verdict, sort_links,
};
pub use mail_choice::MailChoice;
pub use milestone::milestones_crossed;
pub use normalized_url::NormalizedUrl;
pub use notification::{
    Notification, NotificationKind, NotificationStatus, NotificationSubject, Wording, mail_wording, wording,
};
pub use one_time_token::{OneTimeToken, TokenHash, TokenPurpose};
pub use overview::{
    CoveredLinks, DownTarget, Followed, LinkCounts, Overview, OverviewBreakdowns, OverviewPart, OverviewQuestion,
    OverviewTime, Period, Tag, TagCount, Tally, TopLink,
};
pub use own_address::OwnAddress;
pub use password::{Password, TypedPassword};
pub use redirect::{Asker, Caching, CountsAs, Decision, Intent, RedirectSettings, RedirectTarget};
pub use redirect_options::{
    ClickLimit, Condition, Destination, DestinationName, Platform, Preview, PreviewDescription, PreviewTitle,
    RedirectOptions, Routing, RoutingRefused, Rule, Traits, Uses, Variant,
};
pub use registration::{PasswordLogin, RegistrationPolicy};
pub use renewal::{LastingSession, RefreshToken, RenewableSession, Renewal, SignInPlace, ends_at};
pub use report::{Report, ReportEvery, ReportId, ReportNotMailed, ReportNumbers, ReportPeriod, ReportSubscription};
pub use revision::{Precondition, Revision};
pub use share::{Share, ShareHash, ShareId, ShareToken, Shared};
pub use short_code::{GENERATED_LENGTH, ROUTES, ReservedCodes, ShortCode, Unavailable, reserved_words};
pub use sign_in_roles::{GroupRoles, WorkspaceRole};
pub use source::{Campaign, Source};
pub use stats::{
    AudienceGroup, Breakdown, Breakdowns, ClickCount, ClickFilter, DaySlice, DayStats, Dimension, Findings, Interval,
    LinkClicks, LinkStats, Moment, Part, Point, Profile, Ranking, Rollup, Summary, Totals, UniqueVisitors, is_recent,
    site_of, timeline,
};
pub use target_url::TargetUrl;
pub use throttle::{
    AccountHash, Allowance, Correspondent, Failures, FamiliarNetwork, Guess, GuessKind, Guesser, HashBudget, HashFor,
    Hasher, LimitedRoute, MailCount, MailLimit, Patience, RateLimit, Refusal, RouteLimits, ThrottleSubject, Tier,
    Window,
};
pub use timestamp::{Day, Timestamp};
pub use unsubscribe_token::UnsubscribeToken;
pub use uri::encode_tail;
pub use validated::{Invalid, disguises_a_line, optional, patched};
pub use visibility::Visibility;
pub use watch::{
    CanonicalUrl, CheckError, CheckInterval, CheckOutcome, CheckPartition, CheckResult, Concurrency, Host, HostShard,
    PageToken, PlannedTick, Reach, Target, TargetHealth, TargetId, TargetMark, TargetStatus, Watcher, WatcherState,
};
pub use workspace::{
    Destinations, PublicWorkspace, Workspace, WorkspaceName, WorkspacePatch, WorkspaceSettings, WorkspaceSlug,
};
