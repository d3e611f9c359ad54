use linklet_domain::OwnAddress;
use linklet_test_support::internet::{Internet, OTHER, PUBLIC, Web, always, answer, redirect};

use super::{fetch, fetch_server, fetch_with, fetcher};

fn hops(count: usize) -> Vec<String> {
    (1..=count).map(|hop| redirect(&format!("/{hop}"))).chain([answer(200)]).collect()
}

fn web(answers: &[String]) -> Web {
    Web::new(answers.iter().map(String::as_str))
}

#[tokio::test(start_paused = true)]
async fn ten_redirects_are_followed() {
    let web = web(&hops(10));

    let attempt = fetch_server(web.server()).await;

    assert_eq!(attempt.outcome, Ok(200));
    let paths: Vec<_> = web.requests().iter().map(|head| head.lines().next().unwrap().to_owned()).collect();
    let hops = (1..=10).map(|hop| format!("GET /{hop} HTTP/1.1"));
    assert_eq!(paths, [String::from("GET / HTTP/1.1")].into_iter().chain(hops).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_eleventh_redirect_is_too_many() {
    let (eleven, endless) = (web(&hops(11)), Web::new([redirect("/again").as_str()]));
    for web in [eleven, endless] {
        let attempt = fetch_server(web.server()).await;

        assert_eq!((attempt.outcome, attempt.is_transient), (Err("too_many_redirects"), false));
        assert_eq!(web.requests().len(), 11);
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_another_host_is_resolved_and_checked_anew() {
    let elsewhere = Web::new([answer(204).as_str()]);
    let internet = Internet::default()
        .name("a.example", &[PUBLIC])
        .name("b.example", &[OTHER])
        .server(PUBLIC, Web::new([redirect("//b.example:8080/there?x=1#part").as_str()]).server())
        .server(OTHER, elsewhere.server());

    let attempt = fetch(&internet, "http://a.example/").await;

    assert_eq!(attempt.outcome, Ok(204));
    assert_eq!(internet.resolved(), ["a.example", "b.example"]);
    let head = &elsewhere.requests()[0];
    assert!(head.starts_with("GET /there?x=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("host: b.example:8080\r\n"), "{head}");
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_anything_but_http_is_invalid() {
    let locations = [
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "data:text/plain,hello",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://:secret@example.com/",
        "http://",
        "http://exa mple.com/",
        "http://[fe80::1%25eth0]/",
        "http://256.256.256.256/",
        "http://example.com:99999/",
    ];
    for location in locations {
        let internet = Internet::default()
            .server(PUBLIC, Web::new([redirect(location).as_str()]).server())
            .name("example.com", &[OTHER]);

        let attempt = fetch(&internet, &format!("http://{PUBLIC}/")).await;

        assert_eq!((attempt.outcome, attempt.is_transient), (Err("invalid_redirect"), false), "{location}");
        assert_eq!(internet.connected().len(), 1, "{location}");
    }
}

/// Each check would count as a click.
#[tokio::test(start_paused = true)]
async fn a_redirect_to_the_shortener_itself_is_not_followed() {
    let own = OwnAddress::parse("https://go.example.com").unwrap();
    let locations = ["http://go.example.com/launch", "https://GO.example.com.:443/r/launch", "//%67o.example.com/a"];
    for location in locations {
        let internet = Internet::default()
            .name("go.example.com", &[OTHER])
            .server(OTHER, always(200))
            .server(PUBLIC, Web::new([redirect("/on").as_str(), redirect(location).as_str()]).server());

        let attempt = fetch_with(&fetcher(&internet).excluding(vec![own.clone()]), &format!("http://{PUBLIC}/")).await;

        assert_eq!((attempt.outcome, attempt.is_transient), (Err("invalid_redirect"), false), "{location}");
        assert_eq!(internet.resolved(), [""; 0], "{location}");
    }
}

/// The URL may have been registered before the host belonged to the shortener.
#[tokio::test(start_paused = true)]
async fn a_url_of_the_shortener_itself_is_not_fetched_and_others_are() {
    let own = OwnAddress::parse("https://go.example.com").unwrap();
    let internet =
        Internet::default().name("go.example.com", &[OTHER]).name("example.com", &[OTHER]).server(OTHER, always(200));
    let fetcher = fetcher(&internet).excluding(vec![own]);

    assert_eq!(fetch_with(&fetcher, "http://Go.Example.com/launch").await.outcome, Err("other"));
    for other in ["http://example.com/go.example.com", "http://go.example.com:8080/launch"] {
        assert_eq!(fetch_with(&fetcher, other).await.outcome, Ok(200), "{other}");
    }
    assert_eq!(internet.resolved(), ["example.com", "go.example.com"]);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_port_that_is_not_allowed_is_not_followed() {
    let internet = Internet::default().server(PUBLIC, Web::new([redirect("http://example.com:25/").as_str()]).server());

    let attempt = fetch(&internet, &format!("http://{PUBLIC}/")).await;

    assert_eq!(attempt.outcome, Err("port_not_allowed"));
    assert_eq!(internet.resolved(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_without_a_place_is_an_answer() {
    let without = "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n";
    let not_modified = "HTTP/1.1 304 Not Modified\r\nlocation: /\r\n\r\n";
    let created = "HTTP/1.1 201 Created\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n";
    for (answer, status) in [(without, 302), (not_modified, 304), (created, 201)] {
        assert_eq!(fetch_server(Web::new([answer]).server()).await.outcome, Ok(status));
    }
}

#[tokio::test(start_paused = true)]
async fn each_status_that_redirects_is_followed() {
    for status in [301, 302, 303, 307, 308] {
        let moved = format!("HTTP/1.1 {status} Moved\r\nlocation: http://[{OTHER}]/\r\ncontent-length: 0\r\n\r\n");
        let internet =
            Internet::default().server(PUBLIC, Web::new([moved.as_str()]).server()).server(OTHER, always(200));

        assert_eq!(fetch(&internet, &format!("http://{PUBLIC}/")).await.outcome, Ok(200), "{status}");
    }
}
