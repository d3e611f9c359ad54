//! What AWS allows a stack, and what of a deployed one no update may replace.

use std::collections::BTreeMap;
use std::{env, fs};

use linklet_test_support::Template;
use serde_json::{Map, Value, json};

use super::functions_of_api;

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

/// Without the list of failures in an answer, Lambda takes all of a batch as done. A shard of a stream has two readers at most, and keeps
/// records for 24 hours; half of that is left to an operator.
#[test]
fn each_event_source_reports_failures_and_leaves_time_to_repair_them() {
    let template = Template::load();
    let mut readers = BTreeMap::<_, u32>::new();
    for (id, source) in template.of_type("AWS::Lambda::EventSourceMapping") {
        assert_eq!(source["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]), "{id}");
        assert!(source["FilterCriteria"]["Filters"].as_array().is_none_or(|filters| filters.len() <= 5), "{id}");
        let arn = source["EventSourceArn"].as_str().unwrap();
        if arn.ends_with(".StreamArn") {
            *readers.entry(arn).or_default() += 1;
            assert!((1..=43_200).contains(&source["MaximumRecordAgeInSeconds"].as_u64().unwrap()), "{id}");
            assert!(source["DestinationConfig"]["OnFailure"]["Destination"].is_string(), "{id}");
        }
    }
    assert!(!readers.is_empty() && readers.values().all(|readers| *readers <= 2), "{readers:?}");
}

/// DynamoDB creates one table with indexes at a time
/// ([CreateTable](https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html)).
#[test]
fn tables_outlive_the_stack_and_those_with_indexes_wait_for_each_other() {
    let template = Template::load();
    let mut first = 0;
    for (id, table) in template.of_type("AWS::DynamoDB::Table") {
        let ends = (Some("RetainExceptOnCreate"), Some("Retain"));
        assert_eq!(template.at_the_end(id) == ends, id != "ThrottleTable", "{id}");
        first += u32::from(table.get("GlobalSecondaryIndexes").is_some() && template.prerequisites(id).is_empty());
    }
    assert_eq!(first, 1);
}

/// API Gateway waits for 30 seconds ([quotas](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html)).
#[test]
fn api_gateway_waits_longer_than_any_function_behind_it() {
    let template = Template::load();
    let functions = template.functions();
    for id in functions_of_api(template) {
        assert!(functions[id]["Timeout"].as_u64().unwrap() < 30, "{id}");
    }
}

/// The characters of the longest value of a parameter, or of what a version's description names.
fn longest(template: &Template, name: &str) -> usize {
    match name {
        "Metrics" => return "no-metrics".len(),
        "Base" => return longest(template, "PublicBaseUrl").max("https://".len() + longest(template, "DomainName")),
        _ => {}
    }
    let parameter = &template.parameters()[name];
    let allowed = parameter["AllowedValues"].as_array().into_iter().flatten();
    let allowed = allowed.filter_map(Value::as_str).map(str::len).max();
    let number = || parameter["MaxValue"].as_u64().map(|most| most.to_string().len());
    let text = || parameter["MaxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
    allowed.or_else(number).or_else(text).unwrap_or_else(|| panic!("{name} may have any length"))
}

/// Lambda takes [256 characters](https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html).
#[test]
fn a_versions_description_has_room_for_the_longest_parameters() {
    let template = Template::load();
    for (id, function) in template.functions() {
        let Some(description) = function["VersionDescription"][0].as_str() else { continue };
        let names = description.split("${").skip(1).map(|part| part.split('}').next().unwrap());
        let length: usize = names.map(|name| longest(template, name) + 1).sum();
        assert!(length <= 257, "{id}: {length}");
    }
}
