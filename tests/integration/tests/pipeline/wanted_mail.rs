//! Which notifications are mailed, and to whom nothing is mailed any more.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lambda_events::sqs::SqsEvent;
use linklet_account::Account;
use linklet_auth::Auth;
use linklet_domain::{
    AccountChange, Changer, EmailAddress, EmailRequest, EmailRequestId, Event, EventDetail, JobFinished, JobId,
    JobState, LinkEvent, MailChoice, MailLimit, NotificationStatus, RequestedEmail, Role, TargetUp, Timestamp,
    UrlDeleted, UrlExhausted, UserId, WorkspaceName,
};
use linklet_dynamodb::Recipients;
use linklet_lambda::batch::Consumer;
use linklet_notify::{CLAIMED_FOR, Notify};
use linklet_test_support::{
    Answer, FakeNotifiers, FakeQueues, Fault, Faults, Person, RequestBuilder, TestDynamoDb, an_origin, an_origin_at,
    event_batch, in_role_of, issuer, link_id, message_batch, queue_batch, token_for, token_without_workspace, tokens,
};
use serde_json::{Value, json};

use super::notify::{milestone, of, target_down};
use crate::fixture::{self, url_created};

const PASSWORD: &str = "correct horse battery";

/// Ada, who has confirmed her address, and what mails her.
struct Post {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    now: Arc<Mutex<Timestamp>>,
    ada: Person,
}

impl Post {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let ada = verified_before(&db, "ada").await;
        let now = Arc::new(Mutex::new(Timestamp::now()));
        Self { db, queues: FakeQueues::start(), outside: FakeNotifiers::start(), now, ada }
    }

    fn notify(&self) -> Notify {
        let now = self.now.clone();
        Notify {
            clock: Box::new(move || *now.lock().unwrap()),
            ..fixture::notify(&self.db, &self.queues, &self.outside, true)
        }
    }

    /// Delivers messages, and says how many have to come again.
    async fn deliver(&self, batch: SqsEvent) -> usize {
        let notify = self.notify();
        in_role_of::<Notify, _>(notify.consume(batch)).await.batch_item_failures.len()
    }

    async fn tell(&self, event: &Event) -> usize {
        self.deliver(event_batch(std::slice::from_ref(event))).await
    }

    async fn order(&self, mail: RequestedEmail) -> usize {
        self.deliver(message_batch(&[ordered(mail)])).await
    }

    /// Lets this time pass.
    fn wait(&self, time: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.plus(time);
    }

    async fn is_undeliverable(&self) -> bool {
        let profile = self.db.users().profile(&self.ada.id, Timestamp::now()).await.unwrap();
        profile.unwrap().undeliverable_at.is_some()
    }

    async fn unsubscribe(&self, token: &str) -> Answer {
        let account = fixture::account(&self.db);
        let one_click = RequestBuilder::new("POST", &format!("/api/unsubscribe?token={token}"));
        one_click.form("List-Unsubscribe=One-Click").send_to(&account).await
    }
}

/// Somebody who has confirmed their address an hour before anything else happens.
async fn verified_before(db: &TestDynamoDb, name: &str) -> Person {
    let person = db.register(name).await;
    let origin = an_origin_at(&person.id, Timestamp::now().minus(Duration::from_secs(60 * 60)));
    db.users().verify_address(&person.id, &person.email, &origin).await.unwrap();
    person
}

fn ordered(mail: RequestedEmail) -> EmailRequest {
    let (order_id, correlation_id) = (EmailRequestId::generate(), fixture::correlation());
    EmailRequest { order_id, ordered_at: Timestamp::now(), correlation_id, mail }
}

fn job_finished(person: &Person, tag: &str) -> Event {
    let work = json!({"kind": "rename_tag", "from": tag, "to": "b", "filter": {"all": true}});
    let finished = JobFinished {
        job_id: JobId::generate(),
        user_id: person.id,
        by: Changer::in_person(&person.id),
        work: serde_json::from_value(work).unwrap(),
        state: JobState::Done,
        changed: 5,
        failed: 0,
        reason: None,
    };
    of(person, EventDetail::JobFinished(Box::new(finished)))
}

/// An event of each kind that people are told about, and whether it is important.
fn all_events(person: &Person) -> Vec<(Event, bool)> {
    let (link, user_id, url) = (link_id("launch"), person.id, "https://example.com/win?a=prize#now");
    let deleted = UrlDeleted {
        link: link.clone(),
        original_url: url.parse().unwrap(),
        user_id,
        deleted_by: user_id,
        by: None,
        watched_target: None,
    };
    let up = TargetUp {
        target_id: "t_0000000000000000000007".parse().unwrap(),
        url: url.parse().unwrap(),
        user_id,
        down_since: Timestamp::now(),
    };
    let exhausted = UrlExhausted { link: link.clone(), user_id, max_clicks: 5.try_into().unwrap() };
    let event = || LinkEvent { link: link.clone(), user_id, by: None, watched_target: None };
    vec![
        (url_created(person), false),
        (of(person, EventDetail::UrlDeleted(deleted)), false),
        (of(person, EventDetail::UrlPurged(event())), false),
        (milestone(person), true),
        (target_down(person), true),
        (of(person, EventDetail::TargetUp(up)), true),
        (of(person, EventDetail::UrlExpired(event())), true),
        (of(person, EventDetail::UrlExhausted(exhausted)), true),
        (job_finished(person, "a"), true),
    ]
}

#[tokio::test]
async fn people_get_the_notifications_by_mail_that_they_want() {
    for choice in [None, Some(MailChoice::None), Some(MailChoice::Important), Some(MailChoice::All)] {
        let post = Post::new().await;
        if let Some(choice) = choice {
            assert!(post.db.users().choose_mail(&post.ada.id, choice, &an_origin(&post.ada.id)).await.unwrap());
        }
        for (event, is_important) in all_events(&post.ada) {
            let before = post.outside.mails().len();
            assert_eq!(post.tell(&event).await, 0);

            let is_mailed = match choice {
                Some(MailChoice::None) => false,
                None | Some(MailChoice::Important) => is_important,
                Some(MailChoice::All) => true,
            };
            let mails = post.outside.mails().len() - before;
            assert_eq!(mails, usize::from(is_mailed), "{} with {choice:?}", event.event_type());
        }
        let stored = post.db.notifications().list(&post.ada.id, &[], 100, None).await.unwrap().page.items;
        assert_eq!(stored.len(), 9, "all are in the application");
        assert!(stored.iter().all(|notification| notification.status == NotificationStatus::Sent));
    }
}

#[tokio::test]
async fn what_is_changed_of_an_account_is_mailed_whatever_somebody_wants() {
    let post = Post::new().await;
    post.db.users().choose_mail(&post.ada.id, MailChoice::None, &an_origin(&post.ada.id)).await.unwrap();

    let change = RequestedEmail::AccountChange { user_id: post.ada.id, change: AccountChange::PasswordChanged };
    assert_eq!(post.order(change).await, 0);

    assert_eq!(post.outside.subjects(), ["Your password was changed"]);
    let headers = post.outside.mails()[0].pointer("/Content/Simple/Headers").cloned();
    assert_eq!(headers, None, "there is nothing to unsubscribe from");
}

#[tokio::test]
async fn a_notification_brings_what_ends_such_mails_with_one_click() {
    let post = Post::new().await;
    post.tell(&milestone(&post.ada)).await;

    let mail = post.outside.mails().remove(0);
    let headers = mail.pointer("/Content/Simple/Headers").unwrap();
    assert_eq!(headers[0]["Name"], "List-Unsubscribe");
    assert_eq!(headers[1], json!({"Name": "List-Unsubscribe-Post", "Value": "List-Unsubscribe=One-Click"}));
    let url = headers[0]["Value"].as_str().unwrap();
    let token = url.strip_prefix("<https://go.example.com/api/unsubscribe?token=").unwrap().strip_suffix('>').unwrap();
    let page = format!("https://go.example.com/app#/unsubscribe?token={token}");
    let (text, html) = (post.outside.texts().remove(0), post.outside.htmls().remove(0));
    assert!(text.contains(&page) && html.contains(&page), "{text}");
    assert_eq!([post.unsubscribe(token).await.status, post.unsubscribe(token).await.status], [204, 204]);

    post.tell(&target_down(&post.ada)).await;
    post.order(RequestedEmail::AccountChange { user_id: post.ada.id, change: AccountChange::SessionsEnded }).await;

    assert_eq!(post.outside.subjects(), ["Your short link reached a milestone", "You're signed out everywhere"]);
}

/// Each message comes twice. Of the last mail that there may be, the first try fails.
#[tokio::test]
async fn a_person_gets_twenty_mails_an_hour_and_the_last_says_so() {
    const LAST: &str = "This is the 20th email like this within an hour.";
    let post = Post::new().await;
    let (most, events) = (20, (0..23).map(|_| target_down(&post.ada)).collect::<Vec<_>>());
    for (number, event) in (1..).zip(&events) {
        post.outside.refuse_mail(number == most);
        let failed = post.tell(event).await;
        post.outside.refuse_mail(false);
        assert_eq!(failed, usize::from(number == most), "{number}");
        post.wait(if number == most { CLAIMED_FOR } else { Duration::ZERO });
        assert_eq!(post.tell(event).await, 0, "{number}");
    }

    let texts = post.outside.texts();
    assert_eq!(texts.len(), most);
    let last: Vec<_> = texts.iter().map(|text| text.contains(LAST)).collect();
    assert_eq!(last.iter().filter(|is_last| **is_last).count(), 1);
    assert!(last[most - 1] && post.outside.htmls()[most - 1].contains(LAST), "{}", texts[most - 1]);
    let stored = post.db.notifications().list(&post.ada.id, &[], 100, None).await.unwrap().page.items;
    assert_eq!(stored.iter().filter(|its| its.status == NotificationStatus::Sent).count(), events.len());

    // Others have their own count, and so has what concerns the account.
    let bob = post.db.register_verified("bob").await;
    post.tell(&milestone(&bob)).await;
    post.order(RequestedEmail::AccountChange { user_id: post.ada.id, change: AccountChange::PasswordChanged }).await;
    assert_eq!(post.outside.mails().len(), most + 2);
    post.wait(MailLimit::WINDOW);
    post.tell(&target_down(&post.ada)).await;
    assert_eq!(post.outside.mails().len(), most + 3, "an hour later");
}

// ---------------------------------------------------------------------------------------------- bounces and complaints

/// What SES publishes, with what is different about it.
fn feedback(user: &UserId, email: &EmailAddress, change: &Value) -> String {
    let mut event = json!({
        "eventType": "Bounce",
        "bounce": {
            "feedbackId": "0100016f-1",
            "bounceType": "Permanent",
            "bounceSubType": "General",
            "bouncedRecipients": [
                {"emailAddress": email, "action": "failed", "status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 user unknown"},
            ],
            "timestamp": Timestamp::now().to_string(),
            "reportingMTA": "dsn; mx.example.com",
        },
        "mail": {
            "timestamp": Timestamp::now().to_string(),
            "source": "links@example.com",
            "sendingAccountId": "123456789012",
            "messageId": "0100016f-2",
            "destination": [email],
            "headersTruncated": false,
            "headers": [{"name": "Subject", "value": "Your short link reached a milestone"}],
            "commonHeaders": {"to": [email]},
            "tags": {"ses:configuration-set": ["linklet"], "kind": ["notification"], "user": [user]},
        },
    });
    for (pointer, value) in change.as_object().unwrap() {
        *event.pointer_mut(pointer).unwrap() = value.clone();
    }
    event.to_string()
}

fn bounce_of(person: &Person) -> String {
    feedback(&person.id, &person.email, &json!({}))
}

#[tokio::test]
async fn an_undeliverable_address_gets_only_requested_mail_until_verified_again() {
    let post = Post::new().await;
    let bounced = bounce_of(&post.ada);
    let change = || RequestedEmail::AccountChange { user_id: post.ada.id, change: AccountChange::PasswordChanged };
    let email = || post.ada.email.clone();

    assert_eq!(post.deliver(queue_batch(&[bounced.clone(), bounced.clone()])).await, 0);
    assert!(post.is_undeliverable().await);
    let marked = post.db.scan("UsersTable");
    assert_eq!(post.deliver(queue_batch(std::slice::from_ref(&bounced))).await, 0);
    assert_eq!(post.db.scan("UsersTable"), marked, "the same event again changes nothing");
    let entries = post.db.scan("AuditTable");
    let said = |entry: &&Value| entry.to_string().contains("account.undeliverable");
    assert_eq!(entries.iter().filter(said).count(), 1, "{entries:?}");

    post.tell(&milestone(&post.ada)).await;
    post.order(change()).await;
    assert!(post.outside.subjects().is_empty());
    post.order(RequestedEmail::PasswordReset { email: email() }).await;
    post.order(RequestedEmail::Verification { email: email() }).await;
    assert_eq!(post.outside.subjects(), ["Set a new password", "Confirm your email address"]);

    let token = post.outside.texts()[1].lines().find(|line| line.starts_with("vrf_")).unwrap().to_owned();
    let auth = Auth::new(post.db.users(), tokens(), issuer(), fixture::limits(&post.db));
    let verify = RequestBuilder::new("POST", "/api/auth/verify").json(&json!({"token": token}));
    let session = token_without_workspace(&post.ada);
    verify.token(&session).send_to(&auth).await.expecting(204);

    assert!(!post.is_undeliverable().await);
    // A queue may deliver it once more, days later.
    assert_eq!(post.deliver(queue_batch(&[bounced])).await, 0);
    assert!(!post.is_undeliverable().await);
    post.tell(&target_down(&post.ada)).await;
    post.order(change()).await;
    assert_eq!(post.outside.subjects()[2..], ["A monitored URL is down", "Your password was changed"]);
}

#[tokio::test]
async fn a_new_password_by_a_mailed_token_shows_that_mails_get_there() {
    let post = Post::new().await;
    post.deliver(queue_batch(&[bounce_of(&post.ada)])).await;
    post.order(RequestedEmail::PasswordReset { email: post.ada.email.clone() }).await;
    let token = post.outside.texts()[0].lines().find(|line| line.starts_with("rst_")).unwrap().to_owned();

    let auth = Auth::new(post.db.users(), tokens(), issuer(), fixture::limits(&post.db));
    let reset = RequestBuilder::new("POST", "/api/auth/password/reset");
    reset.json(&json!({"token": token, "password": PASSWORD})).send_to(&auth).await.expecting(204);

    assert!(!post.is_undeliverable().await);
}

#[tokio::test]
async fn a_complaint_ends_mails_as_well() {
    let post = Post::new().await;
    let complaint = json!({"complaintFeedbackType": "abuse", "timestamp": Timestamp::now().to_string()});
    let mut event: Value = serde_json::from_str(&bounce_of(&post.ada)).unwrap();
    event["eventType"] = json!("Complaint");
    event.as_object_mut().unwrap().remove("bounce");
    event["complaint"] = complaint;

    assert_eq!(post.deliver(queue_batch(&[event.to_string()])).await, 0);

    assert!(post.is_undeliverable().await);
    assert!(post.queues.bodies("dlq").is_empty());
}

#[tokio::test]
async fn what_says_nothing_about_somebodys_address_of_today_changes_nothing() {
    let post = Post::new().await;
    let ada = &post.ada;
    let before = post.db.scan("UsersTable");
    let other = EmailAddress::parse("ada@before.example").unwrap();
    let events = [
        feedback(&ada.id, &ada.email, &json!({"/bounce/bounceType": "Transient"})),
        feedback(&ada.id, &ada.email, &json!({"/bounce/bounceType": "Undetermined"})),
        feedback(&ada.id, &ada.email, &json!({"/eventType": "Delivery", "/bounce": null})),
        feedback(&ada.id, &ada.email, &json!({"/mail/tags": {"kind": ["invitation"]}})),
        feedback(&ada.id, &other, &json!({})),
        feedback(&UserId::generate(), &ada.email, &json!({})),
        feedback(&ada.id, &ada.email, &json!({"/mail/timestamp": "2020-01-01T00:00:00.000Z"})),
    ];

    for event in events {
        assert_eq!(post.deliver(queue_batch(std::slice::from_ref(&event))).await, 0, "{event}");
        assert_eq!(post.db.scan("UsersTable"), before, "{event}");
    }
    assert!(post.queues.bodies("dlq").is_empty());
}

#[tokio::test]
async fn a_message_of_the_topic_that_is_none_of_ses_is_parked() {
    let post = Post::new().await;
    let bounce = bounce_of(&post.ada);
    let messages = [
        json!({"Type": "SubscriptionConfirmation", "Token": "2336412f37", "SubscribeURL": "https://sns.eu-central-1.amazonaws.com/"})
            .to_string(),
        // Without raw delivery.
        json!({"Type": "Notification", "Message": bounce}).to_string(),
        json!({"eventType": "Bounce", "mail": {"messageId": "1", "destination": [post.ada.email]}, "bounce": {}}).to_string(),
        "Successfully validated SNS topic for Amazon SES event publishing.".to_owned(),
    ];

    assert_eq!(post.deliver(queue_batch(&messages)).await, 0);

    assert_eq!(post.queues.bodies("dlq").len(), messages.len());
    assert!(!post.is_undeliverable().await);
}

#[tokio::test]
async fn a_failed_mark_of_a_bounced_address_succeeds_at_redelivery() {
    let (post, faults) = (Post::new().await, Faults::default());
    let bounced = queue_batch(&[bounce_of(&post.ada)]);
    let mut notify = post.notify();
    notify.people = Recipients(post.db.table_with(faults.clone(), "UsersTable"));
    faults.plan(Some((0, Fault::NotSent)));

    let failed = notify.consume(bounced.clone()).await.batch_item_failures.len();
    let unmarked = post.is_undeliverable().await;

    assert_eq!((failed, unmarked), (1, false));
    assert_eq!(post.deliver(bounced).await, 0);
    assert!(post.is_undeliverable().await);
}

#[tokio::test]
async fn whoever_is_invited_at_an_address_where_mail_came_back_gets_none() {
    let post = Post::new().await;
    let bob = verified_before(&post.db, "bob").await;
    post.deliver(queue_batch(&[bounce_of(&bob)])).await;
    let account = Account { mails: fixture::mail_orders(&post.queues), ..fixture::account(&post.db) };
    for email in [bob.email.as_str(), "carol@example.com"] {
        let invite = RequestBuilder::new("POST", "/api/workspace/invitations").json(&json!({"email": email}));
        let admin = post.ada.token(Role::Admin);
        assert_eq!(invite.token(&admin).send_to(&account).await.status, 201);
    }

    assert_eq!(post.deliver(queue_batch(&post.queues.bodies("notify"))).await, 0);

    assert_eq!(post.outside.recipients(), ["carol@example.com"]);
    let list = RequestBuilder::new("GET", "/api/workspace/invitations").token(&post.ada.token(Role::Admin));
    let listed = list.send_to(&account).await.json();
    for invitation in listed["invitations"].as_array().unwrap() {
        assert_eq!(invitation["not_mailed"], Value::Null, "that would tell that there is an account");
    }
}

// ----------------------------------------------------------------------------------------------------------- the mails

#[tokio::test]
async fn ses_learns_whose_mail_it_is_and_where_bounces_go() {
    let post = Post::new().await;
    let mut notify = post.notify();
    notify.mailer = notify.mailer.map(|mailer| mailer.with_configuration_set(Some("linklet".to_owned())));

    notify.consume(event_batch(&[milestone(&post.ada)])).await;

    let mail = post.outside.mails().remove(0);
    assert_eq!(mail["ConfigurationSetName"], "linklet");
    let tags = json!([{"Name": "kind", "Value": "notification"}, {"Name": "user", "Value": post.ada.id}]);
    assert_eq!(mail["EmailTags"], tags);
}

/// What people write themselves is in names of workspaces and tags. No mail has another link than to the application.
#[tokio::test]
async fn nothing_that_people_write_is_more_than_text_in_a_mail() {
    const HOSTILE: &str = "\"><img src=x onerror=alert(1)>";
    let post = Post::new().await;
    let ada = &post.ada;
    let workspace_name = WorkspaceName::parse("<a href='https://evil.example'>Win</a> & more").unwrap();
    let change = AccountChange::Joined { workspace_name, role: Role::Member };
    post.db.users().choose_mail(&ada.id, MailChoice::All, &an_origin(&ada.id)).await.unwrap();

    post.tell(&job_finished(ada, HOSTILE)).await;
    for (event, _) in all_events(ada) {
        post.tell(&event).await;
    }
    post.order(RequestedEmail::AccountChange { user_id: ada.id, change }).await;
    post.order(RequestedEmail::PasswordReset { email: ada.email.clone() }).await;

    let htmls = post.outside.htmls();
    assert_eq!(htmls.len(), 12);
    assert!(htmls[0].contains("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"), "{}", htmls[0]);
    for html in htmls {
        let element = |rest: &'_ str| rest.split([' ', '>', '\n']).next().unwrap().trim_matches('/').to_owned();
        let elements: BTreeSet<_> = html.split('<').skip(1).map(element).collect();
        let expected = ["!doctype", "a", "body", "div", "head", "html", "meta", "p", "title"];
        assert!(elements.iter().all(|element| expected.contains(&element.as_str())), "{elements:?} in {html}");
        for link in html.split("href=\"").skip(1) {
            assert!(link.starts_with("https://go.example.com/app#/"), "{link}");
        }
        assert!(!html.contains("evil.example"), "{html}");
    }
    for text in post.outside.texts() {
        assert!(["/win", "prize", "/sale"].iter().all(|part| !text.contains(part)), "of a URL, only its host: {text}");
    }
}

#[tokio::test]
async fn a_token_of_somebody_without_an_account_chooses_nothing() {
    let post = Post::new().await;
    let account = fixture::account(&post.db);
    let stranger = token_for(&post.ada.workspace, Role::Admin);

    let patch = RequestBuilder::new("PATCH", "/api/me/notifications").json(&json!({"mail": "none"}));
    patch.token(&stranger).send_to(&account).await.expecting(401);

    assert_eq!(post.db.users().mail_choice(&post.ada.id).await.unwrap(), Some(MailChoice::Important));
}
