use std::{convert::Infallible, time::Duration};

use aws_lambda_events::dynamodb::Event as StreamEvent;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Intercept;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use futures_util::future::join_all;
use linklet_domain::{
    Account, ApiKey, AuditContext, CorrelationId, EmailAddress, Handover, Invitation, Link, LinkEdit, LinkId,
    LinkPatch, Member, OneTimeToken, Record, Role, SuspensionReason, Suspensions, Target, Task, TaskWork, Timestamp,
    TokenHash, TokenPurpose, Tombstone, UserId, Work, WorkId, WorkspaceId, WorkspaceName, WorkspaceSlug,
};
use linklet_dynamodb::{
    AcceptOutcome, ApiKeys, AuditTable, ClicksTable, CreateKeyOutcome, CreateOutcome, Creation, EditContext,
    EditOutcome, Invitations, InviteOutcome, JobsTable, LinksTable, Names, NewToken, NewWorkspace, NotificationsTable,
    OneTimeTokens, PublicWorkspaces, Recipients, RegisterOutcome, RegisteredTarget, Registration, Reports, Sessions,
    StatsTable, Table, TargetRegistration, ThrottleTable, TokenDelivery, UsersTable, WatchTable, Workspaces,
};
use linklet_lambda::identity::Authenticator;
use serde_json::{Value, json};

use crate::service::{Operation, Service, config};
use crate::{Faults, Person, Template, a_session, an_origin, tokens};

/// DynamoDB with the template's tables, each test's own. It ends with the test's process, unless the variable
/// `DYNAMODB_ENDPOINT` names another DynamoDB than the one in this process.
pub struct TestDynamoDb {
    service: Service,
    client: Client,
}

impl TestDynamoDb {
    /// Starts it, empty.
    ///
    /// # Panics
    /// When it can't start.
    pub fn start() -> Self {
        Self::with_tables(Template::load().tables().into_values())
    }

    /// Starts it without the tables' streams, for tests and measurements with very many writes: dynoxide looks through a
    /// table's whole stream at each of them, and DynamoDB Local gets slower with it, too.
    ///
    /// # Panics
    /// When it can't start.
    pub fn without_streams() -> Self {
        Self::with_tables(Template::load().tables().into_values().map(|mut table| {
            table.as_object_mut().expect("a table is an object").remove("StreamSpecification");
            table
        }))
    }

    fn with_tables(tables: impl Iterator<Item = Value>) -> Self {
        let mut service = Service::start();
        for request in tables {
            service.call(Operation::CreateTable, request);
        }
        service.set_times_to_live(Template::load().time_to_live());
        Self { client: Client::from_conf(service.config().build()), service }
    }

    /// A client of a DynamoDB that doesn't answer, since nothing listens there.
    pub fn unreachable() -> Client {
        Client::from_conf(config("http://127.0.0.1:9", "test").build())
    }

    /// A table of such a DynamoDB.
    pub fn unreachable_table(name: &str) -> Table {
        Table::new(Self::unreachable(), name)
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        self.service.endpoint()
    }

    /// The access key that these tables belong to.
    pub fn access_key(&self) -> &str {
        self.service.access_key()
    }

    /// The SDK's client.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Another client, with this between it and DynamoDB.
    pub fn client_with(&self, interceptor: impl Intercept + 'static) -> Client {
        Client::from_conf(self.service.config().interceptor(interceptor).build())
    }

    /// A table, with this between it and its callers.
    pub fn table_with(&self, interceptor: impl Intercept + 'static, name: &str) -> Table {
        Table::new(self.client_with(interceptor), name)
    }

    /// A table as its callers have it, with something new between, which is returned too.
    pub fn through<T, I>(&self, table: impl FnOnce(Table) -> T, name: &str) -> (T, I)
    where
        I: Intercept + Clone + Default + 'static,
    {
        let between = I::default();
        (table(self.table_with(between.clone(), name)), between)
    }

    /// The table of accounts, with something new between it and its callers, which is returned too.
    pub fn users_through<I: Intercept + Clone + Default + 'static>(&self) -> (UsersTable, I) {
        let between = I::default();
        (users_by(self.client_with(between.clone())), between)
    }

    fn table(&self, name: &str) -> Table {
        Table::new(self.client(), name)
    }

    /// A client whose calls can fail, and that tries each so often, as those of functions do.
    pub fn client_retrying(&self, faults: &Faults, tries: u32) -> Client {
        let retry = RetryConfig::standard().with_max_attempts(tries).with_initial_backoff(Duration::from_millis(1));
        Client::from_conf(self.service.config().interceptor(faults.clone()).retry_config(retry).build())
    }

    /// The table of links.
    pub fn links(&self) -> LinksTable {
        LinksTable(self.table("LinksTable"))
    }

    /// The table of raw clicks.
    pub fn clicks(&self) -> ClicksTable {
        ClicksTable::new(self.table("ClicksTable"))
    }

    /// The table of statistics.
    pub fn stats(&self) -> StatsTable {
        StatsTable::new(self.table("StatsTable"))
    }

    /// The table of accounts.
    pub fn users(&self) -> UsersTable {
        users_by(self.client())
    }

    /// The table of accounts, as far as workspaces and memberships are only read.
    pub fn workspaces(&self) -> Workspaces {
        Workspaces(self.table("UsersTable"))
    }

    /// The table of accounts, as far as strangers may know of workspaces.
    pub fn public_workspaces(&self) -> PublicWorkspaces {
        PublicWorkspaces(self.table("UsersTable"))
    }

    /// The table of audit logs.
    pub fn audit_log(&self) -> AuditTable {
        AuditTable(self.table("AuditTable"))
    }

    /// The table of accounts, as far as it lets requests in by their keys.
    pub fn api_keys(&self) -> ApiKeys {
        ApiKeys(self.table("UsersTable"))
    }

    /// The table of accounts, as far as it says who is told what, and where.
    pub fn recipients(&self) -> Recipients {
        Recipients(self.table("UsersTable"))
    }

    /// The table of accounts, as far as it says who wants reports.
    pub fn reports(&self) -> Reports {
        Reports(self.table("UsersTable"))
    }

    /// The table of accounts, as far as people's names are read.
    pub fn names(&self) -> Names {
        Names(self.table("UsersTable"))
    }

    /// The table of accounts, as far as tokens are made for it that are mailed.
    pub fn one_time_tokens(&self) -> OneTimeTokens {
        OneTimeTokens(self.table("UsersTable"))
    }

    /// The table of accounts, as far as it lets requests in by their tokens.
    pub fn sessions(&self) -> Sessions {
        Sessions(self.table("UsersTable"))
    }

    /// Accepts the tokens of [`token_for`](crate::token_for), and the keys of this database.
    pub fn authenticator(&self) -> Authenticator {
        Authenticator::new(tokens(), self.api_keys())
    }

    /// The table of accounts, as far as it concerns mails about invitations.
    pub fn invitations(&self) -> Invitations {
        Invitations(self.table("UsersTable"))
    }

    /// The table of notifications.
    pub fn notifications(&self) -> NotificationsTable {
        NotificationsTable(self.table("NotificationsTable"))
    }

    /// The table of calls.
    pub fn calls(&self) -> ThrottleTable {
        ThrottleTable::new(self.table("ThrottleTable"))
    }

    /// The table of jobs.
    pub fn jobs(&self) -> JobsTable {
        JobsTable(self.table("JobsTable"))
    }

    /// The table of monitored URLs.
    pub fn watch(&self) -> WatchTable {
        WatchTable::new(self.table("WatchTable"))
    }

    /// Stores a link as it is.
    ///
    /// # Panics
    /// When its code is taken.
    pub async fn store(&self, link: &Link) {
        self.store_with(link, None).await;
    }

    /// Stores many links as they are.
    ///
    /// # Panics
    /// When the code of one is taken.
    pub async fn store_all(&self, links: &[Link]) {
        for some in links.chunks(64) {
            join_all(some.iter().map(|link| self.store(link))).await;
        }
    }

    /// Stores a protected link with the hash of its password.
    ///
    /// # Panics
    /// When its code is taken.
    pub async fn store_protected(&self, link: &Link, password_hash: &str) {
        self.store_with(link, Some(password_hash)).await;
    }

    async fn store_with(&self, link: &Link, password_hash: Option<&str>) {
        let creation = Creation { password_hash, ..Creation::of(link) };
        let outcome = self.links().create(&creation).await.expect("a link can be stored");
        assert_eq!(outcome, CreateOutcome::Created);
    }

    /// Registers somebody, without the cost of hashing a password. Their workspace's slug is their name.
    ///
    /// # Panics
    /// When the name is taken, or can't be part of an address and a slug.
    pub async fn register(&self, name: &str) -> Person {
        let email = EmailAddress::parse(&format!("{name}@example.com")).expect("an address");
        let person = Person { id: UserId::generate(), email, workspace: WorkspaceId::generate() };
        self.register_as(&person, name).await;
        person
    }

    /// Registers somebody with these ids.
    ///
    /// # Panics
    /// When the name or an id is taken, or the name can't be part of a slug.
    pub async fn register_as(&self, person: &Person, name: &str) {
        let account = Account {
            id: person.id,
            email: person.email.clone(),
            full_name: None,
            password_hash: Some("none".to_owned()),
            created_at: Timestamp::now(),
            last_login_at: None,
            password_works_until: None,
        };
        let slug = WorkspaceSlug::parse(name).expect("a slug");
        let name = WorkspaceName::parse(name).expect("a name");
        let workspace = NewWorkspace::of(&account, person.workspace, name, account.created_at);
        let workspace = NewWorkspace { slug, ..workspace };
        let registration = Registration { account, verified_at: None, workspace };
        let outcome = self.users().register(&registration, None, &an_origin(&person.id)).await;
        assert_eq!(outcome.expect("an account can be stored"), RegisterOutcome::Registered);
    }

    /// Registers somebody who has shown that their address is theirs.
    ///
    /// # Panics
    /// As [`Self::register`].
    pub async fn register_verified(&self, name: &str) -> Person {
        let person = self.register(name).await;
        let verified = self.users().verify_address(&person.id, &person.email, &an_origin(&person.id)).await;
        verified.expect("an address can be verified");
        person
    }

    /// Lets an admin invite somebody, who accepts in the moment in which they join.
    ///
    /// # Panics
    /// When the admin is none, or they are a member already.
    pub async fn add_member(&self, workspace: &WorkspaceId, admin: &UserId, member: &Member) {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).expect("randomness").hash();
        let Member { user, email, full_name, role, joined_at, .. } = member.clone();
        self.give_address(member);
        let invitation = Invitation::new(workspace, email.clone(), role, admin, token.clone(), joined_at);
        let invited = self
            .users()
            .invite(&invitation, &a_session(), None, &an_origin(admin))
            .await
            .expect("an invitation can be stored");
        assert_eq!(invited, InviteOutcome::Invited);
        let password_hash = Some("none".to_owned());
        let account = Account {
            id: user,
            email,
            full_name,
            password_hash,
            created_at: joined_at,
            last_login_at: None,
            password_works_until: None,
        };
        let origin = AuditContext { at: joined_at, ..an_origin(&user) };
        let accepted = self.users().accept_invitation(&token, &account, &a_session(), &origin).await;
        let accepted = accepted.expect("an invitation can be accepted");
        assert!(matches!(accepted, AcceptOutcome::Accepted(..)), "{accepted:?}");
    }

    /// Gives somebody without an account the item of an address, which whoever joins a workspace has.
    ///
    /// # Panics
    /// When the row can't be stored.
    pub fn give_address(&self, member: &Member) {
        let partition = format!("ACCESS#{}", member.user);
        let has_one = |row: &Value| row["pk"]["S"] == partition && row["sk"]["S"] == "ADDRESS";
        if self.scan("UsersTable").iter().any(has_one) {
            return;
        }
        let mut address = json!({
            "pk": {"S": partition}, "sk": {"S": "ADDRESS"}, "email": {"S": member.email.to_string()},
        });
        if let Some(name) = &member.full_name {
            address["full_name"] = json!({"S": name.to_string()});
        }
        self.put("UsersTable", &address);
    }

    /// Lets an operator invite an address to register, and returns the token.
    ///
    /// # Panics
    /// When the token can't be stored.
    pub async fn invite_to_register(&self, email: &EmailAddress) -> OneTimeToken {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).expect("randomness");
        let invited = self.users().invite_to_register(email, &token.hash(), Timestamp::now()).await;
        invited.expect("an invitation can be stored");
        token
    }

    /// The token of this purpose in a mail to the address of an account.
    ///
    /// # Panics
    /// When no mail to an account has such a token, or it can't be stored.
    pub async fn mailed_token(&self, purpose: TokenPurpose, user: &UserId, email: &str, at: Timestamp) -> OneTimeToken {
        let token = OneTimeToken::generate(purpose).expect("randomness");
        let email = EmailAddress::parse(email).expect("an address");
        let (tokens, new) =
            (self.one_time_tokens(), NewToken { hash: &token.hash(), user, email: &email, issued_at: at });
        let issued = match purpose {
            TokenPurpose::Verification => tokens.issue_verification(&new).await.is_ok(),
            TokenPurpose::Reset => tokens.issue_reset(&new, TokenDelivery::Mailed).await.is_ok(),
            TokenPurpose::Keep => tokens.issue_keep(&new).await.is_ok(),
            TokenPurpose::Invitation => false,
        };
        assert!(issued, "a token can be stored");
        token
    }

    /// Lets an admin invite an address to their workspace.
    ///
    /// # Panics
    /// When the person is no admin there, or the address is a member's already.
    pub async fn invite(&self, admin: &Person, email: &str, role: Role) -> TokenHash {
        self.invite_at(admin, email, role, Timestamp::now()).await.hash()
    }

    /// Lets an admin invite an address to their workspace at this time, and returns the token.
    ///
    /// # Panics
    /// As [`Self::invite`].
    pub async fn invite_at(&self, admin: &Person, email: &str, role: Role, at: Timestamp) -> OneTimeToken {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).expect("randomness");
        let email = EmailAddress::parse(email).expect("an address");
        let invitation = Invitation::new(&admin.workspace, email, role, &admin.id, token.hash(), at);
        let invited = self.users().invite(&invitation, &a_session(), None, &an_origin(&admin.id)).await;
        assert_eq!(invited.expect("an invitation can be stored"), InviteOutcome::Invited);
        token
    }

    /// Stores an API key as it is.
    ///
    /// # Panics
    /// When its creator isn't an admin of its workspace.
    pub async fn store_key(&self, key: &ApiKey) {
        let outcome = self
            .users()
            .create_key(key, &a_session(), None, &an_origin(&key.created_by))
            .await
            .expect("a key can be stored");
        assert_eq!(outcome, CreateKeyOutcome::Created);
    }

    /// Registers a target.
    ///
    /// # Panics
    /// When its URL is registered in its workspace.
    pub async fn store_target(&self, target: &Target) -> Target {
        let registered = self.watch().register(target, None, &CorrelationId::generate()).await;
        match registered.expect("a target can be registered") {
            TargetRegistration::Done(RegisteredTarget { target, is_new: true, .. }) => target,
            other => panic!("{other:?}"),
        }
    }

    /// A link that has to be there.
    ///
    /// # Panics
    /// When it isn't.
    pub async fn link(&self, code: &str) -> Link {
        match self.record(code).await {
            Some(Record::Link(link)) => link,
            other => panic!("{code} is no link but {other:?}"),
        }
    }

    /// Suspends a link as a closed workspace does.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn suspend(&self, link: &Link) {
        self.suspend_for(link, SuspensionReason::Closed).await;
    }

    /// Suspends a link for this reason.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn suspend_for(&self, link: &Link, reason: SuspensionReason) {
        self.edit_stored(link, |link| LinkEdit::suspend(link, reason)).await;
    }

    /// Lifts what [`Self::suspend`] has done.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn resume(&self, link: &Link) {
        let closed = Suspensions::of(SuspensionReason::Closed);
        self.edit_stored(link, |link| LinkEdit::lift(link, closed)).await;
    }

    /// Edits a link as it is stored.
    async fn edit_stored(&self, link: &Link, decide: impl Fn(&Link) -> LinkEdit) {
        let record = Record::Link(self.link(link.code().as_str()).await);
        self.edit(&record, |record| match record {
            Record::Link(link) => decide(link),
            Record::Tombstone(_) => LinkEdit::Keep,
        })
        .await;
    }

    /// The task with this id.
    ///
    /// # Panics
    /// When it can't be read.
    pub async fn task(&self, id: WorkId) -> Option<Task> {
        match self.jobs().work(&id).await.expect("the task can be read") {
            Some(Work::Task(task)) => Some(task),
            _ => None,
        }
    }

    /// What is handed over of what a member has left, until that is done.
    ///
    /// # Panics
    /// When it can't be read, or is another task.
    pub async fn handover(&self, workspace: &WorkspaceId, leaver: &UserId) -> Option<Handover> {
        match self.task(WorkId::Handover { workspace: *workspace, leaver: *leaver }).await?.work {
            TaskWork::HandOver(handover) => Some(handover),
            other => panic!("{other:?}"),
        }
    }

    /// Changes a link that is there, wherever it leads then, and returns it.
    ///
    /// # Panics
    /// When it isn't there.
    pub async fn patch(&self, link: &LinkId, patch: &LinkPatch) -> Link {
        loop {
            let record = Record::Link(self.link(link.code.as_str()).await);
            let changed = self.edit(&record, |record| match record {
                Record::Link(link) => LinkEdit::Change(Box::new(link.changed_by(patch, Timestamp::now()))),
                Record::Tombstone(_) => LinkEdit::Keep,
            });
            match changed.await {
                EditOutcome::Written(Record::Link(link)) => return link,
                // Others were faster, as often as an edit is tried.
                EditOutcome::Contended => {}
                other => panic!("the link is not changed but {other:?}"),
            }
        }
    }

    /// Lets the owner of a link delete it.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn delete(&self, link: &Link) {
        self.delete_as(&link.identity.owner, link, Timestamp::now()).await;
    }

    /// Lets somebody delete a link at this time, and says whether that was left to do.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn delete_as(&self, by: &UserId, link: &Link, at: Timestamp) -> bool {
        let (record, correlation_id) = (Record::Link(link.clone()), CorrelationId::generate());
        let outcome = self.edit_as(by, &record, &correlation_id, |record| match record {
            Record::Link(link) => LinkEdit::delete(link, at),
            Record::Tombstone(_) => LinkEdit::Keep,
        });
        matches!(outcome.await, EditOutcome::Written(_))
    }

    /// Purges a link or what is left of it.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn purge(&self, record: &Record<Link>) {
        self.edit(record, |record| LinkEdit::purge(record, Timestamp::now())).await;
    }

    /// Replaces a link by its tombstone, as if its expiry were long over.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn remove_expired(&self, link: &Link) {
        self.edit(&Record::Link(link.clone()), |record| match record {
            Record::Link(link) => LinkEdit::Replace(Tombstone::of_expired(link, Timestamp::now())),
            Record::Tombstone(_) => LinkEdit::Keep,
        })
        .await;
    }

    async fn edit(&self, record: &Record<Link>, decide: impl Fn(&Record<Link>) -> LinkEdit) -> EditOutcome<Infallible> {
        self.edit_as(&record.identity().owner, record, &CorrelationId::generate(), decide).await
    }

    /// Lets somebody edit a link, by the request with this id.
    ///
    /// # Panics
    /// When the table can't be written.
    pub async fn edit_as(
        &self,
        by: &UserId,
        record: &Record<Link>,
        correlation_id: &CorrelationId,
        decide: impl Fn(&Record<Link>) -> LinkEdit,
    ) -> EditOutcome<Infallible> {
        let context = EditContext::unconditional(by, correlation_id);
        let edited = self.links().edit(record.clone(), &context, |record| Ok(decide(record))).await;
        edited.expect("the table can be written")
    }

    /// What stands under a code.
    ///
    /// # Panics
    /// When the code is none.
    pub async fn record(&self, code: &str) -> Option<Record<Link>> {
        self.links().find(&code.parse().expect("a code")).await.expect("the table can be read")
    }

    /// Lets DynamoDB's TTL delete what has expired; the stream says that the service did it.
    ///
    /// # Panics
    /// When it can't.
    pub fn sweep_ttl(&self) {
        self.service.sweep_ttl();
    }

    /// Writes an item, in DynamoDB's JSON, as nothing in Linklet would.
    ///
    /// # Panics
    /// When it can't.
    pub fn put(&self, table: &str, item: &Value) {
        self.service.call(Operation::PutItem, json!({"TableName": table, "Item": item}));
    }

    /// Takes an item away, as nothing in Linklet would.
    ///
    /// # Panics
    /// When it can't.
    pub fn remove(&self, table: &str, item: &Value) {
        let key = json!({"pk": item["pk"], "sk": item["sk"]});
        self.service.call(Operation::DeleteItem, json!({"TableName": table, "Key": key}));
    }

    /// Takes a table away, as if it could not be reached. [`Self::make`] makes it anew, empty.
    ///
    /// # Panics
    /// When there is none.
    pub fn take_away(&self, table: &str) {
        self.service.call(Operation::DeleteTable, json!({"TableName": table}));
    }

    /// Makes a table of the template.
    ///
    /// # Panics
    /// When it is there, or the template has none.
    pub fn make(&self, table: &str) {
        self.service.call(Operation::CreateTable, Template::load().tables()[table].clone());
    }

    /// Makes a table of the template anew, empty and without its stream: each record of a stream takes the service as long as it has
    /// records.
    ///
    /// # Panics
    /// When the template has none.
    pub fn make_without_stream(&self, table: &str) {
        let mut definition = Template::load().tables()[table].clone();
        definition["StreamSpecification"] = json!({"StreamEnabled": false});
        self.take_away(table);
        self.service.call(Operation::CreateTable, definition);
    }

    /// All items of a table, in no order, in DynamoDB's JSON.
    ///
    /// # Panics
    /// When the table can't be scanned.
    pub fn scan(&self, table: &str) -> Vec<Value> {
        self.service.scan(table)
    }

    /// Everything that has happened to a table, as Lambda would deliver it from the table's stream.
    ///
    /// # Panics
    /// When the table has no stream.
    pub fn stream(&self, table: &str) -> StreamEvent {
        self.stream_reader(table).read_on("")
    }

    /// A reader of a table's stream that stands at its beginning.
    ///
    /// # Panics
    /// When the table has no stream.
    pub fn stream_reader(&self, table: &str) -> StreamReader {
        StreamReader::new(self.service.clone(), table)
    }
}

/// The table of accounts, and its audit log, by this client.
pub fn users_by(client: Client) -> UsersTable {
    let (audit_log, jobs) = (Table::new(client.clone(), "AuditTable"), Table::new(client.clone(), "JobsTable"));
    UsersTable::new(Table::new(client, "UsersTable"), AuditTable(audit_log), JobsTable(jobs))
}

/// Reads a stream on from where it has come to.
pub struct StreamReader {
    service: Service,
    shards: Vec<Shard>,
}

struct Shard {
    /// What `GetShardIterator` wants.
    beginning: Value,
    /// Where the last record that was read leads to; nowhere at the end of the shard.
    next: Option<Value>,
}

impl StreamReader {
    fn new(service: Service, table: &str) -> Self {
        let description = service.call(Operation::DescribeTable, json!({"TableName": table}));
        let stream = &description["Table"]["LatestStreamArn"];
        let description = service.call(Operation::DescribeStream, json!({"StreamArn": stream}));
        let shards = description["StreamDescription"]["Shards"].as_array().expect("the table has a stream");
        let beginning = |shard: &Value| {
            let id = &shard["ShardId"];
            let beginning = json!({"StreamArn": stream, "ShardId": id, "ShardIteratorType": "TRIM_HORIZON"});
            Shard { beginning, next: None }
        };
        Self { shards: shards.iter().map(beginning).collect(), service }
    }

    /// What has happened since it last read, to items whose sort key begins so: a filter as an event source mapping has it.
    ///
    /// # Panics
    /// When the stream can't be read.
    pub fn read_on(&mut self, sort_key_prefix: &str) -> StreamEvent {
        let mut records = self.shards.iter_mut().flat_map(|shard| shard.read_on(&self.service)).collect::<Vec<_>>();
        let begins_so = |record: &Value| {
            let key = record["dynamodb"]["Keys"]["sk"]["S"].as_str();
            key.is_some_and(|key| key.starts_with(sort_key_prefix))
        };
        records.retain(begins_so);
        records.iter_mut().for_each(name_as_lambda_does);
        serde_json::from_value(json!({"Records": records})).expect("records have Lambda's form")
    }
}

impl Shard {
    fn read_on(&mut self, service: &Service) -> Vec<Value> {
        let mut records = Vec::new();
        // An iterator that has met no record isn't kept: DynamoDB Local takes it for one of records that are gone as soon as
        // another table has some.
        let mut iterator = self.next.clone().unwrap_or_else(|| {
            service.call(Operation::GetShardIterator, self.beginning.clone())["ShardIterator"].take()
        });
        while !iterator.is_null() {
            let request = json!({"ShardIterator": iterator, "Limit": 1_000});
            let mut answer = service.call(Operation::GetRecords, request);
            let read = answer["Records"].as_array_mut().expect("a shard has records");
            if read.is_empty() {
                break;
            }
            records.append(read);
            iterator = answer["NextShardIterator"].take();
            self.next = Some(iterator.clone());
        }
        records
    }
}

/// Lambda writes who has deleted an item, such as TTL, in other letters than the API of streams.
fn name_as_lambda_does(record: &mut Value) {
    if let Some(identity) = record.get_mut("userIdentity").filter(|identity| identity.get("PrincipalId").is_some()) {
        *identity = json!({"principalId": identity["PrincipalId"], "type": identity["Type"]});
    }
}
