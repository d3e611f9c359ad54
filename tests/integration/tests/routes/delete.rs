use linklet_delete::Delete;
use linklet_domain::{LinkState, Role, UserId, WorkspaceId};
use linklet_dynamodb::LinksTable;
use linklet_test_support::{Answer, LinkBuilder, RequestBuilder, TestDynamoDb, authenticator, token_of};

struct Fixture {
    db: TestDynamoDb,
    delete: Delete,
    workspace: WorkspaceId,
    owner: UserId,
}

impl Fixture {
    /// One link, `launch`, in a workspace.
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let (workspace, owner) = (WorkspaceId::generate(), UserId::generate());
        let link = LinkBuilder::new("launch").in_workspace(&workspace).owned_by(&owner).build();
        db.store(&link).await;
        let delete = crate::fixture::delete(&db, authenticator());
        Self { db, delete, workspace, owner }
    }

    async fn delete(&self, code: &str, user: &UserId, workspace: &WorkspaceId, role: Role) -> Answer {
        let token = token_of(user, workspace, role);
        RequestBuilder::new("DELETE", &format!("/api/urls/{code}")).token(&token).send_to(&self.delete).await
    }

    async fn is_deleted(&self) -> bool {
        matches!(self.db.link("launch").await.availability.state, LinkState::Deleted(_))
    }
}

#[tokio::test]
async fn its_creator_deletes_a_link_and_may_repeat_it() {
    let fixture = Fixture::new().await;

    let first = fixture.delete("launch", &fixture.owner, &fixture.workspace, Role::Member).await;
    let second = fixture.delete("launch", &fixture.owner, &fixture.workspace, Role::Member).await;

    assert_eq!((first.status, second.status), (204, 204));
    assert_eq!(first.body, "");
    assert!(fixture.is_deleted().await);
}

#[tokio::test]
async fn an_admin_deletes_anybodys_link_in_the_workspace() {
    let fixture = Fixture::new().await;

    let answer = fixture.delete("launch", &UserId::generate(), &fixture.workspace, Role::Admin).await;

    assert_eq!(answer.status, 204);
    assert!(fixture.is_deleted().await);
}

#[tokio::test]
async fn nobody_else_does() {
    let fixture = Fixture::new().await;
    let stranger = UserId::generate();
    let elsewhere = WorkspaceId::generate();

    let colleague = fixture.delete("launch", &stranger, &fixture.workspace, Role::Member).await;
    let other_workspace = fixture.delete("launch", &stranger, &elsewhere, Role::Admin).await;
    let viewer = fixture.delete("launch", &fixture.owner, &fixture.workspace, Role::Viewer).await;

    assert_eq!(colleague.problem(), (403, "forbidden".into()));
    assert_eq!(other_workspace.problem(), (403, "forbidden".into()));
    assert_eq!(viewer.problem(), (403, "your role does not allow this".into()));
    assert!(!fixture.is_deleted().await);
}

#[tokio::test]
async fn an_unknown_or_impossible_code_is_404() {
    let fixture = Fixture::new().await;

    for code in ["unknown", "x", "no-code", "ünïcode"] {
        let answer = fixture.delete(code, &fixture.owner, &fixture.workspace, Role::Admin).await;
        assert_eq!(answer.problem(), (404, "not found".into()), "{code}");
    }
}

#[tokio::test]
async fn without_its_table_it_answers_503() {
    let mut fixture = Fixture::new().await;
    fixture.delete.links = LinksTable::new(TestDynamoDb::unreachable(), "LinksTable");

    let answer = fixture.delete("launch", &fixture.owner, &fixture.workspace, Role::Admin).await;

    assert_eq!(answer.problem(), (503, "service unavailable".into()));
}
