//! What workspaces show of themselves on the pages that their visitors see.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use linklet_domain::SuspensionReason;
use linklet_lambda::following::Brands;
use sha2::{Digest as _, Sha256};

use crate::fixture::{brands, png, shorten, unlock, update};
use crate::prelude::*;

const LOGO: &str = "/api/workspace/logo";

/// Ada's workspace, with a link.
struct Office {
    db: TestDynamoDb,
    ada: Person,
}

impl Office {
    /// With this link, and with a name, a color and a contact.
    async fn new(link: &Value) -> Self {
        let (db, ada) = with_person("ada").await;
        let office = Self { db, ada };
        let body = json!({"name": "Looms & <Mills>", "color": "#ffd400", "contact": "help@example.com"});
        office.ask("PATCH", "/api/workspace").json(&body).send_to(&account(&office.db)).await.expecting(200);
        let mut wanted = json!({"url": "https://example.com/secret", "custom_code": "launch"});
        wanted.as_object_mut().unwrap().extend(link.as_object().unwrap().clone());
        office.ask("POST", "/api/shorten").json(&wanted).send_to(&shorten(&office.db)).await.expecting(201);
        office
    }

    fn ask(&self, method: &str, path: &str) -> RequestBuilder {
        RequestBuilder::new(method, path).token(&self.ada.token(Role::Admin))
    }

    async fn put_logo(&self, file: &[u8]) -> Answer {
        let body = json!({"png": STANDARD.encode(file)});
        self.ask("PUT", LOGO).json(&body).send_to(&account(&self.db)).await
    }

    async fn logo_url(&self) -> Value {
        self.ask("GET", "/api/workspace").send_to(&account(&self.db)).await.json()["logo_url"].clone()
    }

    /// Where its logo is on the page at this address.
    async fn logo_at(&self, path: &str) -> String {
        let page = browser(path).send_to(&redirect(&self.db)).await.body;
        let source = page.split_once("src=\"").map(|(_, after)| after.split_once('"').unwrap().0);
        source.unwrap_or_default().to_owned()
    }

    async fn page(&self) -> Answer {
        browser("/launch").send_to(&redirect(&self.db)).await
    }
}

fn browser(path: &str) -> RequestBuilder {
    RequestBuilder::new("GET", path).header("accept", "text/html,application/xhtml+xml")
}

/// Whether the policy of a page has the hash of each of its styles.
fn admits_its_styles(page: &Answer) -> bool {
    let styles = page.body.split("<style>").skip(1).map(|rest| rest.split_once("</style>").unwrap().0);
    let policy = page.header("content-security-policy");
    styles.clone().count() > 0
        && styles.into_iter().all(|style| policy.contains(&STANDARD.encode(Sha256::digest(style))))
}

#[tokio::test]
async fn a_page_says_whose_the_link_is_and_whom_to_ask() {
    let future = "2999-01-01T00:00:00Z";
    for (link, sentence) in [
        (json!({"password": "open sesame"}), "Ask for the password: "),
        (json!({"valid_from": future}), "Ask when it starts: "),
    ] {
        let office = Office::new(&link).await;
        let page = office.page().await;
        let contact = r#"<a href="mailto:help@example.com" rel="noopener noreferrer">help@example.com</a>"#;
        for part in [
            "Shared by <b><bdi>Looms &amp; &lt;Mills&gt;</bdi></b>",
            &format!("{sentence}{contact}"),
            "background:#ffd400;color:#000000",
            "main{border-top:4px solid #ffd400}",
        ] {
            assert!(page.body.contains(part), "{part} in {}", page.body);
        }
        assert!(admits_its_styles(&page), "{}", page.header("content-security-policy"));
        assert!(page.header("content-security-policy").contains("img-src 'self'"));
    }
}

#[tokio::test]
async fn pages_about_links_that_are_gone_ask_for_a_new_one() {
    let office = Office::new(&json!({})).await;
    let disable = office.ask("PATCH", "/api/links/launch").json(&json!({"is_active": false}));
    disable.send_to(&update(&office.db)).await.expecting(200);
    assert!(office.page().await.body.contains("Ask for a new link: "));
    office
        .ask("DELETE", "/api/urls/launch")
        .send_to(&fixture::delete(&office.db, office.db.authenticator()))
        .await
        .expecting(204);
    assert!(office.page().await.body.contains("Ask for a new link: "));

    let unknown = browser("/nolink").send_to(&redirect(&office.db)).await;
    assert!(!unknown.body.contains("Shared by") && !unknown.header("content-security-policy").contains("img-src"));
}

#[tokio::test]
async fn the_page_of_a_link_that_does_harm_leads_nobody_to_its_owner() {
    let office = Office::new(&json!({})).await;
    office.db.suspend_for(&office.db.link("launch").await, SuspensionReason::Abuse).await;
    assert!(!office.page().await.body.contains("Looms"));

    let deletion = office.ask("DELETE", "/api/urls/launch");
    deletion.send_to(&fixture::delete(&office.db, office.db.authenticator())).await.expecting(204);

    let page = office.page().await.body;
    assert!(page.contains("This link was deleted") && !page.contains("Looms"), "{page}");
}

#[tokio::test]
async fn whoever_types_a_wrong_password_still_sees_whose_the_link_is() {
    let office = Office::new(&json!({"password": "open sesame"})).await;

    let form = RequestBuilder::new("POST", "/launch").header("accept", "text/html").form("password=wrong");
    let page = form.send_to(&unlock(&office.db)).await;

    assert_eq!(page.status, 403);
    assert!(page.body.contains("Wrong password.") && page.body.contains("Looms &amp;"), "{}", page.body);
    assert!(
        admits_its_styles(&page) && page.header("content-security-policy").contains("form-action 'self' http: https:")
    );
}

#[tokio::test]
async fn a_preview_is_in_the_color_of_the_workspace() {
    let office = Office::new(&json!({"max_clicks": 3})).await;

    let bot = RequestBuilder::new("GET", "/launch").header("user-agent", "Twitterbot/1.0");
    let page = bot.send_to(&redirect(&office.db)).await;

    assert_eq!(page.status, 200);
    assert!(page.body.contains("Shared by") && page.body.contains("Contact: "), "{}", page.body);
    assert!(admits_its_styles(&page));
}

#[tokio::test]
async fn a_page_goes_out_without_what_cannot_be_read() {
    let office = Office::new(&json!({"password": "open sesame"})).await;
    let cut_off = fixture::redirect_with(office.db.links(), office.db.clicks(), office.db.calls());

    let page = browser("/launch").send_to(&cut_off).await;

    assert_eq!(page.status, 403);
    assert!(page.body.contains(r#"name="password""#) && !page.body.contains("Shared by"), "{}", page.body);
}

#[tokio::test]
async fn a_redirect_reads_nothing_of_the_workspace() {
    let office = Office::new(&json!({})).await;
    let cut_off = fixture::redirect_with(office.db.links(), office.db.clicks(), office.db.calls());

    let began = Instant::now();
    assert_eq!(browser("/launch").send_to(&cut_off).await.status, REDIRECT);
    assert!(began.elapsed() < Duration::from_secs(2), "an unreachable table takes longer");
}

#[tokio::test]
async fn a_logo_is_shown_changed_and_removed() {
    let office = Office::new(&json!({"password": "open sesame"})).await;
    let (small, large) = (png(16, 16), png(1_024, 1_024));
    let show = async |url: &Value| {
        let path = url.as_str().unwrap().split_once("example.com").unwrap().1.to_owned();
        redirect(&office.db).get_openly(&path).await
    };

    let first = office.put_logo(&small).await.expecting(200).json()["logo_url"].clone();
    let again = office.put_logo(&small).await.expecting(200).json()["logo_url"].clone();
    let shown = show(&first).await;
    assert_eq!((&first, &again), (&office.logo_url().await, &first));
    let headers = ["content-type", "cache-control"].map(|name| shown.header(name).to_owned());
    assert_eq!(
        (shown.status, headers),
        (200, ["image/png".to_owned(), "public, max-age=31536000, immutable".to_owned()])
    );
    assert_eq!(shown.bytes(), small);
    assert!(shown.header("content-security-policy").starts_with("default-src 'none';"));

    let second = office.put_logo(&large).await.expecting(200).json()["logo_url"].clone();
    assert_ne!(first, second);
    assert_eq!((show(&first).await.status, show(&second).await.bytes()), (404, large.as_slice()));
    for _ in 0..2 {
        office.ask("DELETE", LOGO).send_to(&account(&office.db)).await.expecting(204);
    }
    assert_eq!((office.logo_url().await, show(&second).await.status), (json!(null), 404));
    let log = office.ask("GET", "/api/workspace/audit").send_to(&account(&office.db)).await.json();
    let said: Vec<_> = log["entries"].as_array().unwrap().iter().map(|entry| entry["to"].clone()).take(3).collect();
    assert_eq!(said, ["logo"; 3]);
}

#[tokio::test]
async fn a_page_finds_its_logo_from_every_address_of_the_link() {
    let office = Office::new(&json!({"password": "open sesame"})).await;
    let url = office.put_logo(&png(16, 16)).await.json()["logo_url"].clone();
    let id = url.as_str().unwrap().rsplit_once('/').unwrap().1;

    for (path, up) in [("/launch", ""), ("/launch/", "../"), ("/r/launch", "../"), ("/r/launch/", "../../")] {
        let logo = office.logo_at(path).await;
        let expected =
            if path == "/launch/" && logo.is_empty() { String::new() } else { format!("{up}api/logos/{id}") };
        assert_eq!(logo, expected, "{path}");
    }
}

/// A page that asks for a password must not look like a bank's.
#[tokio::test]
async fn where_anybody_may_register_pages_show_no_logo() {
    let office = Office::new(&json!({"password": "open sesame"})).await;
    office.put_logo(&png(16, 16)).await.expecting(200);
    let open = Redirect { brands: Brands { shows_logos: false, ..brands(&office.db) }, ..redirect(&office.db) };

    let page = browser("/launch").send_to(&open).await;

    assert!(page.body.contains("Shared by") && !page.body.contains("<img"), "{}", page.body);
    assert!(office.page().await.body.contains("<img"));
}

#[tokio::test]
async fn what_is_no_logo_is_refused_with_its_reason() {
    let office = Office::new(&json!({})).await;
    let send = async |body: Value| office.ask("PUT", LOGO).json(&body).send_to(&account(&office.db)).await.problem();
    let large = [png(1, 1), vec![0; 65_536]].concat();

    for (body, status, sentence) in [
        (json!({}), 400, "png is required"),
        (json!({"png": 5}), 400, "png must be a string"),
        (json!({"png": "%%"}), 400, "png must be base64 (RFC 4648) with padding"),
        (json!({"png": STANDARD.encode("<svg onload='alert(1)'/>")}), 400, "png must be a PNG image"),
        (json!({"png": STANDARD.encode(png(1_025, 1))}), 400, "png must have at most 1,024 × 1,024 pixels"),
        (json!({"png": STANDARD.encode(large)}), 400, "png must have at most 65,536 bytes"),
        (json!({"png": "A".repeat(1_100_000)}), 413, "request body too large"),
    ] {
        assert_eq!(send(body.clone()).await, (status, sentence.to_owned()), "{:.60}", body.to_string());
    }
    assert_eq!(office.logo_url().await, json!(null));
}

#[tokio::test]
async fn what_is_no_color_or_contact_is_refused_with_its_reason() {
    let office = Office::new(&json!({})).await;
    for (body, sentence) in [
        (json!({"color": "red"}), "color must be # and six hexadecimal digits"),
        (
            json!({"contact": "http://example.com"}),
            "contact must be an email address or an https URL of at most 254 bytes",
        ),
    ] {
        let answer = office.ask("PATCH", "/api/workspace").json(&body).send_to(&account(&office.db)).await;
        assert_eq!(answer.problem(), (400, sentence.to_owned()));
    }
}
