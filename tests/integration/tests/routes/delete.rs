use linklet_delete::Delete;
use linklet_domain::{LinkState, Role};
use linklet_test_support::{Answer, LinkBuilder, RequestBuilder, TestDynamoDb, authenticator, token_of};

use crate::fixture::with_link;

struct Fixture {
    db: TestDynamoDb,
    delete: Delete,
    token: String,
}

impl Fixture {
    /// One link, `launch`, and its owner's token.
    async fn new() -> Self {
        let (db, link) = with_link(LinkBuilder::new("launch")).await;
        let delete = crate::fixture::delete(&db, authenticator());
        Self { db, delete, token: token_of(&link.identity.owner, &link.identity.workspace, Role::Member) }
    }

    async fn delete(&self, code: &str) -> Answer {
        let request = RequestBuilder::new("DELETE", &format!("/api/urls/{code}"));
        request.token(&self.token).send_to(&self.delete).await
    }
}

#[tokio::test]
async fn its_creator_deletes_a_link_and_may_repeat_it() {
    let fixture = Fixture::new().await;

    let (first, second) = (fixture.delete("launch").await, fixture.delete("launch").await);

    assert_eq!((first.status, second.status), (204, 204));
    assert_eq!(first.body, "");
    assert!(matches!(fixture.db.link("launch").await.availability.state, LinkState::Deleted(_)));
}

#[tokio::test]
async fn an_unknown_or_impossible_code_is_404() {
    let fixture = Fixture::new().await;

    for code in ["unknown", "x", "no-code", "ünïcode"] {
        assert_eq!(fixture.delete(code).await.problem(), (404, "not found".into()), "{code}");
    }
}
