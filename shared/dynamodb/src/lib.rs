//! Repositories for Linklet's DynamoDB tables.
//!
//! There is one module per table: `item.rs` maps domain types to keys and attributes, `mod.rs` has the queries. Attribute
//! names are used only in this crate. [`stream`] reads the same items from stream records.

mod answers;
mod audit;
mod backoff;
mod budget;
mod clicks;
mod cursor;
mod error;
mod item;
mod jobs;
mod links;
mod notifications;
mod revision;
mod stats;
pub mod stream;
mod throttle;
mod transaction;
mod users;
mod watch;
mod write;

pub use answers::{CreationAnswer, KeptAnswer};
pub use audit::AuditTable;
pub use backoff::back_off;
pub use budget::ByteBudget;
pub use clicks::{ClicksTable, PageOfClicks, Partition, Purged, ReadBudget, ReadClicks};
pub use cursor::{Cursor, Page};
pub use error::{RepositoryError, Result};
pub use item::{Consistency, Table};
pub use jobs::{AnswerOfJob, JobEnd, JobMark, JobSignal, JobsTable, NotStarted, Reached};
pub use links::{
    AnyCase, CleanupStats, CreateOutcome, Creation, EditContext, EditOutcome, Exhaustion, ExpiryMarker, FirstAnswer,
    LinkRange, LinkReader, LinksTable, OwnedLinks, Reusable, ScannedLinks, UseOutcome,
};
pub use notifications::{Claim, ClaimOutcome, Feed, NotificationsTable};
pub use stats::{
    ClassifiedClick, CommitOutcome, Correction, CountedDay, CountsReader, DayOutcome, DayWork, Kept, Life, Loaded,
    Milestone, SharedAnswer, StatsTable,
};
pub use throttle::{AdmittedGuess, CountOutcome, GuessOutcome, MailAdmission, ReadMeter, ThrottleTable};
pub use users::{
    AcceptOutcome, ActiveSession, AddressStep, AddressVerification, ApiKeys, ChangedKey, CloseOutcome, ConnectOutcome,
    CreateKeyOutcome, CreateShareOutcome, CreateWorkspaceOutcome, EndShareOutcome, FirstMembership, FoundIdentity,
    GroupOutcome, Invitations, InviteOutcome, JoinOutcome, KeyChange, KeyOutcome, LastingSessions, LeaveEffect,
    MailAddress, Mailbox, MemberChange, MemberOutcome, Names, NewToken, NewWorkspace, OneTimeTokens, OpenInvitation,
    PasswordChange, PasswordReset, PendingAddress, PersonChange, PersonOutcome, Profile, PublicWorkspaces, Recipient,
    Recipients, RegisterOutcome, Registration, Removal, RemoveOutcome, ReportClaim, ReportReader, Reports,
    ResetOutcome, RestoreOutcome, Session, SessionStatus, Sessions, SignIn, SubscribeOutcome, SubscriptionReader,
    TokenDelivery, UsersTable, VerifyOutcome, WaysToSignIn, WithdrawOutcome, WorkspaceOutcome, Workspaces,
};
pub use watch::{
    CheckedTarget, DeleteTargetOutcome, DownTargets, DuePage, DueTarget, Health, ListedTarget, OwnedTargets,
    PartitionNotes, RegisteredTarget, ResultsCursor, ShardRange, TargetPage, TargetQuota, TargetRegistration,
    UnreadableTarget, WatchOutcome, WatchTable,
};
