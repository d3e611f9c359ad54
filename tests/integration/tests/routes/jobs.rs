//! Starting, showing and cancelling jobs. What they do is tested in `pipeline/jobs.rs`.

use linklet_jobs_api::JobsApi;

use crate::{fixture::jobs_api, prelude::*};

/// Ada, who is the admin of a workspace, and Bob, who is a member.
struct Office {
    db: TestDynamoDb,
    api: JobsApi,
    ada: Person,
    bob: Person,
}

impl Office {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Member).await;
        Self { api: jobs_api(&db), db, ada, bob }
    }

    fn request(&self, person: &Person, method: &str, path: &str) -> RequestBuilder {
        let role = if person.id == self.ada.id { Role::Admin } else { Role::Member };
        RequestBuilder::new(method, path).token(&token_of(&person.id, &self.ada.workspace, role))
    }

    async fn post(&self, person: &Person, body: &Value) -> Answer {
        self.request(person, "POST", "/api/jobs").json(body).send_to(&self.api).await
    }

    /// Sends what the contract forbids.
    async fn post_wrong(&self, body: &Value) -> Answer {
        let request = self.request(&self.ada, "POST", "/api/jobs").json(body);
        request.send_to(&self.api).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.request(&self.ada, "GET", path).send_to(&self.api).await
    }

    async fn cancel(&self, person: &Person, id: &Value) -> Answer {
        let path = format!("/api/jobs/{}", id.as_str().unwrap());
        self.request(person, "DELETE", &path).send_to(&self.api).await
    }

    /// Starts a job of Ada's and returns it.
    async fn start(&self, body: &Value) -> Value {
        self.post(&self.ada, body).await.expecting(202).json()
    }

    async fn states(&self) -> Vec<String> {
        let jobs = self.get("/api/jobs").await.json();
        let mut states: Vec<_> =
            jobs["jobs"].as_array().unwrap().iter().map(|job| job["state"].as_str().unwrap().to_owned()).collect();
        states.reverse();
        states
    }

    async fn store(&self, links: &[Link]) {
        join_all(links.iter().map(|link| self.db.store(link))).await;
    }
}

fn archive() -> Value {
    json!({"kind": "archive", "filter": {"all": true}})
}

#[tokio::test]
async fn a_job_is_shown_as_it_was_asked_for() {
    let office = Office::new().await;
    let order = json!({"kind": "set_expiry", "expires_at": "2099-01-01T01:00:00+01:00", "filter": {"tag": ["a", "-b"], "tz": "UTC"}});

    let answer = office.post(&office.ada, &order).await;

    let job = answer.json();
    let id = job["id"].as_str().unwrap();
    assert_eq!((answer.status, answer.header("location")), (202, format!("jobs/{id}").as_str()));
    let shown = json!({
            "id": id, "kind": "set_expiry", "expires_at": "2099-01-01T00:00:00.000Z",
            "filter": {"tag": ["a", "-b"], "tz": "UTC"}, "state": "running", "expected": 0, "seen": 0, "changed": 0,
            "failed": 0, "failures": [], "reason": null, "created_by": office.ada.id, "created_by_name": null,
            "created_at": job["created_at"], "started_at": job["created_at"], "ended_at": null,
    });
    assert_eq!(job, shown);
    assert_eq!(office.get(&format!("/api/jobs/{id}")).await.json(), job);
    assert_eq!(office.get("/api/jobs").await.json(), json!({"jobs": [job], "next_cursor": null, "has_more": false}));
}

#[tokio::test]
async fn what_is_wrong_with_a_job_is_told_by_its_name() {
    let office = Office::new().await;
    let (all, expiry) = (json!({"all": true}), "expires_at");
    let expiring = |at: &str| json!({"kind": "set_expiry", "filter": all, "expires_at": at});
    for (body, field, sentence) in [
        (json!({"filter": all}), "kind", "kind is required"),
        (json!({"kind": "explode", "filter": all}), "kind", "kind must be tag, untag"),
        (json!({"kind": "archive"}), "filter", "filter is required"),
        (json!({"kind": "archive", "filter": {}}), "filter", "filter must say which links"),
        (json!({"kind": "archive", "filter": {"status": "purged"}}), "filter", "status must be"),
        (json!({"kind": "archive", "filter": {"tag": "a"}}), "filter", "filter.tag must be a list of strings"),
        (json!({"kind": "archive", "filter": {"colour": "red"}}), "filter", "unknown field `colour`"),
        (json!({"kind": "archive", "filter": [true]}), "filter", "filter must be an object"),
        (json!({"kind": "archive", "filter": all, "surprise": 1}), "surprise", "unknown field `surprise`"),
        (json!({"kind": "archive", "filter": all, "tag": "a"}), "tag", "tag is no input of archive"),
        (json!({"kind": "tag", "filter": all}), "tag", "tag needs tag"),
        (json!({"kind": "tag", "filter": all, "tag": " "}), "tag", "each of the tags must have 1–50 characters"),
        (json!({"kind": "rename_tag", "from": "a"}), "to", "rename_tag needs to"),
        (json!({"kind": "rename_tag", "to": "a"}), "from", "rename_tag needs from"),
        (json!({"kind": "rename_tag", "from": "a", "to": "b", "expires_at": null}), expiry, "expires_at is no input"),
        (json!({"kind": "set_expiry", "filter": all}), expiry, "set_expiry needs expires_at"),
        (expiring("soon"), expiry, "expires_at must be RFC3339"),
        (expiring("2020-01-01T00:00:00Z"), expiry, "expires_at must be in the future"),
    ] {
        let answer = office.post_wrong(&body).await;
        let problem = answer.json();
        assert_eq!((answer.status, problem["field"].as_str()), (400, Some(field)), "{body}: {}", answer.body);
        assert!(problem["detail"].as_str().unwrap().starts_with(sentence), "{body}: {}", problem["detail"]);
    }
    for (body, sentence) in
        [(json!({}), "name is required"), (json!({"name": ""}), "each of the tags must have 1–50 characters")]
    {
        let answer = office.request(&office.ada, "PATCH", "/api/tags/a").json(&body).send_to(&office.api).await;
        assert_eq!((answer.problem(), &answer.json()["field"]), ((400, sentence.into()), &json!("name")));
    }
    assert_eq!(office.states().await, Vec::<String>::new());
}

/// Links of Ada's and Bob's in all states.
async fn with_links(office: &Office) {
    let created = |days: u64| Timestamp::now().minus(Duration::from_secs(days * 86_400));
    let build = |code: &str, owner: &Person, days| {
        let link = LinkBuilder::new(code).in_workspace(&office.ada.workspace).owned_by(&owner.id);
        link.created_at(created(days))
    };
    let tagged = |link: LinkBuilder, tags: &[&str]| link.tagged(tags).build();
    let mut off = tagged(build("adas-off", &office.ada, 3), &["a", "b"]);
    off.availability.state = LinkState::Inactive;
    let mut deleted = tagged(build("adas-deleted", &office.ada, 4), &["a"]);
    deleted.availability.state = LinkState::Deleted(Timestamp::now());
    let mut named = tagged(build("bobs-named", &office.bob, 5), &[]);
    named.metadata.external_id = "crm-1".parse().ok();
    let plain = tagged(build("adas-plain", &office.ada, 1), &["a"]);
    let away = tagged(build("adas-put-away", &office.ada, 2).archived(), &["A", "a,b"]);
    let bobs = tagged(build("bobs-plain", &office.bob, 6), &["b"]);
    office.store(&[plain, away, off, deleted, named, bobs]).await;
}

#[tokio::test]
async fn a_dry_run_counts_what_the_list_shows_of_the_callers_links() {
    let office = Office::new().await;
    with_links(&office).await;
    let (listed, yesterday) = (list(&office.db), Timestamp::now().minus(Duration::from_secs(5 * 86_400 / 2)));
    for (filter, query) in [
        (json!({"all": true}), String::new()),
        (json!({"all": true, "archived": "all"}), "archived=all".to_owned()),
        (json!({"tag": ["a"]}), "tag=a".to_owned()),
        (json!({"tag": ["a", "-b"], "archived": "all"}), "tag=a&tag=-b&archived=all".to_owned()),
        (json!({"tag": [r"a\,b"], "archived": "true"}), "tag=a%5C,b&archived=true".to_owned()),
        (json!({"status": "all"}), "status=all".to_owned()),
        (json!({"status": "inactive"}), "status=inactive".to_owned()),
        (json!({"search": "PLAIN"}), "search=PLAIN".to_owned()),
        (json!({"search": "api.example.com/bobs-plain"}), "search=api.example.com/bobs-plain".to_owned()),
        (json!({"external_id": "crm-1"}), "external_id=crm-1".to_owned()),
        (json!({"external_id": "crm-2"}), "external_id=crm-2".to_owned()),
        (json!({"created_by": office.bob.id}), format!("created_by={}", office.bob.id)),
        (json!({"created_after": yesterday}), format!("created_after={yesterday}")),
        (json!({"created_before": yesterday, "tz": "Europe/Berlin"}), format!("created_before={yesterday}")),
    ] {
        let shown =
            office.request(&office.ada, "GET", &format!("/api/links?per_page=100&{query}")).send_to(&listed).await;
        let links = shown.json()["links"].as_array().unwrap().clone();
        let bobs = links.iter().filter(|link| link["created_by"] == json!(office.bob.id)).count();

        for (person, expected) in [(&office.ada, links.len()), (&office.bob, bobs)] {
            let counted = office.post(person, &json!({"kind": "archive", "filter": filter, "dry_run": true})).await;
            let count = json!({"matching": expected, "is_exact": true});
            assert_eq!((counted.status, counted.json()), (200, count), "{filter}");
        }
    }
    assert_eq!(office.states().await, Vec::<String>::new(), "nothing was started");
    let job = office.post(&office.bob, &json!({"kind": "archive", "filter": {"archived": "all"}})).await.json();
    assert_eq!(job["expected"], 2);
}

#[tokio::test]
async fn one_job_runs_and_two_of_a_person_wait_in_their_order() {
    let office = Office::new().await;
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(office.start(&archive()).await["id"].clone());
    }

    let refused = office.post(&office.ada, &archive()).await;

    assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("too_many_jobs")));
    assert_eq!(office.states().await, ["running", "queued", "queued"]);
    let cancelled = office.cancel(&office.ada, &jobs[1]).await.json();
    assert_eq!((cancelled["state"].as_str(), cancelled["started_at"].is_null()), (Some("cancelled"), true));
    assert!(cancelled["ended_at"].is_string());
    assert_eq!(office.post(&office.ada, &archive()).await.status, 202, "there is room again");
    assert_eq!(office.states().await, ["running", "cancelled", "queued", "queued"]);
    assert_eq!(office.cancel(&office.ada, &jobs[0]).await.json()["state"], "cancelling");
    assert_eq!(office.cancel(&office.ada, &jobs[0]).await.json()["state"], "cancelling");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_jobs_at_once_three_are_taken() {
    let office = Office::new().await;

    let order = archive();
    let answers = join_all((0..8).map(|_| office.post(&office.ada, &order))).await;

    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 202, 202, 409, 409, 409, 409, 409]);
    let mut states = office.states().await;
    states.sort_unstable();
    assert_eq!(states, ["queued", "queued", "running"]);
}

/// The attack: members keep everybody else from beginning jobs. An API key doesn't have its creator count twice, nor as an admin.
#[tokio::test]
async fn an_admin_finds_a_place_where_members_find_none() {
    let office = Office::new().await;
    let carol = colleague(&office.db, &office.ada, "carol", Role::Member).await;
    let dave = colleague(&office.db, &office.ada, "dave", Role::Member).await;
    let key = ApiKeySecret::generate().unwrap();
    office.db.store_key(&ApiKeyBuilder::new(&key, &office.ada).build()).await;
    let with_key = async || {
        let request = RequestBuilder::new("POST", "/api/jobs").api_key(key.reveal()).json(&archive());
        request.send_to(&office.api).await.status
    };
    for (person, statuses) in
        [(&office.bob, vec![202, 202, 202, 409]), (&carol, vec![202, 202, 409]), (&dave, vec![409])]
    {
        for status in statuses {
            assert_eq!(office.post(person, &archive()).await.status, status);
        }
    }

    assert_eq!(with_key().await, 409, "a key is a member");
    assert_eq!(office.post(&office.ada, &archive()).await.status, 202);
    assert_eq!(office.post(&office.ada, &archive()).await.status, 202);
    assert_eq!(office.post(&office.ada, &archive()).await.status, 409);
}

/// Its turns look at no session, so one that is held for a minute as it was begins nothing.
#[tokio::test]
async fn nobody_begins_a_job_in_a_session_that_has_ended() {
    let office = Office::new().await;
    let authenticator = Authenticator::new(tokens().with_sessions(office.db.sessions()), office.db.api_keys());
    let environment = JobsApi { authenticator, ..jobs_api(&office.db) };
    let token = office.ada.token(Role::Admin);
    let send = async |method: &str, path: &str, body: &Value| {
        RequestBuilder::new(method, path).token(&token).json_unless_null(body).send_to(&environment).await.status
    };
    assert_eq!(send("GET", "/api/jobs", &Value::Null).await, 200);

    office.db.users().end_sessions(&office.ada.id, None, &an_origin(&office.ada.id)).await.unwrap();

    assert_eq!(send("POST", "/api/jobs", &archive()).await, 401);
    assert_eq!(send("PATCH", "/api/tags/a", &json!({"name": "b"})).await, 401);
    assert_eq!(send("DELETE", "/api/tags/a", &Value::Null).await, 401);
    assert_eq!(office.db.jobs().list(&office.ada.workspace, 10, None).await.unwrap().items, []);
}

#[tokio::test]
async fn a_list_of_jobs_has_pages() {
    let office = Office::new().await;
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(office.start(&archive()).await["id"].clone());
    }
    jobs.reverse();

    let first = office.get("/api/jobs?limit=2").await.json();
    let next = office.get(&format!("/api/jobs?limit=2&after={}", first["next_cursor"].as_str().unwrap())).await.json();

    let ids = |page: &Value| page["jobs"].as_array().unwrap().iter().map(|job| job["id"].clone()).collect::<Vec<_>>();
    assert_eq!((ids(&first), ids(&next)), (jobs[..2].to_vec(), jobs[2..].to_vec()));
    assert!(next["next_cursor"].is_null());
    assert_eq!(office.get("/api/jobs?after=x").await.status, 400);
    assert_eq!(office.get("/api/jobs/launch").await.status, 404);
}

#[tokio::test]
async fn reading_jobs_gives_up_a_stuck_one_and_begins_the_next() {
    let office = Office::new().await;
    let stuck = office.start(&archive()).await;
    let cancelled = office.start(&archive()).await;
    office.start(&archive()).await;
    let in_minutes = |minutes: u64| Timestamp::now().plus(Duration::from_secs(60 * minutes));
    let look = |at| office.request(&office.bob, "GET", "/api/jobs").at(at);

    look(in_minutes(59)).send_to(&office.api).await;
    assert_eq!(office.states().await, ["running", "queued", "queued"]);
    look(in_minutes(61)).send_to(&office.api).await;

    assert_eq!(office.states().await, ["failed", "running", "queued"]);
    let shown = office.get(&format!("/api/jobs/{}", stuck["id"].as_str().unwrap())).await.json();
    assert_eq!(shown["reason"], json!({"code": "no_progress", "detail": "it made no progress for an hour"}));
    assert_eq!(office.cancel(&office.ada, &cancelled["id"]).await.json()["state"], "cancelling");
    look(in_minutes(125)).send_to(&office.api).await;
    assert_eq!(office.states().await, ["failed", "cancelled", "running"]);
}

#[tokio::test]
async fn renaming_and_removing_a_tag_are_jobs_about_its_links() {
    let office = Office::new().await;
    with_links(&office).await;
    let send = async |method: &str, tag: &str, body: Option<Value>| {
        let request = office.request(&office.ada, method, &format!("/api/tags/{tag}"));
        body.map_or(request.clone(), |body| request.json(&body)).send_to(&office.api).await
    };

    let renamed = send("PATCH", "A", Some(json!({"name": " Spring "}))).await;
    let removed = send("DELETE", "a,b", None).await;
    office.store(&[LinkBuilder::new("half1").in_workspace(&office.ada.workspace).tagged(&["50%"]).build()]).await;
    let encoded = send("DELETE", "50%25", None).await;

    let job = renamed.json();
    let location = format!("../jobs/{}", job["id"].as_str().unwrap());
    assert_eq!((renamed.status, renamed.header("location")), (202, location.as_str()));
    assert_eq!(json!([job["kind"], job["from"], job["to"], job["expected"]]), json!(["rename_tag", "A", "Spring", 3]));
    assert_eq!(job["filter"], json!({"tag": ["A"], "archived": "all"}));
    let job = removed.json();
    assert_eq!(json!([job["kind"], job["tag"], job["expected"]]), json!(["untag", "a,b", 1]));
    assert_eq!(job["filter"], json!({"tag": [r"a\,b"], "archived": "all"}));
    assert_eq!(encoded.json()["tag"], "50%");
    office.cancel(&office.ada, &job["id"]).await;
    let same = office.start(&json!({"kind": "rename_tag", "from": "A", "to": "Spring"})).await;
    assert_eq!((&same["filter"], &same["expected"]), (&json!({"tag": ["A"], "archived": "all"}), &json!(3)));
}
