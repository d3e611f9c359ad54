//! What operators do on behalf of people who can't sign in: exporting what is stored about them, and ending their account.

use linklet_lambda::http::Invocation;
use serde_json::value::RawValue;

use super::*;

async fn carried_out(leave: &Leave, command: &Value) -> Value {
    let order = json!({"operator": "arn:aws:sts::123456789012:assumed-role/operator/ada", "command": command});
    let answer = linklet_test_support::in_role_of::<Leave, _>(leave.carry_out(order)).await;
    serde_json::to_value(answer.unwrap()).unwrap()
}

async fn forget(leave: &Leave, email: &str) -> Value {
    carried_out(leave, &json!({"forget": {"email": email}})).await
}

impl Fixture {
    /// All pages that an operator gets.
    async fn exported(&self, email: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), Value::Null);
        loop {
            let page = carried_out(&self.leave, &json!({"export": {"email": email, "after": after}})).await;
            items.extend(page["items"].as_array().unwrap_or_else(|| panic!("{page}")).clone());
            after = page["next_cursor"].clone();
            if after.is_null() {
                return items;
            }
        }
    }

    async fn bar(&self, email: &str) {
        let order = json!({"operator": "ada", "command": {"close-account": {"email": email}}});
        fixture::operate(&self.db, &self.queues).answer(order).await.unwrap();
    }

    /// Requires that nothing is left of somebody but what is kept, and that others can have their address.
    async fn require_forgotten(&self, user: &User) {
        self.finish().await;
        let traces = self.traces_of(user);
        assert!(traces.iter().all(|one| KEPT.iter().any(|kept| one.starts_with(kept))), "{traces:?}");
        assert_ne!(self.user("ada").await.id, user.id, "the address is free");
    }
}

/// Without the entries that an operator's exports leave.
fn without_exports(mut items: Vec<Value>) -> (Vec<Value>, usize) {
    let all = items.len();
    items.retain(|item| item["action"] != "account.exported");
    let exports = all - items.len();
    (items, exports)
}

#[tokio::test]
async fn an_operator_exports_what_the_person_would_and_their_log_says_so() {
    let fixture = Fixture::new();
    let (ada, bob) = fixture.ada_with_links_at_bobs().await;
    for number in 0..150 {
        let link = LinkBuilder::new(&format!("code{number}")).in_workspace(&bob.workspace).owned_by(&ada.id).build();
        fixture.db.store(&link).await;
    }
    let own = fixture.export(&ada.token).await;

    let (exported, entries) = without_exports(fixture.exported(&ada.email).await);

    assert_eq!((exported, entries), (own, 1));
    let (_, entries) = without_exports(fixture.export(&ada.token).await);
    assert_eq!(entries, 1, "however many pages there are");
    let log = fixture.export(&ada.token).await;
    let entry = log.iter().find(|item| item["action"] == "account.exported").unwrap();
    assert_eq!((&entry["actor"]["kind"], &entry["subject"]["id"]), (&json!("operator"), &json!(ada.id)));
}

#[tokio::test]
async fn what_an_operator_can_act_on_is_a_refusal() {
    let fixture = Fixture::new();
    let ada = fixture.user("ada").await;
    let nobody = "nobody has registered with this address";

    for (command, expected) in [
        (json!({"export": {"email": "nobody@example.com", "after": null}}), nobody),
        (json!({"forget": {"email": "nobody@example.com"}}), nobody),
        (json!({"export": {"email": ada.email, "after": "nothing"}}), "after must be the next_cursor of a page"),
        (json!({"forget": {"email": "ada"}}), "email format is invalid"),
        (json!({"forget": {"email": ada.email, "after": null}}), "unknown field `after`"),
        (json!({"promote": {"email": ada.email}}), "unknown variant `promote`"),
    ] {
        let answer = carried_out(&fixture.leave, &command).await;
        assert!(answer["refusal"].as_str().is_some_and(|why| why.contains(expected)), "{command}: {answer}");
    }
}

#[tokio::test]
async fn a_barred_account_is_exported_and_forgotten_as_well() {
    let fixture = Fixture::new();
    let ada = fixture.user("ada").await;
    fixture.bar(&ada.email).await;
    assert!(!fixture.db.users().begin_leaving(&ada.id, Timestamp::now()).await.unwrap(), "the person can't");

    let exported = fixture.exported(&ada.email).await;
    let forgotten = forget(&fixture.leave, &ada.email).await;

    assert_eq!((&exported[0]["kind"], &exported[0]["email"]), (&json!("account"), &json!(ada.email)));
    assert!(forgotten["text"].is_string(), "{forgotten}");
    fixture.require_forgotten(&ada).await;
}

#[tokio::test]
async fn forgetting_leaves_shared_workspaces_closes_own_ones_and_says_which() {
    let fixture = Fixture::new();
    let (ada, bob) = fixture.ada_with_links_at_bobs().await;
    let (own, common) = (fixture.slug(&ada.workspace).await, fixture.slug(&bob.workspace).await);

    let forgotten = forget(&fixture.leave, &ada.email).await;
    let repeated = forget(&fixture.leave, &ada.email).await;

    let text = forgotten["text"].as_str().unwrap_or_else(|| panic!("{forgotten}"));
    let (left, closed) = text.split_once("Closed for good, and purged after ").unwrap();
    assert!(left.contains(&format!("\n{common} (")) && closed.contains(&format!("\n{own} (")), "{text}");
    assert!(repeated["refusal"].as_str().is_some_and(|why| why.ends_with("or not any more")), "{repeated}");
    assert_eq!(fixture.me(&ada.token).await.status, 401);
    let entries = fixture.db.scan("AuditTable").into_iter();
    let mut ends = entries.filter(|entry| entry["action"]["S"] == "account.closed");
    assert!(ends.all(|entry| entry["actor"]["S"] == "operator"));
    fixture.require_forgotten(&ada).await;
    assert_eq!(fixture.db.link("common").await.identity.owner, bob.id);
}

#[tokio::test]
async fn the_last_admin_of_others_is_not_forgotten_and_keeps_all() {
    let (fixture, ada, bob) = with_two().await;
    fixture.join(&ada, &bob, Role::Member).await;
    let name = fixture.db.users().workspace(&ada.workspace).await.unwrap().unwrap().name;

    let refused = forget(&fixture.leave, &ada.email).await;

    let named = format!("last admin of the workspace {name} ({})", ada.workspace);
    assert!(refused["refusal"].as_str().is_some_and(|why| why.contains(&named)), "{refused}");
    assert_eq!(fixture.me(&ada.token).await.status, 200);
    assert_eq!(fixture.found(&ada.token).await.status, 201);
}

/// Each call fails, and all after it, from the first one on; then the operator does it again.
#[tokio::test]
async fn forgetting_goes_on_where_an_earlier_command_died() {
    let (mut call, mut was_hit) = (0, true);
    while was_hit {
        let fixture = Fixture::new();
        let (ada, bob) = fixture.ada_with_links_at_bobs().await;
        let faults = Faults::default();
        let cut_off = Leave { users: users_by(fixture.db.client_with(faults.clone())), ..leave(&fixture.db) };

        faults.plan_all((call..call + 100).map(|call| (call, Fault::AnswerLost)));
        let order = json!({"operator": "ada", "command": {"forget": {"email": ada.email}}});
        let died = cut_off.carry_out(order).await;
        was_hit = faults.calls() > call;
        if was_hit {
            assert!(died.is_err(), "{call}: {died:?}");
            forget(&fixture.leave, &ada.email).await;
        }

        fixture.require_forgotten(&ada).await;
        assert_eq!(fixture.db.link("common").await.identity.owner, bob.id, "{call}");
        call += 1;
    }
    assert!(call > 10, "{call}");
}

#[test]
fn a_sample_of_a_request_is_one_and_that_of_a_command_is_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions/leave/events");
    let mut commands = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let event = RawValue::from_string(fs::read_to_string(&path).unwrap()).unwrap();
        let is_command = path.file_name().unwrap().to_str().unwrap().starts_with("operator-");
        commands += usize::from(is_command);
        let invocation = Invocation::of(&event).unwrap();
        assert_eq!(matches!(invocation, Invocation::Command(_)), is_command, "{path:?}");
    }
    assert_eq!(commands, 2);
}
