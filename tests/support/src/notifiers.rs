use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use aws_sdk_sesv2::Client as Ses;
use aws_sdk_sns::Client as Sns;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::Value;

use crate::{faults::lock, localstack::LocalStack, remote::block_on, serve};

/// A stand-in for SNS and SES, the services outside that people hear from. If the environment names a
/// [LocalStack](crate::localstack), that has the topic.
#[derive(Clone)]
pub struct FakeNotifiers {
    state: Arc<Outside>,
    endpoint: String,
}

struct Outside {
    behind: Option<LocalStack>,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    published: Vec<String>,
    mails: Vec<Value>,
    refuses_mail: bool,
    hold: Hold,
}

/// What the topic does with its answers.
#[derive(Default, PartialEq)]
enum Hold {
    #[default]
    Nothing,
    Next,
    This,
}

type Shared = State<Arc<Outside>>;

impl FakeNotifiers {
    /// Starts it, having heard nothing.
    pub fn start() -> Self {
        let state = Arc::new(Outside { behind: LocalStack::of_environment(), heard: Mutex::default() });
        let router = Router::new()
            .route("/", post(publish))
            .route("/v2/email/outbound-emails", post(mail))
            .with_state(state.clone());
        Self { state, endpoint: serve(router) }
    }

    /// A client of the topic.
    pub fn sns(&self) -> Sns {
        Sns::from_conf(local_config!(aws_sdk_sns, &self.endpoint).build())
    }

    /// A client of the mail service.
    pub fn ses(&self) -> Ses {
        Ses::from_conf(local_config!(aws_sdk_sesv2, &self.endpoint).build())
    }

    /// Has the topic take the next notification and not answer until [`release`](Self::release).
    pub fn hold_next(&self) {
        self.lock().hold = Hold::Next;
    }

    /// Waits until the topic has the notification that it doesn't answer.
    pub async fn until_held(&self) {
        while self.lock().hold != Hold::This {
            tokio::time::sleep(A_MOMENT).await;
        }
    }

    /// Has the topic answer what it holds.
    pub fn release(&self) {
        self.lock().hold = Hold::Nothing;
    }

    /// Whether mail is refused from now on.
    pub fn refuse_mail(&self, refuses: bool) {
        self.lock().refuses_mail = refuses;
    }

    /// The requests to the topic, as they came; with LocalStack, what the topic has delivered of them, in no order.
    pub fn published(&self) -> Vec<String> {
        let (published, state) = (self.lock().published.clone(), self.state.clone());
        if published.is_empty() {
            return published;
        }
        block_on(async move {
            match &state.behind {
                Some(localstack) => localstack.delivered(published.len()).await,
                None => published,
            }
        })
    }

    /// The accepted mails.
    pub fn mails(&self) -> Vec<Value> {
        self.lock().mails.clone()
    }

    /// The texts of the accepted mails.
    pub fn texts(&self) -> Vec<String> {
        self.each("/Content/Simple/Body/Text/Data")
    }

    /// The accepted mails in HTML.
    pub fn htmls(&self) -> Vec<String> {
        self.each("/Content/Simple/Body/Html/Data")
    }

    /// The subjects of the accepted mails.
    pub fn subjects(&self) -> Vec<String> {
        self.each("/Content/Simple/Subject/Data")
    }

    /// The first recipients of the accepted mails.
    pub fn recipients(&self) -> Vec<String> {
        self.each("/Destination/ToAddresses/0")
    }

    fn each(&self, pointer: &str) -> Vec<String> {
        let text = |mail: &Value| mail.pointer(pointer).and_then(Value::as_str).expect("a mail has it").to_owned();
        self.lock().mails.iter().map(text).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        lock(&self.state.heard)
    }
}

/// Between two looks at what somebody waits for.
const A_MOMENT: Duration = Duration::from_millis(1);

const PUBLISHED: &str = "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>";

async fn publish(State(outside): Shared, body: String) -> impl IntoResponse {
    let (status, answer) = match &outside.behind {
        Some(localstack) => localstack.publish(&body).await,
        None => (StatusCode::OK, Bytes::from_static(PUBLISHED.as_bytes())),
    };
    let is_held = {
        let mut heard = lock(&outside.heard);
        if status == StatusCode::OK {
            heard.published.push(body);
        }
        let is_held = heard.hold == Hold::Next;
        if is_held {
            heard.hold = Hold::This;
        }
        is_held
    };
    while is_held && lock(&outside.heard).hold == Hold::This {
        tokio::time::sleep(A_MOMENT).await;
    }
    (status, [(header::CONTENT_TYPE, "text/xml")], answer)
}

async fn mail(State(outside): Shared, body: String) -> (StatusCode, &'static str) {
    let mut heard = lock(&outside.heard);
    if heard.refuses_mail {
        return (StatusCode::SERVICE_UNAVAILABLE, "{}");
    }
    heard.mails.push(serde_json::from_str(&body).expect("SES is told JSON"));
    (StatusCode::OK, "{\"MessageId\": \"1\"}")
}
