//! Calls of servers that are known, whose answers are read.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::HeaderValue;
use linklet_domain::TargetUrl;
use linklet_fetch::{Answer, Call, FetchError};
use linklet_test_support::internet::{Internet, PUBLIC, Web, answer, read_head, redirect, server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{TIMEOUT, fetcher};

async fn call(internet: &Internet, url: &str, form: Option<&'static str>) -> Result<Answer, FetchError> {
    let (url, authorization) = (TargetUrl::parse(url).unwrap(), Some(HeaderValue::from_static("Basic c2VjcmV0")));
    fetcher(internet).call(Call { url: &url, authorization, form: form.map(Bytes::from) }).await
}

#[tokio::test(start_paused = true)]
async fn a_form_is_posted_with_its_authorization() {
    let seen = Arc::new(Mutex::new(String::new()));
    let heard = seen.clone();
    let token = server(move |mut stream| {
        let heard = heard.clone();
        async move {
            let mut head = read_head(&mut stream).await.unwrap();
            let mut body = [0; 8];
            stream.read_exact(&mut body).await.unwrap();
            head.push_str(str::from_utf8(&body).unwrap());
            *heard.lock().unwrap() = head;
            stream.write_all(answer(400).as_bytes()).await.unwrap();
        }
    });
    let internet = Internet::default().server(PUBLIC, token);

    let answer = call(&internet, &format!("http://{PUBLIC}/token"), Some("code=a+b")).await.unwrap();

    assert_eq!((answer.status.as_u16(), &answer.body[..]), (400, &b"hello"[..]));
    let seen = seen.lock().unwrap();
    assert!(seen.starts_with("POST /token HTTP/1.1\r\n"), "{seen}");
    for line in
        ["authorization: Basic c2VjcmV0", "content-type: application/x-www-form-urlencoded", "content-length: 8"]
    {
        assert!(seen.contains(&format!("\r\n{line}\r\n")), "{line}: {seen}");
    }
    assert!(seen.ends_with("\r\n\r\ncode=a+b"), "{seen}");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_never_redirected() {
    let web = Web::new([redirect("http://169.254.169.254/").as_str()]);
    let internet = Internet::default().server(PUBLIC, web.server());

    let answer = call(&internet, &format!("http://{PUBLIC}/"), None).await.unwrap();

    assert_eq!(answer.status.as_u16(), 302);
    assert_eq!(internet.connected(), [format!("{PUBLIC}:80")]);
}

#[tokio::test(start_paused = true)]
async fn a_call_reaches_no_private_address_and_reads_no_endless_answer() {
    let refused = call(&Internet::default(), "http://10.0.0.1/", Some("a=b")).await;
    assert!(matches!(refused, Err(FetchError::NotPublic)), "{refused:?}");

    let endless = server(|mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok();
        while stream.write_all(&[b'a'; 1_024]).await.is_ok() {}
    });
    let refused = call(&Internet::default().server(PUBLIC, endless), &format!("http://{PUBLIC}/"), None).await;
    assert!(matches!(refused, Err(FetchError::TooLarge)), "{refused:?}");

    let started = tokio::time::Instant::now();
    let refused = call(&Internet::default().silence(PUBLIC), &format!("http://{PUBLIC}/"), None).await;
    assert!(matches!(refused, Err(FetchError::Timeout)), "{refused:?}");
    assert_eq!(started.elapsed(), TIMEOUT);
}
