use std::time::Duration;

use futures_util::future::{join, join_all};
use linklet_domain::{
    Account, ActionFilter, AuditAction, AuditFilter, AuditLog, Destinations, EmailAddress, FullName, Invitation, Logo,
    MailChoice, Member, Membership, OneTimeToken, Precondition, Revision, Role, Timestamp, TokenPurpose, UserId,
    Visibility, Workspace, WorkspaceId, WorkspaceName, WorkspacePatch, WorkspaceSettings, WorkspaceSlug,
};
use linklet_dynamodb::{
    AcceptOutcome, CreateWorkspaceOutcome, InviteOutcome, MemberOutcome, NewWorkspace, RegisterOutcome, Registration,
    UsersTable, WorkspaceOutcome,
};
use linklet_test_support::{
    Cancellation, CapacityMeter, Fault, Faults, TestDynamoDb, a_session, an_origin, an_origin_at, removal,
};
use serde_json::json;

use crate::fixture::{self, change_role, with_person};

fn registration(email: &str, slug: &str) -> Registration {
    let account = Account {
        id: UserId::generate(),
        email: EmailAddress::parse(email).unwrap(),
        full_name: FullName::parse("Ada Lovelace").ok(),
        password_hash: Some("$argon2id$…".into()),
        created_at: Timestamp::now(),
        last_login_at: None,
        password_works_until: None,
    };
    let (name, slug) = (WorkspaceName::parse("Engines").unwrap(), WorkspaceSlug::parse(slug).unwrap());
    let workspace = NewWorkspace::of(&account, WorkspaceId::generate(), name, account.created_at);
    Registration { account, verified_at: None, workspace: NewWorkspace { slug, ..workspace } }
}

#[tokio::test]
async fn an_account_is_found_by_its_address_with_its_membership() {
    let db = TestDynamoDb::start();

    let ada = found(&db, "ada@example.com", "engines").await;

    let account = db.users().find_by_email(&ada.account.email).await.unwrap();
    assert_eq!(account, Some((ada.account, vec![ada.workspace.membership()])));
    let workspace = db.users().workspace_by_slug(&ada.workspace.slug).await.unwrap();
    assert_eq!(workspace, Some(ada.workspace.id));
}

#[tokio::test]
async fn an_address_is_verified_once_and_only_if_it_is_the_accounts() {
    let (db, ada) = with_ada().await;
    let (id, first) = (&ada.account.id, Timestamp::now());
    let later = first.plus(Duration::from_secs(60));
    assert_eq!(db.users().verified_at(id).await.unwrap(), None);

    for (email, at, verified) in [
        (EmailAddress::parse("eve@example.com").unwrap(), first, None),
        (ada.account.email.clone(), first, Some(first)),
        (ada.account.email.clone(), later, Some(first)),
    ] {
        db.users().verify_address(id, &email, &an_origin_at(id, at)).await.unwrap();
        assert_eq!(db.users().verified_at(id).await.unwrap(), verified, "{email} {at}");
    }

    let profile = db.users().profile(id, Timestamp::now()).await.unwrap().unwrap();
    assert_eq!((profile.full_name, profile.verified_at), (ada.account.full_name, Some(first)));
}

#[tokio::test]
async fn the_time_of_the_latest_login_never_goes_backwards() {
    let (db, ada) = with_ada().await;
    let (id, now) = (&ada.account.id, Timestamp::now());
    let last_login = async || db.users().profile(id, Timestamp::now()).await.unwrap().unwrap().last_login_at;

    let before = last_login().await;
    for seconds in [60, 0, 30] {
        db.users().note_login(id, now.plus(Duration::from_secs(seconds))).await.unwrap();
    }
    let stranger = UserId::generate();
    db.users().note_login(&stranger, now).await.unwrap();

    assert_eq!((before, last_login().await), (None, Some(now.plus(Duration::from_secs(60)))));
    assert_eq!(db.users().profile(&stranger, Timestamp::now()).await.unwrap(), None, "no account is made");
}

#[tokio::test]
async fn a_taken_address_or_slug_leaves_nothing_behind() {
    let db = TestDynamoDb::start();
    found(&db, "ada@example.com", "engines").await;
    let before = db.scan("UsersTable").len();

    for (email, slug, outcome) in [
        ("ada@example.com", "other", RegisterOutcome::EmailTaken),
        ("bob@example.com", "engines", RegisterOutcome::SlugTaken),
    ] {
        let taken = registration(email, slug);
        assert_eq!(db.users().register(&taken, None, &an_origin(&taken.account.id)).await.unwrap(), outcome);
    }

    assert_eq!(db.scan("UsersTable").len(), before);
}

#[tokio::test]
async fn a_hash_is_replaced_only_if_it_is_still_the_old_one() {
    let (db, ada) = with_ada().await;
    let replace = async |old: &str, new: &str| db.users().replace_password_hash(&ada.account.id, old, new).await;

    assert!(replace("$argon2id$…", "new").await.is_ok());
    assert!(replace("$argon2id$…", "newer").await.is_err());

    let (account, _) = db.users().find_by_email(&ada.account.email).await.unwrap().unwrap();
    assert_eq!(account.password_hash.as_deref(), Some("new"));
}

async fn with_ada() -> (TestDynamoDb, Registration) {
    let db = TestDynamoDb::start();
    let ada = found(&db, "ada@example.com", "engines").await;
    (db, ada)
}

async fn with_ada_and_bob() -> (TestDynamoDb, Registration, Registration) {
    let (db, ada) = with_ada().await;
    let bob = found(&db, "bob@example.com", "mills").await;
    (db, ada, bob)
}

/// A workspace with these slug and creator.
async fn found(db: &TestDynamoDb, email: &str, slug: &str) -> Registration {
    let registration = registration(email, slug);
    let outcome = db.users().register(&registration, None, &an_origin(&registration.account.id)).await.unwrap();
    assert_eq!(outcome, RegisterOutcome::Registered);
    registration
}

fn slug(text: &str) -> WorkspaceSlug {
    WorkspaceSlug::parse(text).unwrap()
}

fn to_slug(text: &str) -> WorkspacePatch {
    WorkspacePatch { slug: Some(slug(text)), ..WorkspacePatch::default() }
}

fn to_name(text: &str) -> WorkspacePatch {
    WorkspacePatch { name: Some(WorkspaceName::parse(text).unwrap()), ..WorkspacePatch::default() }
}

/// What comes of a change of a workspace by somebody at this time.
async fn changed(
    db: &TestDynamoDb,
    id: &WorkspaceId,
    by: &UserId,
    patch: &WorkspacePatch,
    at: Timestamp,
) -> WorkspaceOutcome {
    db.users().change_workspace(id, by, patch, &Precondition::None, &an_origin_at(by, at)).await.unwrap()
}

/// The slugs that lead to a workspace.
fn slugs_of(db: &TestDynamoDb, workspace: &WorkspaceId) -> Vec<String> {
    let items = db.scan("UsersTable");
    let own =
        items.iter().filter(|item| item["sk"]["S"] == "SLUG" && item["workspace_id"]["S"] == workspace.to_string());
    own.map(|item| item["pk"]["S"].as_str().unwrap().trim_start_matches("SLUG#").to_owned()).collect()
}

/// Somebody who joins after all who are there.
fn newcomer(email: &str, role: Role) -> Member {
    Member {
        user: UserId::generate(),
        email: EmailAddress::parse(email).unwrap(),
        full_name: None,
        role,
        joined_at: Timestamp::now().plus(Duration::from_millis(1)),
        paused_at: None,
    }
}

async fn roles(db: &TestDynamoDb, workspace: &WorkspaceId) -> Vec<Role> {
    db.users().members(workspace).await.unwrap().iter().map(|member| member.role).collect()
}

/// The number of admins as the workspace's row has it, and as its members have it in each of their rows.
fn admins(db: &TestDynamoDb, workspace: &WorkspaceId) -> [usize; 3] {
    let items = db.scan("UsersTable");
    let row =
        items.iter().find(|item| item["pk"]["S"] == format!("WS#{workspace}") && item["sk"]["S"] == "WS").unwrap();
    let members = |pk: &str, sk: &str| {
        items
            .iter()
            .filter(|item| item["pk"]["S"].as_str().unwrap().starts_with(pk))
            .filter(|item| item["sk"]["S"].as_str().unwrap().starts_with(sk) && item["role"]["S"] == "admin")
            .count()
    };
    let counted = row["admins"]["N"].as_str().unwrap().parse().unwrap();
    [counted, members(&format!("WS#{workspace}"), "MEMBER#"), members("ACCESS#", &format!("MEMBER#{workspace}"))]
}

#[tokio::test]
async fn a_new_workspace_has_its_creator_as_its_only_member() {
    let (db, ada) = with_ada().await;
    let id = &ada.workspace.id;

    let workspace = db.users().workspace(id).await.unwrap();
    let members = db.users().members(id).await.unwrap();

    let expected = Workspace {
        id: *id,
        name: ada.workspace.name,
        slug: ada.workspace.slug,
        settings: WorkspaceSettings::default(),
        destinations: Destinations::Fixed,
        statistics: None,
        color: None,
        contact: None,
        logo: None,
        creator: ada.account.id,
        created_at: ada.account.created_at,
        updated_at: ada.account.created_at,
        revision: Revision::FIRST,
        closure: None,
    };
    assert_eq!(workspace, Some(expected));
    let Account { id: user, email, full_name, .. } = ada.account;
    let (role, joined_at) = (Role::Admin, ada.workspace.creator.joined_at);
    assert_eq!(members, [Member { user, email, full_name, role, joined_at, paused_at: None }]);
    assert_eq!(admins(&db, id), [1, 1, 1]);
}

#[tokio::test]
async fn a_new_slug_frees_the_old_and_a_taken_one_changes_nothing() {
    let (db, ada, bob) = with_ada_and_bob().await;
    let later = ada.account.created_at.plus(Duration::from_secs(60));
    let change = async |somebody: &Registration, patch: WorkspacePatch| {
        changed(&db, &somebody.workspace.id, &somebody.account.id, &patch, later).await
    };

    let before = db.users().workspace(&ada.workspace.id).await.unwrap().unwrap();
    let named = WorkspacePatch { slug: Some(slug("mills")), ..to_name("Looms") };
    assert_eq!(change(&ada, named).await, WorkspaceOutcome::SlugTaken);
    assert_eq!(db.users().workspace(&ada.workspace.id).await.unwrap(), Some(before.clone()));

    let revision = Revision::parse("1").unwrap();
    let moved = Workspace { slug: slug("looms"), updated_at: later, revision, ..before.clone() };
    assert_eq!(change(&ada, to_slug("looms")).await, WorkspaceOutcome::Changed(moved.clone()));
    assert_eq!(change(&ada, to_slug("looms")).await, WorkspaceOutcome::Changed(moved));
    assert!(matches!(change(&bob, to_slug("engines")).await, WorkspaceOutcome::Changed(_)));
    assert_eq!(slugs_of(&db, &ada.workspace.id), ["looms"]);
    assert_eq!(slugs_of(&db, &bob.workspace.id), ["engines"]);
    let nowhere = changed(&db, &WorkspaceId::generate(), &ada.account.id, &to_slug("nowhere"), later).await;
    assert_eq!(nowhere, WorkspaceOutcome::NoWorkspace);
}

#[tokio::test]
async fn what_is_public_of_a_workspace_is_written_with_it_and_names_no_people() {
    let (db, ada) = with_ada().await;
    let id = &ada.workspace.id;
    let first = db.public_workspaces().find(id).await.unwrap().unwrap();
    assert_eq!((first.name, first.statistics), (ada.workspace.name, None));

    let patch = WorkspacePatch { statistics: Some(Some(Visibility::Private)), ..to_name("Looms") };
    let WorkspaceOutcome::Changed(workspace) = changed(&db, id, &ada.account.id, &patch, Timestamp::now()).await else {
        panic!()
    };

    assert_eq!(db.public_workspaces().find(id).await.unwrap(), Some(workspace.in_public()));
    assert_eq!(workspace.in_public().statistics, Some(Visibility::Private));
    let rows = db.scan("UsersTable");
    let row = rows.iter().find(|row| row["pk"]["S"] == format!("PUBLIC#{id}")).unwrap();
    assert!(!row.to_string().contains(&ada.account.id.to_string()) && !row.to_string().contains('@'), "{row}");
}

#[tokio::test]
async fn a_purged_workspace_leaves_neither_its_public_item_nor_its_logo() {
    let (db, ada) = with_ada().await;
    let (users, id, caller) = (db.users(), &ada.workspace.id, &ada.account.id);
    let left = || {
        let rows = db.scan("UsersTable").into_iter().map(|row| row["pk"]["S"].as_str().unwrap().to_owned());
        rows.filter(|key| ["PUBLIC#", "LOGO#"].iter().any(|prefix| key.starts_with(prefix))).count()
    };
    for side in [16, 32] {
        let logo = Logo::parse(fixture::png(side, side)).unwrap();
        users.change_logo(id, caller, Some(&logo), &Precondition::None, &an_origin(caller)).await.unwrap();
        assert_eq!(left(), 2);
    }
    let now = Timestamp::now();
    let mut row = db.scan("UsersTable").into_iter().find(|row| row["sk"]["S"] == "WS").unwrap();
    row["restorable_until"] = json!({"S": now});
    db.put("UsersTable", &row);

    let stale = Workspace { logo: None, ..users.workspace(id).await.unwrap().unwrap() };
    assert!(users.forget_workspace(&stale, now).await.is_err(), "its logo would stay");
    let workspace = users.workspace(id).await.unwrap().unwrap();
    users.forget_workspace(&workspace, now).await.unwrap();

    assert_eq!(left(), 0);
}

#[tokio::test]
async fn changes_at_once_lose_no_slug_and_leave_no_second_one() {
    let (db, ada) = with_ada().await;
    let settings = WorkspaceSettings::parse(r#"{"theme":"dark"}"#).unwrap();
    let patches = [
        to_slug("looms"),
        to_slug("looms"),
        to_slug("mills"),
        to_name("Looms"),
        WorkspacePatch { settings: Some(settings.clone()), ..to_slug("wheels") },
    ];

    let now = Timestamp::now();
    let (workspace, id) = (&ada.workspace.id, &ada.account.id);
    let outcomes = join_all(patches.iter().map(|patch| changed(&db, workspace, id, patch, now))).await;

    for (patch, outcome) in patches.iter().zip(outcomes) {
        let WorkspaceOutcome::Changed(_) = outcome else { panic!("{patch:?} was refused") };
    }
    let workspace = db.users().workspace(&ada.workspace.id).await.unwrap().unwrap();
    assert_eq!((workspace.name.as_str(), workspace.settings), ("Looms", settings));
    assert_eq!(slugs_of(&db, &ada.workspace.id), [workspace.slug.as_str()]);
}

#[tokio::test]
async fn of_simultaneous_changes_the_audit_log_shows_a_chain_of_values() {
    let (db, ada) = with_ada().await;
    let (users, id, origin) = (db.users(), &ada.workspace.id, an_origin(&ada.account.id));
    let now = Timestamp::now();
    let rename =
        async |number: usize| changed(&db, id, &ada.account.id, &to_name(&format!("Looms {number}")), now).await;
    let choose = async |choice| users.choose_mail(&ada.account.id, choice, &origin).await.unwrap();

    let renamed = join_all((0..4).map(rename));
    let chosen = join_all([MailChoice::None, MailChoice::All, MailChoice::Important, MailChoice::None].map(choose));
    join(renamed, chosen).await;

    let workspace = users.workspace(id).await.unwrap().unwrap();
    let mail = users.mail_choice(&ada.account.id).await.unwrap().unwrap();
    let steps = |audit_log, action| {
        let filter = AuditFilter { action: Some(ActionFilter::One(action)), ..AuditFilter::default() };
        let audit_logs = db.audit_log();
        async move {
            let entries = audit_logs.list(&audit_log, &filter, 100, None).await.unwrap().items;
            entries.into_iter().map(|entry| (entry.from.unwrap(), entry.to.unwrap())).collect::<Vec<_>>()
        }
    };
    let names = steps(AuditLog::Workspace(*id), AuditAction::WorkspaceChanged).await;
    assert_eq!(names.len(), 4);
    assert_chain(names, &format!("name: {}", ada.workspace.name), &format!("name: {}", workspace.name));
    let mails = steps(AuditLog::Person(ada.account.id), AuditAction::AccountMailChanged).await;
    assert_chain(mails, &MailChoice::default().to_string(), &mail.to_string());
}

/// That these steps are one way, each beginning where another has ended.
fn assert_chain(mut steps: Vec<(String, String)>, first: &str, last: &str) {
    // What is left by each step as often as it is reached is passed through, but for the first and the last.
    steps.push((last.to_owned(), first.to_owned()));
    let (mut left, mut reached): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
    left.sort();
    reached.sort();
    assert_eq!(left, reached);
}

#[tokio::test]
async fn of_two_workspaces_one_gets_a_slug() {
    let (db, ada, bob) = with_ada_and_bob().await;
    let (patch, now) = (to_slug("looms"), Timestamp::now());
    let workspaces = [ada.workspace.id, bob.workspace.id];

    let outcomes = join_all([
        changed(&db, &workspaces[0], &ada.account.id, &patch, now),
        changed(&db, &workspaces[1], &bob.account.id, &patch, now),
    ])
    .await;

    let taken = outcomes.into_iter().filter(|outcome| *outcome == WorkspaceOutcome::SlugTaken).count();
    assert_eq!((taken, workspaces.map(|one| slugs_of(&db, &one).len())), (1, [1, 1]));
}

#[tokio::test]
async fn whoever_is_no_admin_any_more_changes_nothing() {
    let (db, workspace, ada, bob) = two_admins().await;
    change_role(&db.users(), &workspace, &ada, &bob, Role::Member).await.unwrap();
    let before = db.scan("UsersTable");
    let stranger = UserId::generate();

    for (who, patch) in [(&bob, to_slug("looms")), (&bob, to_name("Looms")), (&stranger, to_slug("looms"))] {
        let outcome = changed(&db, &workspace, who, &patch, Timestamp::now()).await;
        assert_eq!(outcome, WorkspaceOutcome::CallerNotAdmin, "{patch:?}");
    }

    assert_eq!(db.scan("UsersTable"), before);
}

#[tokio::test]
async fn a_member_joins_changes_and_leaves_in_both_rows() {
    let (db, ada, bob) = with_ada_and_bob().await;
    let (workspace, caller, user) = (&ada.workspace.id, &ada.account.id, &bob.account.id);
    let full_name = bob.account.full_name.clone();
    let member = Member { user: *user, full_name, ..newcomer("bob@example.com", Role::Viewer) };
    let users = db.users();
    let memberships = async || {
        let (_, memberships) = users.find_by_email(&bob.account.email).await.unwrap().unwrap();
        memberships.into_iter().map(|membership| (membership.workspace, membership.role)).collect::<Vec<_>>()
    };
    let own = (bob.workspace.id, Role::Admin);
    // The token of an invitation stays until its TTL, and leads nowhere.
    let rows = || db.scan("UsersTable").iter().filter(|item| item["sk"]["S"] != "INVITATION").count();
    let before = rows();

    db.add_member(workspace, caller, &member).await;
    assert_eq!(users.members(workspace).await.unwrap().last(), Some(&member));
    assert_eq!(memberships().await, [own, (*workspace, Role::Viewer)]);

    let promoted = change_role(&users, workspace, caller, user, Role::Admin).await.unwrap();
    assert_eq!(promoted, MemberOutcome::Done(Member { role: Role::Admin, ..member }));
    assert_eq!(memberships().await, [own, (*workspace, Role::Admin)]);
    assert_eq!(admins(&db, workspace), [2, 2, 2]);

    assert!(matches!(users.remove_member(&removal(workspace, caller, user)).await.unwrap(), MemberOutcome::Done(_)));
    assert_eq!(users.remove_member(&removal(workspace, caller, user)).await.unwrap(), MemberOutcome::NoMember);
    assert_eq!(change_role(&users, workspace, caller, user, Role::Admin).await.unwrap(), MemberOutcome::NoMember);
    assert_eq!(memberships().await, [own]);
    assert_eq!((admins(&db, workspace), rows()), ([1, 1, 1], before));
}

#[tokio::test]
async fn members_are_listed_in_the_order_in_which_they_joined() {
    let (db, ada) = with_ada().await;
    let (workspace, caller) = (&ada.workspace.id, &ada.account.id);
    let later = |seconds| ada.workspace.creator.joined_at.plus(Duration::from_secs(seconds));
    for seconds in [3, 1, 2] {
        let email = format!("member{seconds}@example.com");
        let member = Member { joined_at: later(seconds), ..newcomer(&email, Role::Member) };
        db.add_member(workspace, caller, &member).await;
    }

    let listed = db.users().members(workspace).await.unwrap();

    let joined: Vec<_> = listed.iter().map(|member| member.joined_at).collect();
    assert_eq!(joined, [later(0), later(1), later(2), later(3)]);
}

/// Ada, the creator, and Bob, whom she has made an admin.
async fn two_admins() -> (TestDynamoDb, WorkspaceId, UserId, UserId) {
    let (db, ada) = with_ada().await;
    let bob = newcomer("bob@example.com", Role::Admin);
    db.add_member(&ada.workspace.id, &ada.account.id, &bob).await;
    (db, ada.workspace.id, ada.account.id, bob.user)
}

#[tokio::test]
async fn the_last_admin_stays_one() {
    let (db, workspace, ada, bob) = two_admins().await;
    let users = db.users();

    assert!(matches!(users.remove_member(&removal(&workspace, &bob, &bob)).await.unwrap(), MemberOutcome::Done(_)));
    for role in [Role::Viewer, Role::Member] {
        assert_eq!(change_role(&users, &workspace, &ada, &ada, role).await.unwrap(), MemberOutcome::LastAdmin);
    }
    assert_eq!(users.remove_member(&removal(&workspace, &ada, &ada)).await.unwrap(), MemberOutcome::LastAdmin);
    assert!(matches!(
        change_role(&users, &workspace, &ada, &ada, Role::Admin).await.unwrap(),
        MemberOutcome::Unchanged(Member { role: Role::Admin, .. })
    ));
    assert_eq!((roles(&db, &workspace).await, admins(&db, &workspace)), (vec![Role::Admin], [1, 1, 1]));
}

/// What takes an admin away.
#[derive(Clone, Copy)]
enum Act {
    DemoteOther,
    RemoveOther,
    StepDown,
    Leave,
}

impl Act {
    async fn of(self, users: &UsersTable, workspace: &WorkspaceId, caller: &UserId, other: &UserId) -> MemberOutcome {
        let outcome = match self {
            Self::DemoteOther => change_role(users, workspace, caller, other, Role::Member).await,
            Self::RemoveOther => users.remove_member(&removal(workspace, caller, other)).await,
            Self::StepDown => change_role(users, workspace, caller, caller, Role::Viewer).await,
            Self::Leave => users.remove_member(&removal(workspace, caller, caller)).await,
        };
        outcome.unwrap()
    }
}

#[tokio::test]
async fn two_admins_at_once_never_leave_a_workspace_without_one() {
    for (what, [first, second]) in [
        ("they demote each other", [Act::DemoteOther; 2]),
        ("they remove each other", [Act::RemoveOther; 2]),
        ("both step down", [Act::StepDown; 2]),
        ("both leave", [Act::Leave; 2]),
        ("one leaves while the other steps down", [Act::Leave, Act::StepDown]),
    ] {
        let (db, workspace, ada, bob) = two_admins().await;
        let users = db.users();

        let outcomes =
            join_all([first.of(&users, &workspace, &ada, &bob), second.of(&users, &workspace, &bob, &ada)]).await;

        let done = outcomes.iter().filter(|outcome| matches!(outcome, MemberOutcome::Done(_))).count();
        assert_eq!((done, outcomes.contains(&MemberOutcome::LastAdmin)), (1, true), "{what}: {outcomes:?}");
        assert_eq!(admins(&db, &workspace), [1, 1, 1], "{what}");
    }
}

#[tokio::test]
async fn the_same_demotion_twice_at_once_is_one() {
    let (db, workspace, ada, bob) = two_admins().await;
    let users = db.users();

    let outcomes = join_all((0..2).map(|_| change_role(&users, &workspace, &ada, &bob, Role::Viewer))).await;

    let done = outcomes.iter().filter(|outcome| matches!(outcome, Ok(MemberOutcome::Done(_)))).count();
    let unchanged = outcomes.iter().filter(|outcome| matches!(outcome, Ok(MemberOutcome::Unchanged(_)))).count();
    assert_eq!((done, unchanged), (1, 1));
    assert_eq!(admins(&db, &workspace), [1, 1, 1]);
}

#[tokio::test]
async fn who_is_no_admin_any_more_changes_nobodys_membership() {
    let (db, workspace, ada, bob) = two_admins().await;
    let users = db.users();
    let carol = newcomer("carol@example.com", Role::Viewer);
    db.add_member(&workspace, &ada, &carol).await;
    let refused = async || {
        [
            change_role(&users, &workspace, &bob, &carol.user, Role::Admin).await.unwrap(),
            change_role(&users, &workspace, &bob, &carol.user, Role::Member).await.unwrap(),
            users.remove_member(&removal(&workspace, &bob, &carol.user)).await.unwrap(),
        ]
    };
    let all_refused = [const { MemberOutcome::CallerNotAdmin }; 3];

    change_role(&users, &workspace, &ada, &bob, Role::Member).await.unwrap();
    assert_eq!(refused().await, all_refused);
    let promoted = change_role(&users, &workspace, &bob, &bob, Role::Admin).await.unwrap();
    assert_eq!(promoted, MemberOutcome::CallerNotAdmin);
    users.remove_member(&removal(&workspace, &ada, &bob)).await.unwrap();
    assert_eq!(refused().await, all_refused);

    assert_eq!(roles(&db, &workspace).await, [Role::Admin, Role::Viewer]);
}

#[tokio::test]
async fn a_transaction_conflict_is_retried_but_other_failures_are_not() {
    let (db, workspace, ada, bob) = two_admins().await;
    let (users, faults): (_, Faults) = db.users_through();
    // Each try is a read and a transaction.
    let conflicts = [1, 3].map(|call| (call, Fault::Cancelled(Cancellation::TransactionConflict)));

    faults.plan_all(conflicts);
    let demoted = change_role(&users, &workspace, &ada, &bob, Role::Member).await.unwrap();
    assert!(matches!(demoted, MemberOutcome::Done(Member { role: Role::Member, .. })));
    faults.plan_all(conflicts);
    let looms = to_slug("looms");
    let changed = users.change_workspace(&workspace, &ada, &looms, &Precondition::None, &an_origin(&ada)).await;
    assert!(matches!(changed.unwrap(), WorkspaceOutcome::Changed(_)));

    faults.plan(Some((1, Fault::Cancelled(Cancellation::Throttling))));
    assert!(users.remove_member(&removal(&workspace, &ada, &bob)).await.is_err());
    faults.plan_all((0..20).map(|call| (2 * call + 1, Fault::Cancelled(Cancellation::TransactionConflict))));
    assert!(users.remove_member(&removal(&workspace, &ada, &bob)).await.is_err());
    assert_eq!(admins(&db, &workspace), [1, 1, 1]);
}

/// The attack: of requests at the same moment, each would count what there is before the others have made theirs.
#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_invitations_at_once_only_those_with_room_are_made() {
    for there_are in [0, 90] {
        let (db, ada) = with_person("ada").await;
        for number in 0..there_are {
            db.invite(&ada, &format!("earlier{number}@example.com"), Role::Member).await;
        }
        let invitation = |number: usize| {
            let email = EmailAddress::parse(&format!("guest{number}@example.com")).unwrap();
            let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap().hash();
            Invitation::new(&ada.workspace, email, Role::Member, &ada.id, token, Timestamp::now())
        };
        let (users, origin, session) = (db.users(), an_origin(&ada.id), a_session());
        let invitations: Vec<_> = (0..30).map(invitation).collect();

        let outcomes = join_all(invitations.iter().map(|one| users.invite(one, &session, None, &origin))).await;

        let with = |wanted| outcomes.iter().filter(|outcome| *outcome.as_ref().unwrap() == wanted).count();
        let room = (Invitation::MAX_PER_WORKSPACE - there_are).min(30);
        assert_eq!((with(InviteOutcome::Invited), with(InviteOutcome::TooMany)), (room, 30 - room));
        assert_eq!(users.invitations(&ada.workspace, Timestamp::now()).await.unwrap().len(), there_are + room);
    }
}

/// The attack, too: half of them are created, and half are joined.
#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_workspaces_at_once_a_person_joins_only_the_allowed_number() {
    for each in [5, 15] {
        let (db, bob) = with_person("bob").await;
        let (users, origin, session) = (db.users(), an_origin(&bob.id), a_session());
        let account = users.account(&bob.id).await.unwrap().unwrap();
        let (mut invitations, mut created) = (Vec::new(), Vec::new());
        for number in 0..each {
            let admin = db.register(&format!("admin{number}")).await;
            invitations.push(db.invite(&admin, bob.email.as_str(), Role::Member).await);
            let name = WorkspaceName::parse("Engines").unwrap();
            created.push(NewWorkspace::of(&account, WorkspaceId::generate(), name, Timestamp::now()));
        }

        let accepting = invitations.iter().map(|token| users.accept_invitation(token, &account, &session, &origin));
        let creation = created.iter().map(|workspace| users.create_workspace(workspace, None, &origin));
        let (accepted, created) = join(join_all(accepting), join_all(creation)).await;

        let room = (Membership::MOST - 1).min(2 * each);
        let joined = accepted.iter().filter(|outcome| matches!(outcome, Ok(AcceptOutcome::Accepted(..)))).count()
            + created.iter().filter(|outcome| matches!(outcome, Ok(CreateWorkspaceOutcome::Created))).count();
        let refused = accepted.iter().filter(|outcome| matches!(outcome, Ok(AcceptOutcome::TooMany))).count()
            + created.iter().filter(|outcome| matches!(outcome, Ok(CreateWorkspaceOutcome::TooMany))).count();
        assert_eq!((joined, refused), (room, 2 * each - room), "{accepted:?} {created:?}");
        assert_eq!(users.memberships(&bob.id).await.unwrap().len(), 1 + room);
    }
}

/// What the chart of access patterns says.
#[tokio::test]
async fn a_workspace_costs_what_the_chart_says() {
    let db = TestDynamoDb::start();
    let (users, meter): (_, CapacityMeter) = db.users_through();
    let ada = registration("ada@example.com", "engines");
    let (workspace, caller) = (&ada.workspace.id, &ada.account.id);
    let bob = newcomer("bob@example.com", Role::Admin);

    users.register(&ada, None, &an_origin(&ada.account.id)).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 20.0), "registration");
    users.workspace(workspace).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 0.0), "reading it");
    for (patch, writes) in [(to_name("Looms"), 8.0), (to_slug("looms"), 12.0)] {
        users.change_workspace(workspace, caller, &patch, &Precondition::None, &an_origin(caller)).await.unwrap();
        assert_eq!(meter.spent(), (2.0, writes), "{patch:?}");
    }
    users.members(workspace).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 0.0), "the members");
    let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap().hash();
    let invitation =
        Invitation::new(workspace, bob.email.clone(), Role::Admin, caller, token.clone(), Timestamp::now());
    users.invite(&invitation, &a_session(), None, &an_origin(&invitation.invited_by)).await.unwrap();
    assert_eq!(meter.spent(), (3.0, 14.0), "an invitation");
    users.invitations(workspace, Timestamp::now()).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 0.0), "the invitations");
    let account = Account { id: bob.user, email: bob.email.clone(), full_name: None, ..ada.account.clone() };
    db.give_address(&bob);
    users.accept_invitation(&token, &account, &a_session(), &an_origin(&account.id)).await.unwrap();
    assert_eq!(meter.spent(), (5.0, 16.0), "an admin joins");
    change_role(&users, workspace, caller, &bob.user, Role::Member).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 14.0), "an admin becomes a member");
    change_role(&users, workspace, caller, &bob.user, Role::Viewer).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 12.0), "a member becomes a viewer");
    users.remove_member(&removal(workspace, caller, &bob.user)).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 13.0), "a viewer is removed");
}
