//! What Linklet's functions find in their environment: the variables that template.yaml gives them.

use std::path::PathBuf;

use linklet_test_support::{FakeQueues, Program, Template};
use serde_json::Value;

/// Limits that no measurement reaches. (They are per client or workspace, and what many do in a minute one does here in seconds.)
const UNREACHED: [&str; 3] = ["RedirectLimitPerMinute", "ShortenPerMinute", "ShortenPerMinuteAndAddress"];

/// A function, by its folder's name, with the variables and the memory of the template. Tables have their logical ids as names.
///
/// # Panics
/// When the template has no such function, or one of its variables stands for something that isn't there to be measured.
pub fn program(function: &str, executable: PathBuf, queues: &FakeQueues) -> Program {
    let template = Template::load();
    let folder = format!("/{function}/");
    let mut functions = template.functions().into_values();
    let properties = functions
        .find(|properties| properties["CodeUri"].as_str().is_some_and(|uri| uri.ends_with(&folder)))
        .unwrap_or_else(|| panic!("template.yaml has no function {function}"));
    let variables = properties.pointer("/Environment/Variables").and_then(Value::as_object);
    let resolved = variables.into_iter().flatten().map(|(name, value)| {
        let value = text(by_default(template, value));
        let resolved = resolve(template, queues, &value);
        let unknown = || panic!("what is {name}={value} of template.yaml? Say it in tests/bench/src/functions.rs");
        (name.clone(), resolved.unwrap_or_else(unknown))
    });
    let memory = properties["MemorySize"].as_u64().unwrap_or(128);
    Program { command: vec![executable], variables: resolved.collect(), memory }
}

/// What stands behind a variable's value: the template's short intrinsic functions are their arguments by now.
fn resolve(template: &Template, queues: &FakeQueues, value: &str) -> Option<String> {
    let is = |kind: &str, id: &str| template.of_type(kind).any(|(known, _)| known == id);
    if UNREACHED.contains(&value) {
        return Some(u32::MAX.to_string());
    }
    if let Some(parameter) = template.parameters().get(value) {
        return Some(text(&parameter["Default"]));
    }
    let (resource, attribute) = value.split_once('.').unwrap_or((value, ""));
    match attribute {
        _ if value == "AWS::StackName" => Some("linklet".to_owned()),
        "" if is("AWS::DynamoDB::Table", resource) => Some(resource.to_owned()),
        "" if is("AWS::SQS::Queue", resource) => Some(queues.url(resource)),
        "Id" if is("AWS::SecretsManager::Secret", resource) => Some(resource.to_owned()),
        "ApiEndpoint" => Some("https://api.example.com".to_owned()),
        "" if !template.has(resource) && !value.contains(['$', ':']) => Some(value.to_owned()),
        _ => None,
    }
}

/// The value that a variable has on none of its conditions, which are those of parameters that aren't the default.
fn by_default<'a>(template: &Template, value: &'a Value) -> &'a Value {
    let is_condition = value[0].as_str().is_some_and(|name| template.conditions().contains_key(name));
    if is_condition { by_default(template, &value[2]) } else { value }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(function: &str) -> BTreeMap<String, String> {
        program(function, PathBuf::new(), &FakeQueues::start()).variables
    }

    #[test]
    fn a_function_has_the_tables_secrets_and_settings_of_the_template() {
        let redirect = of("redirect");

        assert_eq!(redirect["LINKS_TABLE"], "LinksTable");
        assert_eq!(redirect["CLICK_SALT_ID"], "ClickSalt");
        assert_eq!(redirect["LOG_LEVEL"], "info");
        assert_eq!(redirect["TRUSTED_EDGE"], "none");
        assert_eq!(redirect["METRICS_NAMESPACE"], "");
    }

    #[test]
    fn a_queue_is_its_url_and_a_literal_is_itself() {
        let queues = FakeQueues::start();
        let (template, of) = (Template::load(), |value: &str| resolve(Template::load(), &queues, value));

        assert_eq!(of("AnalyticsQueue"), Some(queues.url("AnalyticsQueue")));
        assert_eq!(of("after-response"), Some("after-response".to_owned()));
        assert!(template.has("RedirectFunction"));
    }

    #[test]
    fn what_cannot_be_known_is_an_error_and_no_guess() {
        let (template, queues) = (Template::load(), FakeQueues::start());

        for value in ["RedirectFunction", "NotificationsTopic", "LinksTable.Arn", "https://${HttpApi}/", "AWS::Region"]
        {
            assert_eq!(resolve(template, &queues, value), None, "{value}");
        }
    }

    #[test]
    fn limits_are_out_of_reach() {
        assert_eq!(of("redirect")["REDIRECT_LIMIT_PER_MINUTE"], u32::MAX.to_string());
        for parameter in UNREACHED {
            assert!(Template::load().parameters().contains_key(parameter), "{parameter}");
        }
    }

    #[test]
    fn every_variable_of_the_measured_functions_is_known() {
        for function in ["redirect", "shorten", "list", "stats", "overview", "auth"] {
            assert!(!of(function).is_empty(), "{function}");
        }
    }
}
