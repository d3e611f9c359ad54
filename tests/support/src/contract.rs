//! Holds requests and answers against `docs/openapi.yaml`, the contract of the API.
//!
//! The helpers with which tests send requests check each exchange. An answer has to be documented: its status, its media type,
//! its headers, and each member of its body. A request that was accepted has to be one that the document allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use aws_lambda_events::query_map::QueryMap;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use url::Url;

use crate::{Route, Template};

/// A request and its answer.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The request's method.
    pub method: &'a str,
    /// The request's path, decoded.
    pub path: &'a str,
    /// The request's query, encoded.
    pub query: &'a str,
    /// The request's body, empty if it has none.
    pub sent: &'a str,
    /// The answer's status.
    pub status: u16,
    /// The names of the answer's headers in lower case, and their values.
    pub headers: &'a [(String, String)],
    /// The answer's body.
    pub body: &'a str,
}

impl Exchange<'_> {
    /// Whether a test has sent it to a function that the API wouldn't have sent it to.
    fn is_of_another_function(&self) -> bool {
        self.status == 404 && self.body.contains(r#""code":"route_unknown""#)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// The document.
pub struct Contract {
    document: Value,
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

/// An operation, with the pointer to it within the document.
struct Operation<'c> {
    pointer: String,
    path: &'c str,
    item: &'c Value,
    operation: &'c Value,
}

impl Contract {
    /// Reads the document, once.
    ///
    /// # Panics
    /// When it can't be read.
    pub fn load() -> &'static Self {
        static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.yaml");
            let text = fs::read_to_string(path).expect("docs/openapi.yaml can be read");
            // Many operations have the same lists of answers, which the default takes for an attack.
            let options =
                serde_saphyr::options! { budget: serde_saphyr::budget! { enforce_alias_anchor_ratio: false } };
            let document = serde_saphyr::from_str_with_options(&text, options);
            Contract::new(document.expect("docs/openapi.yaml is YAML"))
        });
        &CONTRACT
    }

    /// A contract with this document.
    pub fn new(document: Value) -> Self {
        Self { document, validators: Mutex::default() }
    }

    /// The document.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Each operation, with the function that API Gateway calls for it.
    ///
    /// # Panics
    /// When the document has no paths.
    pub fn routes(&self) -> Vec<Route> {
        let paths = self.document["paths"].as_object().expect("the document has paths").iter();
        let routes = paths.flat_map(|(path, item)| {
            let methods = METHODS.into_iter().filter(|method| item.get(method).is_some()).map(str::to_uppercase);
            methods.map(|method| Route {
                function: Template::load().function_for(&method, path),
                path: path.clone(),
                method,
            })
        });
        routes.collect()
    }

    /// Each operation, with a HEAD beside every GET.
    pub fn routes_with_head(&self) -> BTreeSet<Route> {
        let routes = self.routes().into_iter().flat_map(|route| match route.method.as_str() {
            "GET" => vec![Route { method: "HEAD".to_owned(), ..route.clone() }, route],
            _ => vec![route],
        });
        routes.collect()
    }

    /// The parameters that the query of a route may have, in alphabetical order, and whether each is a list.
    ///
    /// # Panics
    /// When the document has no such operation.
    pub fn query_of(&self, route: &Route) -> BTreeMap<&str, bool> {
        let operation = self.operation(&route.method, &route.path).expect("the document has the operation");
        let parameters = self.parameters(&operation).into_iter().map(|(_, parameter)| parameter);
        let in_query = parameters.filter(|parameter| parameter["in"] == "query");
        let is_list = |parameter| self.schema_of(parameter)["type"] == "array";
        in_query
            .map(|parameter| (parameter["name"].as_str().expect("a parameter has a name"), is_list(parameter)))
            .collect()
    }

    /// Whether a route takes the header `Idempotency-Key`.
    ///
    /// # Panics
    /// When the document has no such operation.
    pub fn takes_idempotency_keys(&self, route: &Route) -> bool {
        let operation = self.operation(&route.method, &route.path).expect("the document has the operation");
        let mut parameters = self.parameters(&operation).into_iter().map(|(_, parameter)| parameter);
        parameters.any(|parameter| parameter["in"] == "header" && parameter["name"] == "Idempotency-Key")
    }

    /// The members of the JSON that an operation answers with a status, and whether each is always there.
    ///
    /// # Panics
    /// When the document has no such operation or answer.
    pub fn members_of_answer(&self, route: &Route, status: u16) -> BTreeMap<String, bool> {
        let answer = &self.operation_at(&route.method, &route.path)["responses"][status.to_string()];
        let (pointer, _) = self.follow("", answer);
        let content = &self.follow(&pointer, answer).1["content"]["application/json"]["schema"];
        let schema = self.follow("", content).1;
        let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&name.into()));
        members(&schema["properties"]).map(|(name, _)| (name.clone(), required(name))).collect()
    }

    /// The operation at a path.
    ///
    /// # Panics
    /// When the document has none.
    pub fn operation_at(&self, method: &str, path: &str) -> &Value {
        let found = self.operation(method, path);
        found.unwrap_or_else(|| panic!("docs/openapi.yaml has no {method} {path}")).operation
    }

    /// Whether anybody may call a route: its operation asks for no token and no key, or takes calls without one as well.
    ///
    /// # Panics
    /// When the document has no such operation.
    pub fn is_public(&self, route: &Route) -> bool {
        let security = self.operation_at(&route.method, &route.path)["security"].as_array();
        security.is_some_and(|ways| ways.is_empty() || ways.contains(&Value::Object(Map::new())))
    }

    /// The example of an operation's body; `null` if it takes none.
    pub fn example(operation: &Value) -> &Value {
        &operation["requestBody"]["content"]["application/json"]["example"]
    }

    /// The status with which an operation has done what it is for: that of a redirect only if there is no other.
    ///
    /// # Panics
    /// When there is none.
    pub fn success(operation: &Value) -> u16 {
        let statuses = members(&operation["responses"]).map(|(status, _)| status.parse::<u16>().expect("a status"));
        let succeeded = statuses.filter(|status| (200..400).contains(status) && *status != 304);
        succeeded.min_by_key(|status| (status / 100, u16::MAX - status)).expect("an operation can succeed")
    }

    /// What an exchange has that the document doesn't allow. A path without an operation may only answer that there is none.
    ///
    /// # Errors
    /// The first deviation, in words.
    ///
    /// # Panics
    /// When the document itself is wrong.
    pub fn check(&self, exchange: Exchange<'_>) -> Result<(), String> {
        let place = format!("{} {} answered {}", exchange.method, exchange.path, exchange.status);
        if exchange.is_of_another_function() {
            return Ok(());
        }
        let deviation = match self.operation(exchange.method, exchange.path) {
            Some(operation) => {
                self.check_answer(&operation, exchange).and_then(|()| self.check_request(&operation, exchange))
            }
            None if [401, 404, 405].contains(&exchange.status) => Ok(()),
            None => Err("docs/openapi.yaml has no such operation".to_owned()),
        };
        let shown: String = exchange.body.chars().take(2_000).collect();
        deviation.map_err(|deviation| format!("{place}: {deviation}\n{shown}"))
    }

    /// The examples of JSON answers that their schemas refuse, each with its operation and why.
    pub fn wrong_examples(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for Route { method, path, .. } in self.routes() {
            let Some(operation) = self.operation(&method, &path) else { continue };
            for (status, response) in members(&operation.operation["responses"]) {
                let (pointer, response) = self.follow(&format!("{}/responses/{status}", operation.pointer), response);
                let content = &response["content"]["application/json"];
                if let Some(example) = content.get("example") {
                    let schema = format!("{pointer}/content/application~1json/schema");
                    wrong.extend(
                        self.check_value(&schema, example).err().map(|why| format!("{method} {path} {status}: {why}")),
                    );
                }
            }
        }
        wrong
    }

    fn operation(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        let paths = self.document["paths"].as_object()?;
        let method = method.to_lowercase();
        let mut found: Vec<_> = paths.iter().filter(|(template, _)| matches(template, path)).collect();
        // A path without parameters comes first (OpenAPI, Paths Object).
        found.sort_by_key(|(template, _)| template.matches('{').count());
        // A HEAD is as the GET, unless it is described itself.
        let methods = if method == "head" { vec!["head", "get"] } else { vec![method.as_str()] };
        let (path, item) = found.into_iter().next()?;
        let method = methods.iter().find(|method| item.get(**method).is_some())?;
        Some(Operation { pointer: format!("/paths/{}/{method}", escaped(path)), path, item, operation: &item[*method] })
    }

    fn check_answer(&self, operation: &Operation<'_>, exchange: Exchange<'_>) -> Result<(), String> {
        let status = exchange.status.to_string();
        let responses = format!("{}/responses/{status}", operation.pointer);
        let (pointer, response) =
            self.resolved(&responses).ok_or_else(|| format!("the status {status} is not documented"))?;
        for (name, header) in members(&response["headers"]) {
            let (header_pointer, header) = self.follow(&format!("{pointer}/headers/{}", escaped(name)), header);
            match exchange.header(name) {
                Some(value) => self
                    .check_value(&format!("{header_pointer}/schema"), &text_as(value, &self.schema_of(header)))
                    .map_err(|error| format!("the header {name}: {error}"))?,
                None if header["required"] == true => return Err(format!("the header {name} is missing")),
                None => {}
            }
        }
        if exchange.status == 201 {
            self.check_location(exchange)?;
        }
        let Some(content) = response["content"].as_object() else {
            return if exchange.body.is_empty() { Ok(()) } else { Err("a body is not documented".to_owned()) };
        };
        if exchange.method == "HEAD" {
            return Ok(());
        }
        check_problem(response, exchange.body)?;
        let media_type = exchange.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        if !content.contains_key(media_type) {
            return Err(format!("the media type {media_type:?} is not documented"));
        }
        if !media_type.ends_with("json") || exchange.header("content-encoding").is_some() {
            return Ok(());
        }
        let body = serde_json::from_str(exchange.body).map_err(|error| error.to_string())?;
        self.check_value(&format!("{pointer}/content/{}/schema", escaped(media_type)), &body)
    }

    /// What was created can be read where `Location` leads, or in the list there.
    fn check_location(&self, exchange: Exchange<'_>) -> Result<(), String> {
        let location = exchange.header("location").ok_or("there is no Location")?;
        let request = Url::parse("http://api.example").and_then(|api| api.join(exchange.path));
        let leads_to = request.and_then(|request| request.join(location)).map_err(|error| error.to_string())?;
        let shown = self.operation("GET", leads_to.path());
        shown.map(|_| ()).ok_or_else(|| format!("Location leads to {}, which has no GET", leads_to.path()))
    }

    /// Checks a request that was accepted. Tests send others on purpose.
    fn check_request(&self, operation: &Operation<'_>, exchange: Exchange<'_>) -> Result<(), String> {
        if exchange.status >= 400 {
            return Ok(());
        }
        let query: QueryMap = exchange.query.parse().unwrap_or_default();
        for (pointer, parameter) in self.parameters(operation) {
            let name = parameter["name"].as_str().expect("a parameter has a name");
            let schema = self.schema_of(parameter);
            let value = match parameter["in"].as_str() {
                Some("query") if schema["type"] == "array" => {
                    let values: Vec<_> =
                        query.all(name).into_iter().flatten().filter(|value| !value.is_empty()).collect();
                    (!values.is_empty()).then(|| values.into())
                }
                Some("query") => query.first(name).map(|value| text_as(value, &schema)),
                Some("path") => segment(operation.path, exchange.path, name).map(|value| text_as(value, &schema)),
                _ => continue,
            };
            if let Some(value) = value.filter(|value| value != "") {
                self.check_value(&format!("{pointer}/schema"), &value)
                    .map_err(|error| format!("the parameter {name}: {error}"))?;
            }
        }
        // A link that breaks a rule has a result of its own that says so, while the request about many is accepted.
        let is_about_many = exchange.path.ends_with("/bulk");
        if operation.operation["requestBody"].is_null() || exchange.sent.is_empty() || is_about_many {
            return Ok(());
        }
        let (pointer, _) =
            self.resolved(&format!("{}/requestBody", operation.pointer)).expect("the operation has a body");
        let form = format!("{pointer}/content/application~1x-www-form-urlencoded/schema");
        let (schema, mut body) = if self.document.pointer(&form).is_some() && !exchange.sent.starts_with('{') {
            let fields = exchange.sent.parse::<QueryMap>().unwrap_or_default();
            (form, fields.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
        } else {
            let body = serde_json::from_str(exchange.sent).map_err(|error| error.to_string())?;
            (format!("{pointer}/content/application~1json/schema"), body)
        };
        self.drop_absent(&schema, &mut body);
        self.check_value(&schema, &body).map_err(|error| format!("the request's body: {error}"))
    }

    /// Drops what counts as absent, which schemas don't repeat: an empty string or `null` for an optional member.
    fn drop_absent(&self, schema: &str, body: &mut Value) {
        let Some((_, schema)) = self.resolved(schema) else { return };
        let is_required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&name.into()));
        let is_optional = |name: &str| schema["properties"].get(name).is_some() && !is_required(name);
        if let Some(members) = body.as_object_mut() {
            members.retain(|name, value| !(is_optional(name) && (value.is_null() || value == "")));
        }
    }

    /// The parameters of an operation and of its path, with the pointers to them.
    fn parameters<'c>(&'c self, operation: &Operation<'c>) -> Vec<(String, &'c Value)> {
        let of_path = format!("/paths/{}/parameters", escaped(operation.path));
        let of_operation = format!("{}/parameters", operation.pointer);
        let lists = [(of_path, &operation.item["parameters"]), (of_operation, &operation.operation["parameters"])];
        let mut found = Vec::new();
        for (pointer, list) in lists {
            for (position, parameter) in list.as_array().into_iter().flatten().enumerate() {
                found.push(self.follow(&format!("{pointer}/{position}"), parameter));
            }
        }
        found
    }

    fn resolved(&self, pointer: &str) -> Option<(String, &Value)> {
        Some(self.follow(pointer, self.document.pointer(pointer)?))
    }

    /// Where a value stands, or the one that it refers to.
    fn follow<'c>(&'c self, pointer: &str, value: &'c Value) -> (String, &'c Value) {
        match value["$ref"].as_str() {
            Some(reference) => {
                let pointer = reference.trim_start_matches('#');
                let value = self.document.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"));
                self.follow(pointer, value)
            }
            None => (pointer.to_owned(), value),
        }
    }

    /// The schema of a parameter or header, without references at its top.
    fn schema_of(&self, parameter: &Value) -> Value {
        self.follow("", &parameter["schema"]).1.clone()
    }

    fn check_value(&self, schema: &str, value: &Value) -> Result<(), String> {
        let validator = self.validator(schema);
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{} at {:?}", error, error.instance_path().as_str()))
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }

    fn validator(&self, schema: &str) -> Arc<Validator> {
        let mut validators = self.validators.lock().expect("no test panics while it holds this");
        let validator = validators.entry(schema.to_owned()).or_insert_with(|| {
            assert!(self.document.pointer(schema).is_some(), "docs/openapi.yaml has nothing at {schema}");
            let root = json!({
                "$ref": format!("#{}", schema.replace('{', "%7B").replace('}', "%7D")),
                "components": self.document["components"],
                "paths": self.document["paths"],
            });
            let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
            Arc::new(options.build(&root).unwrap_or_else(|error| panic!("the schema at {schema}: {error}")))
        });
        Arc::clone(validator)
    }
}

/// Of an answer that is a problem, the document says which codes it has.
fn check_problem(response: &Value, body: &str) -> Result<(), String> {
    let problem: Value = serde_json::from_str(body).unwrap_or_default();
    match (response["x-problems"].as_array(), problem["code"].as_str()) {
        (Some(codes), Some(code)) if !codes.contains(&code.into()) => Err(format!("the code {code} is not documented")),
        _ => Ok(()),
    }
}

const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

fn members(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// A token of a JSON pointer (RFC 6901).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn is_parameter(part: &str) -> bool {
    part.starts_with('{')
}

fn matches(template: &str, path: &str) -> bool {
    let (templates, parts) = (template.split('/'), path.split('/'));
    templates.clone().count() == parts.clone().count()
        && templates.zip(parts).all(|(template, part)| template == part || (is_parameter(template) && !part.is_empty()))
}

/// What a path has in the place of a parameter.
fn segment<'p>(template: &str, path: &'p str, name: &str) -> Option<&'p str> {
    let position = template.split('/').position(|part| part == format!("{{{name}}}"))?;
    path.split('/').nth(position)
}

/// A text of a header, query or path, as the JSON value that its schema means.
fn text_as(text: &str, schema: &Value) -> Value {
    let is_number = |schema: &Value| schema["type"] == "integer" || schema["type"] == "number";
    let choices = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
    let may_be_number = is_number(schema) || choices.clone().any(is_number);
    match text.parse::<u64>() {
        Ok(number) if may_be_number => number.into(),
        _ if schema["type"] == "boolean" && ["true", "false"].contains(&text) => (text == "true").into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract() -> Contract {
        Contract::new(json!({
            "paths": {
                "/things/{name}": {
                    "parameters": [{"name": "name", "in": "path", "schema": {"type": "string", "maxLength": 5}}],
                    "get": {
                        "parameters": [{"$ref": "#/components/parameters/Limit"}],
                        "responses": {"200": {
                            "headers": {"X-Id": {"required": true, "schema": {"type": "string"}}},
                            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
                        }},
                    },
                    "patch": {
                        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Change"}}}},
                        "responses": {"204": {}},
                    },
                },
                "/things": {"post": {"responses": {"201": {}}}},
            },
            "components": {
                "parameters": {"Limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}}},
                "schemas": {"Thing": {
                    "type": "object", "required": ["name"], "additionalProperties": false,
                    "properties": {"name": {"type": "string"}},
                }, "Change": {
                    "type": "object", "required": ["name"], "not": {"required": ["id"]},
                    "properties": {"name": {"type": "string", "minLength": 1}, "size": {"type": "integer"}},
                }},
            },
        }))
    }

    fn accepted(sent: &str) -> Result<(), String> {
        let exchange =
            Exchange { method: "PATCH", path: "/things/lamp", query: "", sent, status: 204, headers: &[], body: "" };
        contract().check(exchange)
    }

    fn checked(path: &str, query: &str, status: u16, headers: &[(&str, &str)], body: &str) -> Result<(), String> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let exchange = Exchange { method: "GET", path, query, sent: "", status, headers: &headers, body };
        contract().check(exchange)
    }

    const HEADERS: [(&str, &str); 2] = [("x-id", "1"), ("content-type", "application/json; charset=utf-8")];

    #[test]
    fn a_documented_exchange_passes() {
        assert_eq!(checked("/things/lamp", "limit=5", 200, &HEADERS, r#"{"name": "lamp"}"#), Ok(()));
        assert_eq!(checked("/elsewhere", "", 404, &[], ""), Ok(()));
        assert_eq!(checked("/things/lamp", "limit=", 200, &HEADERS, r#"{"name": "lamp"}"#), Ok(()));
    }

    #[test]
    fn optional_members_may_be_empty_or_null_and_required_ones_may_not() {
        for sent in
            [r#"{"name": "lamp"}"#, r#"{"name": "lamp", "size": ""}"#, r#"{"name": "lamp", "size": null, "new": 1}"#]
        {
            assert_eq!(accepted(sent), Ok(()));
        }
        for sent in [
            r#"{"name": ""}"#,
            r#"{"name": null}"#,
            r#"{"name": "lamp", "size": "large"}"#,
            r#"{"name": "lamp", "id": null}"#,
        ] {
            assert!(accepted(sent).unwrap_err().contains("the request's body"), "{sent}");
        }
    }

    #[test]
    fn what_is_created_can_be_read_where_location_leads() {
        let created = |location: &str| {
            let headers = [("location".into(), location.into())];
            let exchange = Exchange {
                method: "POST",
                path: "/things",
                query: "",
                sent: "",
                status: 201,
                headers: &headers,
                body: "",
            };
            contract().check(exchange)
        };

        assert_eq!((created("things/lamp"), created("/things/lamp")), (Ok(()), Ok(())));
        for nowhere in ["things", "lamp", "things/lamp/bulb", "../elsewhere"] {
            assert!(created(nowhere).unwrap_err().contains("which has no GET"), "{nowhere}");
        }
    }

    #[test]
    fn whatever_is_not_documented_is_a_deviation() {
        let lamp = r#"{"name": "lamp"}"#;
        for (path, query, status, headers, body, deviation) in [
            ("/things/lamp", "", 409, &HEADERS[..], lamp, "the status 409"),
            ("/things/lamp", "", 200, &HEADERS[..], r#"{"name": "lamp", "size": 5}"#, "size"),
            ("/things/lamp", "", 200, &HEADERS[..], "{}", "name"),
            ("/things/lamp", "", 200, &HEADERS[..1], lamp, "the media type"),
            ("/things/lamp", "", 200, &HEADERS[1..], lamp, "the header X-Id is missing"),
            ("/things/lamp", "limit=0", 200, &HEADERS[..], lamp, "the parameter limit"),
            ("/things/chandelier", "", 200, &HEADERS[..], lamp, "the parameter name"),
            ("/elsewhere", "", 200, &HEADERS[..], lamp, "no such operation"),
        ] {
            let refused = checked(path, query, status, headers, body).unwrap_err();
            assert!(refused.contains(deviation), "{refused}");
        }
    }
}
