//! Which reports somebody gets by mail: `/api/workspace/reports`, and the way out of one that a mail has.

use linklet_domain::{
    ActionFilter, AuditAction, AuditFilter, AuditLog, MailChoice, ReportSubscription, UnsubscribeToken,
};

use crate::prelude::*;

const REPORTS: &str = "/api/workspace/reports";

struct Fixture {
    db: TestDynamoDb,
    account: Account,
    ada: Person,
}

impl Fixture {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let (account, ada) = (fixture::account(&db), db.register("ada").await);
        Self { db, account, ada }
    }

    /// With mail.
    async fn with_mail() -> Self {
        let fixture = Self::new().await;
        Self {
            account: Account { mails: mail_orders(&FakeQueues::start()), ..fixture::account(&fixture.db) },
            ..fixture
        }
    }

    async fn send(&self, person: &Person, method: &str, path: &str, body: &Value) -> Answer {
        let request = RequestBuilder::new(method, path).token(&person.token(Role::Viewer));
        request.json_unless_null(body).send_to(&self.account).await
    }

    async fn want(&self, person: &Person, body: &Value) -> Answer {
        self.send(person, "POST", REPORTS, body).await
    }

    async fn listed(&self, person: &Person) -> Vec<Value> {
        let list = self.send(person, "GET", REPORTS, &Value::Null).await.expecting(200).json();
        list["reports"].as_array().unwrap().clone()
    }

    /// Their intervals and tags.
    async fn wanted(&self, person: &Person) -> Vec<(String, Value)> {
        let listed = self.listed(person).await;
        listed.iter().map(|report| (report["every"].as_str().unwrap().to_owned(), report["tag"].clone())).collect()
    }
}

#[tokio::test]
async fn a_report_is_added_once_and_ends() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    assert_eq!(fixture.listed(ada).await, [Value::Null; 0]);

    let added = fixture.want(ada, &json!({"every": "week"})).await.expecting(201);
    assert_eq!(added.header("location"), "reports");
    let tagged = fixture.want(ada, &json!({"every": "month", "tag": " Launch "})).await.expecting(201).json();
    assert_eq!(tagged["tag"], "Launch");
    for (body, known) in [
        (json!({"every": "week"}), &added.json()),
        (json!({"every": "week", "tag": ""}), &added.json()),
        (json!({"every": "month", "tag": "LAUNCH"}), &tagged),
    ] {
        assert_eq!(&fixture.want(ada, &body).await.expecting(200).json(), known, "{body}");
    }
    assert_eq!(fixture.listed(ada).await, [added.json(), tagged.clone()]);

    for _ in 0..2 {
        let path = format!("{REPORTS}/{}", tagged["id"].as_str().unwrap());
        fixture.send(ada, "DELETE", &path, &Value::Null).await.expecting(204);
    }
    fixture.send(ada, "DELETE", &format!("{REPORTS}/nothing"), &Value::Null).await.expecting(204);

    assert_eq!(fixture.listed(ada).await, [added.json()]);
}

#[tokio::test]
async fn everybody_has_reports_of_their_own_in_each_workspace() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    let bob = colleague(&fixture.db, ada, "bob", Role::Viewer).await;
    let elsewhere = Person { workspace: fixture.db.register("eve").await.workspace, ..ada.clone() };

    let added = fixture.want(ada, &json!({"every": "week"})).await.expecting(201).json();
    fixture.want(&bob, &json!({"every": "month"})).await.expecting(201);
    let path = format!("{REPORTS}/{}", added["id"].as_str().unwrap());
    fixture.send(&bob, "DELETE", &path, &Value::Null).await.expecting(204);

    assert_eq!(fixture.wanted(ada).await, [("week".to_owned(), Value::Null)]);
    assert_eq!(fixture.wanted(&bob).await, [("month".to_owned(), Value::Null)]);
    let token = elsewhere.token(Role::Viewer);
    let list = RequestBuilder::new("GET", REPORTS).token(&token).send_to(&fixture.account).await.json();
    assert_eq!(list["reports"], json!([]));
}

#[tokio::test]
async fn a_body_that_names_no_report_is_refused() {
    let fixture = Fixture::new().await;
    for (body, field, sentence) in [
        (json!({}), "every", "every is required"),
        (json!({"every": "day"}), "every", "every must be week or month"),
        (json!({"every": "week", "tag": "x".repeat(51)}), "tag", "each of the tags must have 1–50 characters"),
    ] {
        let refused = fixture.want(&fixture.ada, &body).await.expecting(400).json();
        assert_eq!((&refused["field"], &refused["error"]), (&json!(field), &json!(sentence)), "{body}");
    }
    assert_eq!(fixture.listed(&fixture.ada).await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_person_gets_no_more_than_twenty_of_a_workspace() {
    let fixture = Fixture::new().await;
    for number in 0..ReportSubscription::MOST {
        fixture.want(&fixture.ada, &json!({"every": "week", "tag": format!("tag {number}")})).await.expecting(201);
    }

    let refused = fixture.want(&fixture.ada, &json!({"every": "week"})).await.expecting(409);

    assert_eq!(refused.json()["code"], "report_limit");
    fixture.want(&fixture.ada, &json!({"every": "week", "tag": "tag 7"})).await.expecting(200);
    assert_eq!(fixture.listed(&fixture.ada).await.len(), ReportSubscription::MOST);
}

#[tokio::test]
async fn an_answer_says_why_no_report_arrives() {
    let fixture = Fixture::with_mail().await;
    let (users, ada) = (fixture.db.users(), &fixture.ada);
    let why = async || fixture.want(ada, &json!({"every": "week"})).await.json()["not_mailed"].clone();

    assert_eq!(why().await, "unverified");
    users.verify_address(&ada.id, &ada.email, &an_origin(&ada.id)).await.unwrap();
    assert_eq!(why().await, Value::Null);
    let later = Timestamp::now().plus(Duration::from_secs(60));
    fixture.db.recipients().mark_undeliverable(&ada.id, &ada.email, later).await.unwrap();
    assert_eq!(why().await, "undeliverable");
    assert_eq!(fixture.listed(ada).await[0]["not_mailed"], "undeliverable");
    let without_mail = fixture::account(&fixture.db);
    let list = RequestBuilder::new("GET", REPORTS).token(&ada.token(Role::Viewer)).send_to(&without_mail).await.json();
    assert_eq!(list["reports"][0]["not_mailed"], "mail_off");
}

#[tokio::test]
async fn a_mailed_token_ends_one_report_and_the_audit_log_says_so() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    let added = fixture.want(ada, &json!({"every": "week", "tag": "launch"})).await.json();
    fixture.want(ada, &json!({"every": "month"})).await.expecting(201);
    let token = UnsubscribeToken::of(&ada.id, Timestamp::now(), &salt()).reveal().to_owned();
    let one_click = async |token: &str, report: &str| {
        let path = format!("/api/unsubscribe?token={token}&report={report}");
        RequestBuilder::new("POST", &path).form("List-Unsubscribe=One-Click").send_to(&fixture.account).await.status
    };

    assert_eq!(one_click("uns_0", added["id"].as_str().unwrap()).await, 404);
    for report in [added["id"].as_str().unwrap(), added["id"].as_str().unwrap(), "nothing"] {
        assert_eq!(one_click(&token, report).await, 204, "{report}");
    }

    assert_eq!(fixture.wanted(ada).await, [("month".to_owned(), Value::Null)]);
    assert_eq!(fixture.db.users().mail_choice(&ada.id).await.unwrap(), Some(MailChoice::Important));
    let only = Some(ActionFilter::One(AuditAction::AccountMailChanged));
    let filter = AuditFilter { action: only, ..AuditFilter::default() };
    let page = fixture.db.audit_log().list(&AuditLog::Person(ada.id), &filter, 10, None).await.unwrap();
    let steps: Vec<_> = page.items.iter().map(|entry| (entry.from.clone(), entry.to.clone())).collect();
    let told = |text: &str| Some(text.to_owned());
    assert_eq!(
        steps,
        [(told("weekly report: launch"), None), (None, told("monthly report")), (None, told("weekly report: launch"))]
    );
    let page = RequestBuilder::new("GET", "/api/unsubscribe?token=uns_0&report=week_0").send_to(&fixture.account).await;
    assert_eq!(page.header("location"), "../app#/unsubscribe?token=uns_0&report=week_0");
}
