//! The empty function with an internal extension: what it costs to have something done after the answer.
//!
//! The extension is told of each invocation, waits until the handler is through, and has nothing to do then.

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use lambda_http::aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use lambda_runtime_api_client::{PooledClient, body::Body};
use tokio::sync::Notify;

const ID: &str = "lambda-extension-identifier";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (extension, answered) = (Extension::register().await?, Notify::new());
    let handler = async |_event: LambdaEvent<ApiGatewayV2httpRequest>| {
        let mut answer = ApiGatewayV2httpResponse::default();
        answer.status_code = 200;
        answered.notify_one();
        Ok::<_, Error>(answer)
    };
    tokio::try_join!(lambda_runtime::run(service_fn(handler)), extension.run(&answered))?;
    Ok(())
}

struct Extension {
    api: PooledClient,
    id: String,
}

impl Extension {
    async fn register() -> Result<Self, Error> {
        let api = PooledClient::builder().build();
        let request = Request::builder()
            .method(Method::POST)
            .uri("/2020-01-01/extension/register")
            .header("lambda-extension-name", "noop")
            .body(Body::from(r#"{"events":["INVOKE"]}"#))?;
        let response = api.call(request).await?;
        let id = response.headers().get(ID).ok_or("registering answers with an id")?.to_str()?.to_owned();
        read(response).await?;
        Ok(Self { api, id })
    }

    async fn run(&self, answered: &Notify) -> Result<(), Error> {
        loop {
            let request = Request::get("/2020-01-01/extension/event/next").header(ID, &self.id).body(Body::empty())?;
            read(self.api.call(request).await?).await?;
            answered.notified().await;
        }
    }
}

/// Reads an answer to its end, else its connection can't be used again.
async fn read(response: Response<impl BodyExt<Error = impl Into<Error>>>) -> Result<(), Error> {
    let status = response.status();
    response.into_body().collect().await.map_err(Into::into)?;
    if status.is_success() { Ok(()) } else { Err(format!("the Extensions API answers {status}").into()) }
}
