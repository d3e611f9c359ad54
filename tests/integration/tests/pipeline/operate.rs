//! What operators' commands are answered.

use linklet_domain::{Click, Spread, Timestamp};
use linklet_dynamodb::OneTimeTokens;
use linklet_lambda::email_requests::EmailRequests;
use linklet_operate::{Operate, OperateError, People};
use linklet_test_support::{FakeQueues, LinkBuilder, TestDynamoDb, click_event, in_role_of, users_by};
use serde_json::{Value, json};

use crate::fixture::operate;

fn order(command: &Value) -> Value {
    json!({"operator": "arn:aws:sts::123456789012:assumed-role/operator/ada", "command": command})
}

async fn answered(operate: &Operate, event: Value) -> Value {
    serde_json::to_value(in_role_of::<Operate, _>(operate.answer(event)).await.unwrap()).unwrap()
}

#[tokio::test]
async fn what_is_no_command_is_refused_with_what_is_wrong() {
    let operate = operate(&TestDynamoDb::start(), &FakeQueues::start());
    let invite = |arguments: Value| order(&json!({"invite": arguments}));

    for (event, expected) in [
        (json!("invite"), "invalid type: string"),
        (json!({"command": {"invite": {"email": "ada@example.com"}}}), "missing field `operator`"),
        (json!({"operator": "ada"}), "missing field `command`"),
        (
            order(&json!({"promote": {"email": "ada@example.com"}})),
            "unknown variant `promote`, expected one of `invite`",
        ),
        (invite(json!({"email": "ada@example.com", "role": "admin"})), "unknown field `role`"),
        (invite(json!({"email": 7})), "invalid type: integer"),
        (invite(json!({"email": "ada"})), "email format is invalid"),
        (order(&json!({"reset": {"email": "ada@example.com"}})), "missing field `reclaim`"),
        (order(&json!({"reconcile": {"code": "la unch", "repair": false}})), "code"),
    ] {
        let answer = answered(&operate, event.clone()).await;
        assert!(answer["refusal"].as_str().unwrap().contains(expected), "{event}: {answer}");
    }
}

#[tokio::test]
async fn what_the_operator_can_act_on_is_a_refusal() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let ada = db.register("ada").await;
    let nobody = json!({"email": "nobody@example.com", "reclaim": false});

    for (command, expected) in [
        (json!({"invite": {"email": ada.email}}), "somebody has registered with this address already"),
        (json!({"reset": nobody}), "nobody has registered with this address"),
        (json!({"close-account": {"email": "nobody@example.com"}}), "nobody has registered with this address"),
        (json!({"reconcile": {"code": "launch", "repair": true}}), "no link has this code"),
    ] {
        let answer = answered(&operate(&db, &queues), order(&command)).await;
        assert_eq!(answer, json!({"refusal": expected}), "{command}");
    }
}

#[tokio::test]
async fn a_difference_needs_repair_until_somebody_repairs_it() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&LinkBuilder::new("launch").build()).await;
    let reconcile = async |repair: bool| {
        answered(&operate(&db, &queues), order(&json!({"reconcile": {"code": "launch", "repair": repair}}))).await
    };
    let ends = |answer: &Value, expected: &str| answer["text"].as_str().unwrap().ends_with(expected);

    let clean = reconcile(false).await;
    let click = Click::from_event(click_event("launch", Timestamp::now())).unwrap();
    db.clicks().record(&click, Spread::Narrow).await.unwrap();
    let (different, repaired) = (reconcile(false).await, reconcile(true).await);

    assert!(clean["needs_repair"] == false && ends(&clean, "\nEverything is counted."), "{clean}");
    assert!(different["needs_repair"] == true && ends(&different, "\nTotal: 0 counted, 0 recounted."), "{different}");
    assert!(repaired["needs_repair"] == false && ends(&repaired, "Look again in a minute."), "{repaired}");
    assert_eq!(queues.bodies("analytics").len(), 1);
}

#[tokio::test]
async fn a_table_that_cannot_be_used_is_a_failure() {
    let client = TestDynamoDb::unreachable();
    let people = People {
        users: users_by(client),
        tokens: OneTimeTokens(TestDynamoDb::unreachable_table("UsersTable")),
        mails: EmailRequests::default(),
    };
    let operate = Operate { people, ..operate(&TestDynamoDb::start(), &FakeQueues::start()) };

    let failed = operate.answer(order(&json!({"invite": {"email": "ada@example.com"}}))).await;

    assert!(matches!(failed, Err(OperateError::Table(_))), "{failed:?}");
}
