//! Mails that the local system has sent. Needs `AWS_ENDPOINT_URL`, where the emulator keeps them.

use std::{env, time::Duration};

use serde_json::{Value, json};

const TOKEN_CHARACTERS: usize = "rst_".len() + 32;

/// The token of this kind in the mail that an address gets, or `None` without an emulator.
pub async fn token_mailed_to(email: &str, kind: &str) -> Option<String> {
    let text = mail_to(email, kind).await?;
    text.find(kind).map(|at| text[at..at + TOKEN_CHARACTERS].to_owned())
}

/// The text of a mail to an address that has these words, or `None` without an emulator. The mail's HTML has them, too.
pub async fn mail_to(email: &str, words: &str) -> Option<String> {
    for _ in 0..240 {
        let mails = mails_to(email).await?;
        let found = mails.iter().find(|mail| mail["BodyText"].as_str().unwrap().contains(words));
        if let Some(mail) = found {
            assert!(mail["BodyHtml"].as_str().unwrap().contains(words), "{mail}");
            return mail["BodyText"].as_str().map(str::to_owned);
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("{email} gets no mail with {words}");
}

/// All mails to an address so far, or `None` without an emulator.
async fn mails_to(email: &str) -> Option<Vec<Value>> {
    let Ok(endpoint) = env::var("AWS_ENDPOINT_URL") else {
        eprintln!("skipped: AWS_ENDPOINT_URL is not set, so mails can't be read");
        return None;
    };
    let kept: Value = reqwest::get(format!("{endpoint}/_ministack/ses/messages")).await.unwrap().json().await.unwrap();
    let mails = kept["messages"].as_object().unwrap().values().flat_map(|mails| mails.as_array().unwrap());
    Some(mails.filter(|mail| mail["To"] == json!([email])).cloned().collect())
}
