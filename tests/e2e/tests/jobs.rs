//! A job, from the request through its stream to the links and to a notification.

use serde_json::{Value, json};

use crate::api::{Api, User, eventually, send};
use crate::stack::exactly;

#[tokio::test]
async fn a_tag_is_renamed_on_all_links_and_its_owner_is_told() {
    let ada = User::new(&Api::new()).await;
    let mut codes = Vec::new();
    for number in 0..3 {
        let body = json!({"url": format!("https://example.com/{number}"), "tags": ["Frühling 50 %", "kept"]});
        let made = send(ada.request("POST", "/api/shorten").json(&body)).await;
        codes.push(made.text("short_code"));
    }

    let rename = json!({"kind": "rename_tag", "from": "frühling 50 %", "to": "Spring"});
    let counted = json!({"kind": "archive", "filter": {"tag": ["FRÜHLING 50 %"]}, "dry_run": true});
    let counted = send(ada.request("POST", "/api/jobs").json(&counted)).await;
    let started = send(ada.request("POST", "/api/jobs").json(&rename)).await;
    let removed = send(ada.request("DELETE", "/api/tags/KEPT")).await;

    assert_eq!((counted.status, counted.json()), (200, json!({"matching": 3, "is_exact": true})));
    assert_eq!((started.status, removed.status), (202, 202), "{} {}", started.body, removed.body);
    assert_eq!(removed.json()["state"], "queued");
    let path = format!("/api/jobs/{}", removed.json()["id"].as_str().unwrap());
    let ended = async || {
        let job = ada.get(&path).await.json();
        json!([job["state"], job["seen"], job["changed"], job["failed"]])
    };
    eventually("both jobs are done", json!(["done", 3, 3, 0]), ended).await;
    for code in &codes {
        assert_eq!(ada.get(&format!("/api/links/{code}")).await.json()["tags"], json!(["Spring"]));
    }
    let told = async || {
        let feed = ada.get("/api/notifications?kind=job").await.json();
        let told = feed["notifications"].as_array().unwrap().iter();
        Vec::from_iter(told.map(|row| [row["job_id"].clone(), row["message"].clone()]))
    };
    let expected = [
        [&removed.json()["id"], &json!("Your job to remove the tag KEPT is done: 3 links changed.")],
        [&started.json()["id"], &json!("Your job to rename the tag frühling 50 % to Spring is done: 3 links changed.")],
    ];
    exactly("the ends of both jobs are told", expected.map(|row| row.map(Value::clone)).to_vec(), told).await;
}
