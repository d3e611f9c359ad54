use crate::prelude::*;

const WORKSPACE: &str = "/api/workspace";
const MEMBERS: &str = "/api/workspace/members";
const INVITATIONS: &str = "/api/workspace/invitations";

/// A table of accounts and the function that manages workspaces.
struct Office {
    db: TestDynamoDb,
    account: Account,
}

impl Office {
    fn new() -> Self {
        let db = TestDynamoDb::start();
        Self { account: account(&db), db }
    }

    async fn register(&self, name: &str) -> Person {
        self.db.register(name).await
    }

    /// Registers somebody whom the admin invites, and who accepts.
    async fn join(&self, admin: &Person, name: &str, role: Role) -> Person {
        colleague(&self.db, admin, name, role).await
    }

    /// Without a body if that is `null`.
    async fn send(&self, token: &str, method: &str, path: &str, body: &Value) -> Answer {
        RequestBuilder::new(method, path).token(token).json_unless_null(body).send_to(&self.account).await
    }

    async fn get(&self, token: &str, path: &str) -> Value {
        self.send(token, "GET", path, &Value::Null).await.expecting(200).json()
    }

    async fn patch(&self, token: &str, body: &Value) -> Answer {
        self.send(token, "PATCH", WORKSPACE, body).await
    }

    /// The rows of a workspace, or all of them.
    fn rows(&self, workspace: Option<&WorkspaceId>) -> Vec<String> {
        let own = |row: &String| workspace.is_none_or(|workspace| row.contains(&workspace.to_string()));
        let mut rows: Vec<_> = self.db.scan("UsersTable").iter().map(Value::to_string).filter(own).collect();
        rows.sort_unstable();
        rows
    }
}

fn token(person: &Person, workspace: &WorkspaceId, role: Role) -> String {
    token_of(&person.id, workspace, role)
}

fn member_path(person: &Person) -> String {
    format!("{MEMBERS}/{}", person.id)
}

#[tokio::test]
async fn a_workspace_shows_itself_and_changes_member_by_member() {
    let office = Office::new();
    let (ada, bob) = (office.register("ada").await, office.register("bob").await);
    let (token, bobs) = (token(&ada, &ada.workspace, Role::Admin), office.rows(Some(&bob.workspace)));

    let first = office.get(&token, WORKSPACE).await;
    let created_at = first["created_at"].clone();
    let expected = json!({
        "workspace_id": ada.workspace, "name": "ada", "slug": "ada", "settings": {}, "destinations": "fixed",
        "statistics": null, "default_statistics": "public", "color": null, "contact": null, "logo_url": null,
        "created_at": created_at, "updated_at": created_at,
    });
    assert_eq!(first, expected);

    let settings = json!({"theme": {"colour": "dark", "sizes": [1, 2.5, null]}, "": "ü"});
    for (patch, member, value) in [
        (json!({"name": " Engines "}), "name", json!("Engines")),
        (json!({"slug": "engines"}), "slug", json!("engines")),
        (json!({"destinations": "editable"}), "destinations", json!("editable")),
        (json!({"statistics": "private"}), "statistics", json!("private")),
        (json!({"name": "Engines", "statistics": "public"}), "statistics", json!("public")),
        (json!({"statistics": null}), "statistics", json!(null)),
        (json!({"color": "#2F5BD7"}), "color", json!("#2f5bd7")),
        (json!({"color": ""}), "color", json!(null)),
        (json!({"contact": "Help@example.com"}), "contact", json!("help@example.com")),
        (json!({"contact": "https://example.com/help"}), "contact", json!("https://example.com/help")),
        (json!({"contact": null}), "contact", json!(null)),
        (json!({"statistics": ""}), "statistics", json!(null)),
        (json!({"settings": settings}), "settings", settings),
        (json!({"settings": {"other": true}}), "settings", json!({"other": true})),
        (json!({}), "slug", json!("engines")),
        (json!({"slug": "engines"}), "workspace_id", json!(ada.workspace)),
        (json!({"name": null, "slug": null}), "name", json!("Engines")),
        (json!({"settings": null}), "settings", json!({})),
    ] {
        let mut expected = office.get(&token, WORKSPACE).await;
        let is_change = expected[member] != value;
        expected[member] = value;
        let changed = office.patch(&token, &patch).await;
        let changed_at = changed.json()["updated_at"].clone();
        assert_eq!(changed_at != expected["updated_at"], is_change, "{patch}");
        expected["updated_at"] = changed_at;
        assert_eq!((changed.status, changed.json()), (200, expected.clone()), "{patch}");
        assert_eq!(office.get(&token, WORKSPACE).await, expected, "{patch}");
    }
    assert_eq!(office.rows(Some(&bob.workspace)), bobs);
}

#[tokio::test]
async fn numbers_in_settings_come_back_as_they_were_written() {
    let office = Office::new();
    let ada = office.register("ada").await;
    let token = token(&ada, &ada.workspace, Role::Admin);
    let settings = r#"{"big":12345678901234567890123,"huge":1e400,"list":[1.10,-0.0,1E5],"price":1.10}"#;

    // The helper that checks answers reads numbers, and cannot hold these.
    let patch = RequestBuilder::new("PATCH", WORKSPACE).outside_the_contract().token(&token);
    let patch = patch.body(&format!(r#"{{"settings": {settings}}}"#)).send_to(&office.account).await;
    let shown = RequestBuilder::new("GET", WORKSPACE).outside_the_contract().token(&token);
    let shown = shown.send_to(&office.account).await;

    for answer in [patch, shown] {
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body.contains(&format!(r#""settings":{settings}"#)), "{}", answer.body);
    }
}

#[tokio::test]
async fn what_nobody_can_change_of_a_workspace_or_a_member_is_refused() {
    let office = Office::new();
    let ada = office.register("ada").await;
    let bob = office.join(&ada, "bob", Role::Viewer).await;
    let token = token(&ada, &ada.workspace, Role::Admin);
    let (of_workspace, of_member) = (json!({"name": "Looms"}), json!({"role": "member"}));
    let path = member_path(&bob);
    let before = office.rows(None);

    let of_both = ["id", "workspace_id", "user_id", "created_at", "updated_at"];
    for (path, body, others) in [
        (WORKSPACE, of_workspace, ["created_by"].as_slice()),
        (path.as_str(), of_member, &["email", "full_name", "joined_at"]),
    ] {
        for &member in of_both.iter().chain(others) {
            for value in [json!("x"), Value::Null] {
                let mut body = body.clone();
                body[member] = value;
                let answer = office.send(&token, "PATCH", path, &body).await;
                assert_eq!(answer.problem(), (400, format!("{member} cannot be changed")));
                assert_eq!(answer.json()["field"], member);
            }
        }
    }

    assert_eq!(office.rows(None), before);
}

#[tokio::test]
async fn each_refusal_of_a_change_gives_its_reason() {
    let office = Office::new();
    let ada = office.register("ada").await;
    office.register("bob").await;
    let token = token(&ada, &ada.workspace, Role::Admin);
    let before = office.rows(None);
    let slug = "slug must have 2–100 characters of a-z, 0-9 and inner hyphens";

    for (patch, status, reason) in [
        (json!({"slug": "bob", "name": "Bob"}), 409, "slug is already taken"),
        (json!({"slug": "Bob"}), 400, slug),
        (json!({"slug": 5}), 400, "slug must be a string"),
        (json!({"name": ["x"]}), 400, "name must be a string"),
        (json!({"name": " "}), 400, "name must have 1–255 characters"),
        (json!({"settings": "dark"}), 400, "settings must be an object"),
        (json!({"settings": {"x": "x".repeat(8_185)}}), 400, "settings must have at most 8,192 bytes"),
    ] {
        assert_eq!(office.patch(&token, &patch).await.problem(), (status, reason.into()), "{patch}");
    }
    assert_eq!(office.rows(None), before);
    assert_eq!(office.patch(&token, &json!({"settings": {"x": "x".repeat(8_184)}})).await.status, 200);
}

#[tokio::test]
async fn each_refusal_of_a_member_gives_its_reason() {
    let office = Office::new();
    let ada = office.register("ada").await;
    let bob = office.join(&ada, "bob", Role::Viewer).await;
    let token = token(&ada, &ada.workspace, Role::Admin);
    let (bobs, nobodys) = (member_path(&bob), format!("{MEMBERS}/{}", UserId::generate()));
    let before = office.rows(None);
    let no_member = "the workspace has no member with this id";
    let roles = "role must be viewer, member or admin";

    for (method, path, body, status, reason) in [
        ("PATCH", bobs.as_str(), json!({}), 400, "role is required"),
        ("PATCH", &bobs, json!({"role": "Admin"}), 400, roles),
        ("PATCH", &nobodys, json!({"role": "admin"}), 404, no_member),
        ("PATCH", "/api/workspace/members/bob", json!({"role": "admin"}), 404, no_member),
        ("PATCH", &member_path(&ada), json!({"role": "member"}), 409, "the workspace needs at least one admin"),
        ("DELETE", &member_path(&ada), Value::Null, 409, "the workspace needs at least one admin"),
    ] {
        let answer = office.send(&token, method, path, &body).await;
        assert_eq!(answer.problem(), (status, reason.into()), "{method} {path} {body}");
    }
    for nobody in [&nobodys, "/api/workspace/members/bob"] {
        assert_eq!(office.send(&token, "DELETE", nobody, &Value::Null).await.status, 204, "{nobody} is no member");
    }
    assert_eq!(office.rows(None), before);
}

#[tokio::test]
async fn a_new_member_logs_in_by_slug_and_otherwise_at_home() {
    let office = Office::new();
    let auth = Auth::new(office.db.users(), tokens(), issuer(), limits(&office.db));
    let ada = office.register("ada").await;
    let ours = token(&ada, &ada.workspace, Role::Admin);
    let bob = json!({"email": "bob@example.com", "password": "correct horse", "full_name": "Bob"});
    let registered = auth.post_openly("/api/auth/register", &bob).await;
    let login = async |slug: Option<&str>| {
        let mut body = bob.clone();
        body["workspace"] = slug.into();
        auth.post_openly("/api/auth/login", &body).await
    };
    let me = async |login: Answer| {
        assert_eq!(login.status, 200, "{}", login.body);
        let token = login.text("token");
        let me = auth.me(&token).await.json();
        (me["workspace_id"].clone(), me["role"].clone())
    };
    assert_eq!(login(Some("ada")).await.status, 401);

    let invited = office.send(&ours, "POST", INVITATIONS, &json!({"email": "bob@example.com", "role": "viewer"})).await;
    let at_home = login(None).await.text("token");
    let acceptance = json!({"token": invited.json()["token"]});
    office.send(&at_home, "POST", "/api/invitations/accept", &acceptance).await.expecting(200);
    let (at_home, in_office) =
        ((registered.json()["workspace_id"].clone(), json!("admin")), (json!(ada.workspace), json!("viewer")));

    let listed = office.get(&ours, MEMBERS).await;
    let joined_at = |position: usize| listed["members"][position]["joined_at"].clone();
    let expected = json!({"members": [
        {"user_id": ada.id, "email": "ada@example.com", "full_name": null, "role": "admin", "joined_at": joined_at(0), "paused_at": null},
        {"user_id": registered.json()["user_id"], "email": "bob@example.com", "full_name": "Bob", "role": "viewer", "joined_at": joined_at(1), "paused_at": null},
    ], "next_cursor": null, "has_more": false});
    assert_eq!(listed, expected);
    assert_eq!(me(login(None).await).await, at_home);
    assert_eq!(me(login(Some("ada")).await).await, in_office);

    office.patch(&ours, &json!({"slug": "engines"})).await;
    assert_eq!(login(Some("ada")).await.status, 401);
    assert_eq!(me(login(Some("engines")).await).await, in_office);

    let path = format!("{MEMBERS}/{}", registered.json()["user_id"].as_str().unwrap());
    office.send(&ours, "DELETE", &path, &Value::Null).await;
    assert_eq!(login(Some("engines")).await.status, 401);
    assert_eq!(me(login(None).await).await, at_home);
}
