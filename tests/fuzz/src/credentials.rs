//! What callers show to be let in.

use std::sync::LazyLock;

use futures_util::FutureExt as _;
use jsonwebtoken::{Algorithm, EncodingKey};
use linklet_domain::{
    ApiKeySecret, EmailAddress, KeyHash, KeyPrefix, Membership, Role, SessionId, Timestamp, UserId, WorkspaceId,
};
use linklet_lambda::http::{GatewayEvent, HeaderValue, Request};
use linklet_lambda::identity::{Caller, TokenIssuer, TokenSecret, TokenVerifier};
use serde_json::Value;

use crate::{log::logged, text};

const SECRET: &str = "a secret for fuzzing, 32 bytes or more";
const OTHER_SECRET: &str = "another secret, also 32 bytes or more";

static VERIFIER: LazyLock<TokenVerifier> = LazyLock::new(|| TokenVerifier::new(&[secret()]));

/// A token of ours.
static GOOD: LazyLock<String> = LazyLock::new(|| {
    let email = EmailAddress::parse("ada@example.com").expect("an address");
    let user = UserId::generate();
    let membership = Membership::new(WorkspaceId::generate(), Role::Admin, Timestamp::now());
    let issuer = TokenIssuer::new(&secret());
    let issued = issuer
        .issue(&SessionId::beginning_at(Timestamp::now()), &user, &email, Some(&membership), Timestamp::now())
        .now_or_never();
    issued.expect("there is nothing to wait for").expect("a token").0
});

fn secret() -> TokenSecret {
    TokenSecret::parse(SECRET).expect("long enough")
}

/// `Authorization` headers. The first byte says what the rest is:
/// `h` the header as it stands, `m` changes to a token of ours, `c` claims signed by somebody else, `o` claims signed by us,
/// `a` a header in JSON before the claims of a token of ours, signed by nobody or somebody else.
pub fn bearer_tokens(input: &[u8]) {
    let Some((kind, rest)) = input.split_first() else { return };
    match kind {
        b'h' => assert!(caller(rest).is_none(), "a guessed token was accepted"),
        b'm' => {
            let changed = changed(&GOOD, rest);
            let is_same = changed == GOOD.as_bytes();
            assert_eq!(bearer(&changed).is_some(), is_same, "{} for {}", text(&changed), *GOOD);
        }
        b'c' => assert!(bearer(signed(HEADER, rest, OTHER_SECRET).as_bytes()).is_none(), "a forged token was accepted"),
        b'o' => {
            if let Some(caller) = bearer(signed(HEADER, rest, SECRET).as_bytes()) {
                is_as_claimed(&caller, rest);
            }
        }
        b'a' => {
            let claims = decoded(GOOD.split('.').nth(1).unwrap());
            for token in [signed(rest, &claims, OTHER_SECRET), signed(rest, &claims, "")] {
                let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
                assert!(bearer(token.as_bytes()).is_none(), "a forged token was accepted");
                assert!(bearer(unsigned.as_bytes()).is_none(), "an unsigned token was accepted");
            }
        }
        _ => {}
    }
}

/// API keys: what has the form of one is kept as it is and shown by nothing but itself.
pub fn api_keys(input: &[u8]) {
    let text = text(input);
    if let Ok(prefix) = KeyPrefix::parse(&text) {
        assert_eq!(prefix.as_str(), text);
    }
    if let Ok(hash) = KeyHash::parse(&text) {
        assert_eq!(hash.as_str(), text);
    }
    let Ok(key) = ApiKeySecret::parse(&text) else { return };
    assert_eq!(key.reveal(), text);
    assert!(text.starts_with(key.prefix().as_str()) && text.len() > key.prefix().as_str().len());
    assert!(!format!("{key:?}").contains(&text[key.prefix().as_str().len()..]), "a key shows itself");
    assert_eq!(KeyHash::parse(key.hash().as_str()), Ok(key.hash()));
}

const HEADER: &[u8] = br#"{"typ":"JWT","alg":"HS256"}"#;

fn is_as_claimed(caller: &Caller, claims: &[u8]) {
    let claims: Value = serde_json::from_slice(claims).expect("claims that were accepted are JSON");
    assert_eq!(claims["iss"], "url-shortener");
    assert!(claims["exp"].as_i64().is_some_and(|expiry| expiry >= Timestamp::now().unix_seconds() - 5), "{claims}");
    assert_eq!(claims["role"], caller.role.to_string());
    assert_eq!(UserId::parse(claims["sub"].as_str().unwrap()).as_ref(), Ok(&caller.user));
    assert_eq!(WorkspaceId::parse(claims["ws"].as_str().unwrap()).as_ref(), Ok(&caller.workspace));
}

/// Triples of position, position and byte: each puts the byte there.
fn changed(token: &str, changes: &[u8]) -> Vec<u8> {
    let mut token = token.as_bytes().to_vec();
    for change in changes.chunks_exact(3) {
        let position = usize::from(change[0]) * 256 + usize::from(change[1]);
        let length = token.len();
        token[position % length] = change[2];
    }
    token
}

fn bearer(token: &[u8]) -> Option<Caller> {
    caller(&[b"Bearer ", token].concat())
}

/// Who is let in with this `Authorization` header, if it can be one. Whatever is in it, what is logged is a log.
fn caller(header: &[u8]) -> Option<Caller> {
    let mut event = GatewayEvent::default();
    event.headers.insert("authorization", HeaderValue::from_bytes(header).ok()?);
    let request = Request::from(event);
    let mut caller = None;
    let lines =
        logged(|| caller = VERIFIER.authenticate(&request).now_or_never().expect("there is nothing to wait for").ok());
    assert!(!format!("{lines:?}").contains("hunter2"), "what was refused is quoted: {lines:?}");
    caller
}

fn signed(header: &[u8], claims: &[u8], secret: &str) -> String {
    let message = format!("{}.{}", encoded(header), encoded(claims));
    let key = EncodingKey::from_secret(secret.as_bytes());
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::HS256).expect("a signature");
    format!("{message}.{signature}")
}

fn encoded(bytes: &[u8]) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, bytes)
}

fn decoded(text: &str) -> Vec<u8> {
    base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, text).expect("a token's part")
}
