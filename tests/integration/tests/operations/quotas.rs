//! What AWS allows a stack, and what of a deployed one no update may replace.

use std::collections::BTreeMap;
use std::{env, fs};

use linklet_test_support::Template;
use serde_json::{Map, Value, json};

/// A stack's name of 32 letters.
const STACK: &str = "linklet-of-the-marketing-and-pr-";

/// What CloudFormation calls a resource without a name of its own.
fn name_of(id: &str) -> String {
    format!("{STACK}{id}-1A2B3C4D5E6F7")
}

/// A text of the template as it is deployed, in a region with a long name.
fn deployed_text(template: &Template, text: &str) -> String {
    let arn = |id: &str| format!("arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/{}", name_of(id));
    let reference = |reference: &str| match reference.split_once('.') {
        Some((id, "StreamArn")) => format!("{}/stream/2026-01-01T00:00:00.000", arn(id)),
        Some((id, _)) => arn(id),
        None if template.has(reference) => {
            format!("https://sqs.us-gov-west-1.amazonaws.com/123456789012/{}", name_of(reference))
        }
        None => reference.chars().take(24).collect(), // a pseudo parameter, or a parameter
    };
    let is_one = |id: &str| template.has(id.split('.').next().unwrap_or(id));
    if is_one(text) {
        return reference(text);
    }
    let mut parts = text.split("${");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let (inside, after) = part.split_once('}').unwrap_or((part, ""));
        before + &reference(inside) + after
    })
}

/// Part of the template as it is deployed, with both sides of each condition.
fn deployed(template: &Template, value: &Value) -> Value {
    match value {
        Value::String(text) => deployed_text(template, text).into(),
        Value::Array(items) => items.iter().map(|item| deployed(template, item)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), deployed(template, member))).collect()
        }
        other => other.clone(),
    }
}

/// The characters of a policy, of which IAM doesn't count white space.
fn length(template: &Template, policy: &Value) -> usize {
    deployed(template, &policy["PolicyDocument"]).to_string().len()
}

/// IAM takes 10,240 characters in all inline policies of a role, and 6,144 in a managed policy
/// ([quotas](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)).
#[test]
fn the_policies_of_each_role_have_room_for_more() {
    let template = Template::load();
    for (role, properties) in template.of_type("AWS::IAM::Role") {
        let own = properties["Policies"].as_array().into_iter().flatten();
        let naming = template.policies_naming(role).into_iter();
        let inline = naming.filter_map(|id| template.of_type("AWS::IAM::Policy").find(|(policy, _)| *policy == id));
        let all: usize = own.chain(inline.map(|(_, policy)| policy)).map(|policy| length(template, policy)).sum();
        assert!((1..=9_000).contains(&all), "{role}: {all}");
    }
    for (id, policy) in template.of_type("AWS::IAM::ManagedPolicy") {
        assert!(length(template, policy) <= 5_500, "{id}");
    }
}

/// Lambda takes 4 KB of variables ([quotas](https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html)).
#[test]
fn the_variables_of_each_function_have_room_for_more() {
    let template = Template::load();
    for (id, function) in template.functions() {
        let variables = deployed(template, &function["Environment"]["Variables"]).to_string().len();
        assert!((100..=3_300).contains(&variables), "{id}: {variables}");
    }
}

/// What of a resource CloudFormation replaces it for, by its type. With its data, or with what others know of it.
const REPLACED_FOR: [(&str, &[&str]); 5] = [
    ("AWS::DynamoDB::Table", &["TableName", "KeySchema", "LocalSecondaryIndexes", "ImportSourceSpecification"]),
    ("AWS::SQS::Queue", &["QueueName", "FifoQueue"]),
    ("AWS::SecretsManager::Secret", &["Name"]),
    ("AWS::SNS::Topic", &["TopicName", "FifoTopic"]),
    ("AWS::ApiGatewayV2::Api", &["ProtocolType"]),
];

/// An update that replaces a table, a queue or a secret leaves behind what it had. `WRITE_REPLACED_FOR=yes` writes down what is new, once
/// nothing is deployed that would be replaced.
#[test]
fn no_update_replaces_what_keeps_data_or_is_known_by_its_name() {
    let template = Template::load();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/operations/replaced_for.json");
    let mut now = BTreeMap::new();
    for (kind, properties) in REPLACED_FOR {
        for (id, resource) in template.of_type(kind) {
            let kept = properties.iter().filter_map(|name| Some(((*name).to_owned(), resource.get(name)?.clone())));
            now.insert(format!("{kind} {id}"), Value::Object(kept.collect::<Map<_, _>>()));
        }
    }
    let now = serde_json::to_string_pretty(&json!(now)).unwrap() + "\n";
    if env::var("WRITE_REPLACED_FOR").is_ok_and(|write| write == "yes") {
        fs::write(path, &now).unwrap();
    }
    assert_eq!(now, fs::read_to_string(path).unwrap());
}
