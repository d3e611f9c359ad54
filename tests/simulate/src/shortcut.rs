//! What the recorder does, without the SDK, which takes most of a simulation's time. Of a trace with very many clicks, most are
//! stored like this: the advice, the item and the parked message are the product's, the tries are modelled.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_types::base64;
use linklet_domain::{Click, ParkedClick, Spread};
use linklet_lambda::following::Advice;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::dynamodb::CLICKS;
use crate::lambda::Environment;
use crate::limits;
use crate::world::{ANALYTICS, Redirect, World};

/// The mean pauses before the tries of the SDK.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_micros(12_500), Duration::from_millis(25)];

/// Stores a click, or parks it.
pub async fn record(world: &World, environment: &Environment<Redirect>, click: Click) {
    let recorder = &environment.has.recorder;
    let spread = match recorder.spreading.advise(&click.link, click.clicked_at()) {
        Advice::Store(spread) => spread,
        Advice::Widen { until } => match recorder.clicks.widen(&click.link, until).await {
            Ok(()) => {
                recorder.spreading.widened(&click.link, until);
                Spread::Wide
            }
            Err(_) => Spread::Narrow,
        },
    };
    let item = recorder.clicks.item_of(&click, spread).expect("a click can be stored");
    let request = json!({"TableName": CLICKS, "Item": json_of(item)});
    for pause in PAUSES {
        sleep(pause).await;
        environment.processor.work(limits::CALL_WORK).await;
        sleep(limits::CALL / 2).await;
        let (status, _) = world.dynamodb.call("PutItem", request.clone());
        sleep(limits::CALL / 2).await;
        if status == 200 {
            return;
        }
    }
    recorder.spreading.refused(&click.link, click.clicked_at());
    environment.processor.work(limits::CALL_WORK).await;
    sleep(limits::SEND).await;
    let parked = serde_json::to_string(&ParkedClick { click, spread }).expect("a click is JSON");
    world.queues.send(ANALYTICS, &[&parked]);
}

/// An item as the SDK sends it. Clicks have few kinds of attributes.
fn json_of(item: impl IntoIterator<Item = (String, AttributeValue)>) -> Value {
    let attributes = item.into_iter().map(|(name, value)| {
        let value = match value {
            AttributeValue::S(text) => json!({"S": text}),
            AttributeValue::N(number) => json!({"N": number}),
            AttributeValue::Bool(is_so) => json!({"BOOL": is_so}),
            AttributeValue::B(bytes) => json!({"B": base64::encode(bytes)}),
            AttributeValue::Null(_) => json!({"NULL": true}),
            other => panic!("a click has no {other:?}"),
        };
        (name, value)
    });
    Value::Object(attributes.collect::<Map<_, _>>())
}
