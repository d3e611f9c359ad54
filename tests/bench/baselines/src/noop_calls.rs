//! The empty function with two bare calls of the SDK, as many as a redirect makes: it reads an item, answers with one of its
//! attributes, and writes an item as large as a click's. What a redirect takes beyond this is Linklet's own.

use std::{env, sync::atomic::AtomicU64};

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client, primitives::Blob, types::AttributeValue};
use lambda_http::aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use lambda_http::http::HeaderValue;
use lambda_http::http::header::LOCATION;
use lambda_runtime::{Error, LambdaEvent, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let (links, clicks) = (&env::var("LINKS_TABLE")?, &env::var("CLICKS_TABLE")?);
    let (client, number) = (&client, &AtomicU64::new(0));
    let handler = async |event: LambdaEvent<ApiGatewayV2httpRequest>| {
        let path = event.payload.raw_path.unwrap_or_default();
        let target = read(client, links, path.rsplit('/').next().unwrap_or_default()).await?;
        write(client, clicks, number.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).await?;
        let mut answer = ApiGatewayV2httpResponse::default();
        answer.status_code = 301;
        answer.headers.insert(LOCATION, HeaderValue::from_str(&target)?);
        Ok::<_, Error>(answer)
    };
    lambda_runtime::run(service_fn(handler)).await
}

async fn read(client: &Client, table: &str, code: &str) -> Result<String, Error> {
    let read = client
        .get_item()
        .table_name(table)
        .key("pk", AttributeValue::S(format!("LINK#{code}")))
        .key("sk", AttributeValue::S("LINK".to_owned()))
        .send()
        .await?;
    let target = read.item.and_then(|mut item| item.remove("original_url"));
    match target {
        Some(AttributeValue::S(target)) => Ok(target),
        _ => Err("the link is there".into()),
    }
}

async fn write(client: &Client, table: &str, number: u64) -> Result<(), Error> {
    client
        .put_item()
        .table_name(table)
        .item("pk", AttributeValue::S("CLICK#bare".to_owned()))
        .item("sk", AttributeValue::S(format!("{number:015}")))
        .item("data", AttributeValue::B(Blob::new([0; 200])))
        .send()
        .await?;
    Ok(())
}
