//! The web application, the description of the API, the page that shows it, and the root.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use linklet_domain::reserved_words;
use linklet_web::{Home, Web};
use sha2::{Digest as _, Sha256};

use crate::{fixture::web, prelude::*};

const CONTENT: [&str; 4] = ["/api/openapi.json", "/api/docs", "/api/docs/rapidoc.js", "/app"];

fn request(path: &str) -> RequestBuilder {
    RequestBuilder::new("GET", path)
}

async fn get(path: &str) -> Answer {
    request(path).send_to(&web()).await
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// The values of an attribute anywhere in a page.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!(" {name}=\"");
    page.split(begin.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

// -------------------------------------------------------------------------------------------------------------- Document

#[tokio::test]
async fn the_openapi_document_is_the_repositorys_yaml_without_x_linklet() {
    let answer = get("/api/openapi.json").await;

    let mut expected = Contract::load().document().clone();
    expected.as_object_mut().unwrap().remove("x-linklet");
    let paths = expected["paths"].as_object_mut().unwrap().values_mut();
    for operation in paths.flat_map(|path| path.as_object_mut().unwrap().values_mut()).filter_map(Value::as_object_mut)
    {
        operation.remove("x-linklet");
    }
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.json(), expected);
}

/// People read it, too, and the page shows paths in this order.
#[tokio::test]
async fn the_document_keeps_the_order_of_its_members() {
    let document = get("/api/openapi.json").await.body;

    let place = |member: &str| document.find(&format!("\"{member}\":")).unwrap();
    assert!(place("openapi") < place("info") && place("info") < place("servers") && place("servers") < place("paths"));
}

#[tokio::test]
async fn the_document_has_the_version_of_the_workspace() {
    assert_eq!(get("/api/openapi.json").await.json()["info"]["version"], env!("CARGO_PKG_VERSION"));
}

// ------------------------------------------------------------------------------------------------------------ Negotiation

#[tokio::test]
async fn who_accepts_gzip_or_brotli_gets_the_same_bytes_in_fewer() {
    for path in CONTENT {
        let accepting = async |codings: &str| request(path).header("accept-encoding", codings).send_to(&web()).await;
        let plain = get(path).await;
        let (gzip, brotli) = (accepting("gzip, deflate").await, accepting("gzip, deflate, br, zstd").await);

        let (mut unzipped, mut decoded) = (Vec::new(), Vec::new());
        GzDecoder::new(gzip.bytes()).read_to_end(&mut unzipped).unwrap();
        brotli::BrotliDecompress(&mut brotli.bytes(), &mut decoded).unwrap();
        assert!(unzipped == plain.bytes() && decoded == plain.bytes(), "{path}");
        assert!(brotli.bytes().len() < gzip.bytes().len() && gzip.bytes().len() < plain.bytes().len(), "{path}");
        for (answer, coding) in [(&plain, ""), (&gzip, "gzip"), (&brotli, "br")] {
            assert_eq!(answer.header("content-encoding"), coding, "{path}");
            assert_eq!(answer.header("content-type"), plain.header("content-type"), "{path}");
            assert!(answer.header("vary").contains("Accept-Encoding"), "{path}");
        }
        let tags = BTreeSet::from([&plain, &gzip, &brotli].map(|answer| answer.header("etag")));
        assert_eq!(tags.len(), 3, "{path}: a strong tag stands for exact bytes");
    }
}

#[tokio::test]
async fn who_has_it_already_gets_no_body() {
    for path in CONTENT {
        for encoding in ["gzip", "br", "identity"] {
            let request = || request(path).header("accept-encoding", encoding);
            let whole = request().send_to(&web()).await;
            let tag = whole.header("etag");
            assert!(tag.starts_with('"') && tag.len() > 10, "{path}: {tag}");

            for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
                let answer = request().header("if-none-match", &known).send_to(&web()).await;

                assert_eq!((answer.status, answer.bytes()), (304, &[][..]), "{path} with {known}");
                for header in ["etag", "cache-control", "vary", "content-security-policy", "referrer-policy"] {
                    assert_eq!(answer.header(header), whole.header(header), "{path} with {known}");
                }
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------------------ Page

/// Neither from another host, nor from this host's root: the API may have a path.
#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let page = get("/api/docs").await;

    let addresses: Vec<_> =
        ["src", "href", "spec-url"].into_iter().flat_map(|name| attributes(&page.body, name)).collect();
    assert!(addresses.len() >= 3, "{addresses:?}");
    for address in addresses {
        assert!(!address.starts_with('/') && (!address.contains(':') || address == "data:,"), "{address}");
    }
    assert!(!page.body.contains("//cdn") && !page.body.contains("http://") && !page.body.contains("https://"));
    assert_eq!(attributes(&page.body, "load-fonts"), ["false"]);
}

#[tokio::test]
async fn the_pages_policy_allows_its_script_and_this_api_only() {
    let page = get("/api/docs").await;

    let script = page.body.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let policy: Vec<_> = page.header("content-security-policy").split("; ").collect();
    let hash = STANDARD.encode(Sha256::digest(script));
    let scripts = format!("script-src 'self' 'sha256-{hash}'");
    for directive in [
        "default-src 'none'",
        &scripts,
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ] {
        assert!(policy.contains(&directive), "{directive} is not in {policy:?}");
    }
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn the_page_demands_https_under_a_domain_of_our_own() {
    let web = Web { pages: Pages::of(Some("https://go.example.com")), ..web() };

    for (path, demand) in
        [("/app", "max-age=31536000"), ("/api/docs", "max-age=31536000"), ("/api/openapi.json", ""), ("/", "")]
    {
        assert_eq!(request(path).send_to(&web).await.header("strict-transport-security"), demand, "{path}");
    }
    assert_eq!(get("/api/docs").await.header("strict-transport-security"), "");
}

#[tokio::test]
async fn only_an_address_with_the_version_is_kept_for_long() {
    let page = get("/api/docs").await;
    let script = attributes(&page.body, "src")[0];
    let versioned = format!("/api/{script}");

    let long = get(&versioned).await;

    assert!(versioned.starts_with("/api/docs/rapidoc.js?v="), "{versioned}");
    assert_eq!(long.header("cache-control"), "public, max-age=31536000, immutable");
    for path in [
        "/api/docs/rapidoc.js",
        "/api/docs/rapidoc.js?v=",
        "/api/docs/rapidoc.js?v=1",
        "/api/docs",
        "/api/openapi.json",
    ] {
        assert_eq!(get(path).await.header("cache-control"), "public, max-age=300", "{path}");
    }
}

#[tokio::test]
async fn the_script_is_the_one_that_its_readme_names() {
    let readme = read("functions/web/assets/README.md");
    let row = |name: &str| {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        row.split('|').nth(2).unwrap().trim().trim_matches('`').to_owned()
    };

    let script = get("/api/docs/rapidoc.js").await;

    assert_eq!(hex::encode(Sha256::digest(script.bytes())), row("SHA-256"));
    assert!(script.body.starts_with(&format!("/*! RapiDoc {} ", row("Version"))));
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
}

/// Prism, which is part of RapiDoc, asks `document.currentScript` which script runs. An element with that name would be the answer
/// (CVE-2024-53382).
#[tokio::test]
async fn nothing_in_the_page_can_pass_for_the_script_that_runs() {
    let page = get("/api/docs").await.body.to_lowercase();
    let script = get("/api/docs/rapidoc.js").await.body;

    // The names of these only are properties of the document.
    for element in ["<embed", "<form", "<iframe", "<img", "<object"] {
        assert!(!page.contains(element), "{element}");
    }
    assert!(page.contains("<script type=\"module\" src=\"docs/rapidoc.js"), "a module isn't the current script");
    assert_eq!(script.matches(".currentScript()").count(), 1, "when it is loaded, and not again");
    assert!(!script.contains("languages_path"), "what loads more scripts, Prism's autoloader, isn't there");
}

// ----------------------------------------------------------------------------------------------------------- Application

/// The addresses of the application's files in its page, and those that its scripts load.
async fn files_of_the_application() -> Vec<String> {
    let page = get("/app").await;
    let in_page: Vec<_> = ["src", "href"].into_iter().flat_map(|name| attributes(&page.body, name)).collect();
    let files: Vec<_> = in_page.into_iter().filter(|address| address.starts_with("app/")).collect();
    let folder = files[0].rsplit_once('/').unwrap().0;
    let script = get(&format!("/{folder}/main.js")).await;
    let later = script.body.split("import('./").skip(1).map(|rest| rest.split('\'').next().unwrap());
    files.iter().map(|file| format!("/{file}")).chain(later.map(|name| format!("/{folder}/{name}"))).collect()
}

#[tokio::test]
async fn the_application_is_revalidated_and_its_files_cached_forever() {
    let page = get("/app").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert_eq!(page.header("cache-control"), "no-cache");

    let files = files_of_the_application().await;

    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let answer = get(&file).await;

        assert_eq!(answer.status, 200, "{file}");
        assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable", "{file}");
        let kind = match file.rsplit('.').next() {
            Some("css") => "text/css; charset=utf-8",
            Some("webmanifest") => "application/manifest+json",
            _ => "text/javascript; charset=utf-8",
        };
        assert_eq!(answer.header("content-type"), kind, "{file}");
    }
}

/// Its addresses are relative, so that it is right below any path.
#[tokio::test]
async fn the_manifest_installs_the_application_as_a_target_of_sharing() {
    let files = files_of_the_application().await;
    let manifest = files.iter().find(|file| file.ends_with("/manifest.webmanifest")).unwrap();
    let folder = manifest.rsplit_once('/').unwrap().0;

    let manifest: Value = serde_json::from_str(&get(manifest).await.body).unwrap();

    let app = "../../app";
    assert_eq!([&manifest["start_url"], &manifest["scope"], &manifest["share_target"]["action"]], [app; 3]);
    assert_eq!(manifest["share_target"]["method"], "GET");
    for icon in manifest["icons"].as_array().unwrap() {
        let icon = get(&format!("{folder}/{}", icon["src"].as_str().unwrap())).await;
        assert_eq!((icon.status, icon.header("content-type")), (200, "image/svg+xml"));
    }
}

/// A page that is open asks for such files when another version has been deployed, and then loads itself again.
#[tokio::test]
async fn files_of_another_version_are_gone() {
    let file = files_of_the_application().await.remove(0);
    let name = file.rsplit('/').next().unwrap();

    for path in [format!("/app/0c5f1b2a3d4e5f60718293a4/{name}"), format!("{file}x"), format!("{file}/x")] {
        let answer = get(&path).await;

        assert_eq!((answer.status, answer.header("cache-control")), (404, "no-store"), "{path}");
    }
}

#[tokio::test]
async fn the_page_names_the_version_that_it_is() {
    let page = get("/app").await;

    let version = attributes(&page.body, "content").pop().unwrap();
    let addresses: Vec<_> =
        ["src", "href"].into_iter().flat_map(|name| attributes(&page.body, name)).filter(|a| a.contains('/')).collect();
    assert_eq!(version.len(), 24, "{version}");
    let ours = format!("app/{version}/");
    let is_known =
        |address: &&str| address.starts_with(&ours) || address.starts_with("data:") || *address == "api/docs";
    assert!(addresses.len() > 3 && addresses.iter().all(is_known), "{addresses:?}");
}

#[tokio::test]
async fn the_applications_policy_allows_its_own_files_only() {
    let page = get("/app").await;

    let policy: Vec<_> = page.header("content-security-policy").split("; ").collect();
    for directive in ["default-src 'self'", "object-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"] {
        assert!(policy.contains(&directive), "{directive} is not in {policy:?}");
    }
    assert!(!policy.iter().any(|directive| directive.starts_with("script-src") || directive.contains("unsafe")));
    assert!(!page.body.contains("<style") && !page.body.contains(" style=") && !page.body.contains("<script>"));
    assert_eq!((page.header("referrer-policy"), page.header("x-content-type-options")), ("no-referrer", "nosniff"));
}

#[tokio::test]
async fn what_others_have_written_is_what_the_readme_names() {
    let readme = read("functions/web/app/vendor/README.md");
    let rows: Vec<_> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let preact = read("functions/web/app/vendor/preact.js");

    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in rows {
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let text = if row.contains("in `preact.js`") {
            let (_, rest) = preact.split_once(&format!("\n// {}\n", cells[1])).unwrap();
            rest.split_once("}).call(").unwrap().0.to_owned()
        } else {
            read(&format!("functions/web/app/vendor/{}", cells[1]))
        };
        assert_eq!(hex::encode(Sha256::digest(text)), cells[2], "{}", cells[1]);
    }
}

/// The form for links says of a code at once that it is a reserved word, and the document names them all.
#[tokio::test]
async fn the_application_and_the_document_know_the_reserved_words() {
    let source = read("functions/web/app/parts/link-form/code-field.js");
    let list = source.split("const RESERVED = [").nth(1).unwrap().split(']').next().unwrap();
    let known: Vec<_> =
        list.split(',').map(|word| word.trim().trim_matches('\'')).filter(|word| !word.is_empty()).collect();

    let document = get("/api/openapi.json").await.json();
    let text = &document["components"]["schemas"]["GivenLink"]["properties"]["custom_code"]["description"];
    let named: Vec<_> =
        text.as_str().unwrap().rsplit("refused:").next().unwrap().split([',', '.']).map(str::trim).collect();

    let reserved: Vec<_> = reserved_words().collect();
    assert_eq!(known, reserved);
    assert_eq!(named.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>(), reserved);
}

// ------------------------------------------------------------------------------------------------------------------ Root

/// The address is relative, since the API may have a path: `/_aws/execute-api/c0ffee00/` locally.
#[tokio::test]
async fn the_root_leads_to_the_web_application() {
    let answer = get("/").await;

    assert_eq!((answer.status, answer.header("location")), (302, "app"));
    assert_eq!((answer.header("cache-control"), answer.body.as_str()), ("public, max-age=300", ""));
}

#[tokio::test]
async fn a_slash_behind_the_applications_address_leads_to_the_one_without() {
    for (path, leads_to) in [("/app/", "../app"), ("/app/?via=mail", "../app?via=mail")] {
        let answer = request(path).outside_the_contract().send_to(&web()).await;

        assert_eq!((answer.status, answer.header("location")), (302, leads_to));
    }
}

#[tokio::test]
async fn the_root_leads_to_the_home_that_is_configured() {
    for home in ["https://www.example.com/", "/about"] {
        let web = Web { home: Home::parse(home).unwrap(), ..web() };

        let answer = request("/").send_to(&web).await;

        assert_eq!((answer.status, answer.header("location")), (302, home));
    }
}

#[tokio::test]
async fn a_slash_behind_a_code_leads_to_the_link() {
    for (path, leads_to) in [
        ("/launch/", Some("../launch")),
        ("/launch/?utm_source=mail&q=caf%E9&qr=1", Some("../launch?utm_source=mail&q=caf%E9&qr=1")),
        ("/laun-ch/", Some("../laun-ch")),
        ("/launch//", None),
        ("/laun.ch/", None),
    ] {
        let answer = request(path).outside_the_contract().send_to(&web()).await;

        assert_eq!(answer.status, if leads_to.is_some() { 302 } else { 404 }, "{path}");
        assert_eq!(answer.header("location"), leads_to.unwrap_or_default(), "{path}");
    }
}

#[tokio::test]
async fn a_password_posted_with_a_trailing_slash_is_redirected_without_it() {
    let answer = RequestBuilder::new("POST", "/launch/?a=b").outside_the_contract().send_to(&web()).await;

    assert_eq!((answer.status, answer.header("location")), (307, "../launch?a=b"));
}

#[tokio::test]
async fn a_browser_gets_a_page_where_there_is_nothing() {
    for path in ["/launch/anything", "/api/nothing"] {
        let answer = request(path).header("accept", "text/html").outside_the_contract().send_to(&web()).await;

        assert_eq!((answer.status, answer.header("content-type")), (404, "text/html; charset=utf-8"), "{path}");
        assert!(answer.body.contains("This page doesn’t exist"), "{}", answer.body);
        assert_eq!(request(path).send_to(&web()).await.problem(), (404, "there is nothing at this address".into()));
    }
}

#[tokio::test]
async fn it_says_what_runs_here() {
    let answer = get("/health").await;

    let version = env!("CARGO_PKG_VERSION");
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.body, format!(r#"{{"commit":null,"service":"linklet","status":"ok","version":"{version}"}}"#));
}

#[tokio::test]
async fn security_txt_names_the_contact_if_there_is_one() {
    let mut pages = Pages::default();
    pages.contact = Some("abuse@example.com");

    let answer = request("/.well-known/security.txt").outside_the_contract().send_to(&Web { pages, ..web() }).await;

    let (contact, expiry) = answer.body.split_once('\n').unwrap();
    let expiry = Timestamp::parse(expiry.trim().strip_prefix("Expires: ").unwrap()).unwrap();
    assert_eq!(
        (contact, answer.header("content-type")),
        ("Contact: mailto:abuse@example.com", "text/plain; charset=utf-8")
    );
    assert!(Timestamp::now() < expiry);
    assert_eq!(request("/.well-known/security.txt").outside_the_contract().send_to(&web()).await.status, 404);
}

#[tokio::test]
async fn a_sane_correlation_id_comes_back_and_any_other_is_replaced() {
    let sane = request("/health").header("x-correlation-id", "req-42").send_to(&web()).await;
    let other = request("/health").header("x-correlation-id", "two words").send_to(&web()).await;

    assert_eq!(sane.header("x-correlation-id"), "req-42");
    assert_eq!(other.header("x-correlation-id").len(), 36);
}

#[tokio::test]
async fn other_methods_and_paths_are_unknown() {
    for path in ["/api/docs/", "//", "/app/main.js", "/app//"] {
        assert_eq!(RequestBuilder::new("GET", path).send_to(&web()).await.status, 404, "{path}");
    }
    let refused = RequestBuilder::new("POST", "/app").send_to(&web()).await;
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD"));
}
