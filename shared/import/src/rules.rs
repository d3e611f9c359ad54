//! Rules of other systems, in the form that the API takes.

use serde_json::{Value, json};

use crate::record::{Record, text_of};

/// A URL for one kind of device.
const BY_DEVICE: [(&[&str], &str); 2] =
    [(&["ios", "iosurl", "iphoneurl", "apple"], "ios"), (&["android", "androidurl", "google"], "android")];

/// The rules of a record, and what of them there is no such rule for. A device comes before a country, as in Dub.
pub(crate) fn of(record: &Record) -> (Vec<Value>, Option<String>) {
    let of_device = |(names, device): (&[&str], &str)| {
        record.text(names).map(|url| rule(&url, &json!({"type": "device", "value": device})))
    };
    let mut rules: Vec<_> = BY_DEVICE.into_iter().filter_map(of_device).collect();
    if let Some(countries) = record.get(&["geo"]).map(inner).as_ref().and_then(Value::as_object) {
        let of_country = |(country, url): (&String, &Value)| {
            Some(rule(&text_of(url)?, &json!({"type": "country", "value": country})))
        };
        rules.extend(countries.iter().filter_map(of_country));
    }
    let given = record.get(&["rules", "redirectrules"]).map(inner);
    let Some(Value::Array(given)) = given else { return (rules, None) };
    let count = given.len();
    let known: Vec<_> = given.into_iter().filter_map(ours).collect();
    let lost = (known.len() < count).then(|| "rules".to_owned());
    rules.extend(known);
    (rules, lost)
}

fn rule(url: &str, condition: &Value) -> Value {
    json!({"url": url, "conditions": [condition]})
}

/// A value that may stand in a cell as text.
pub(crate) fn inner(value: &Value) -> Value {
    let of_text = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    of_text.unwrap_or_else(|| value.clone())
}

/// A rule as it is here. Of Shlink's, the names and some types differ.
fn ours(rule: Value) -> Option<Value> {
    let conditions = rule.get("conditions")?.as_array()?;
    if rule.get("url").is_some() {
        return Some(rule);
    }
    let conditions: Option<Vec<_>> = conditions.iter().map(condition_of_shlink).collect();
    Some(json!({"url": rule.get("longUrl")?, "conditions": conditions?}))
}

fn condition_of_shlink(condition: &Value) -> Option<Value> {
    let of = |name| condition.get(name).and_then(Value::as_str);
    let (kind, value) = (of("type")?, of("matchValue")?);
    Some(match kind {
        "device" | "language" | "browser" | "before-date" | "after-date" => json!({"type": kind, "value": value}),
        "geolocation-country-code" => json!({"type": "country", "value": value}),
        "query-param" => json!({"type": kind, "key": of("matchKey")?, "value": value}),
        _ => return None,
    })
}
