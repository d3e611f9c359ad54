use std::{collections::BTreeMap, fs, path::Path, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Value, json};

/// All that is deployed: `template.yaml`, and the resources of its child stack, `infra/observability.yaml`.
#[derive(Debug)]
pub struct Template {
    parameters: BTreeMap<String, Value>,
    mappings: BTreeMap<String, Value>,
    conditions: BTreeMap<String, Value>,
    globals: Value,
    resources: BTreeMap<String, Resource>,
    child_parameters: BTreeMap<String, Value>,
}

/// One file, as far as tests need it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TemplateFile {
    parameters: BTreeMap<String, Value>,
    #[serde(default)]
    mappings: BTreeMap<String, Value>,
    #[serde(default)]
    conditions: BTreeMap<String, Value>,
    #[serde(default)]
    globals: Value,
    resources: BTreeMap<String, Value>,
}

impl TemplateFile {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name} is no template: {error}"))
    }

    /// The resources, with those that its loops make.
    fn resources(&self) -> impl Iterator<Item = (String, Resource)> {
        let expanded = self.resources.iter().flat_map(|(id, resource)| match id.strip_prefix("Fn::ForEach::") {
            Some(_) => looped(resource, &self.mappings),
            None => vec![(id.clone(), resource.clone())],
        });
        expanded.map(|(id, resource)| {
            let resource = serde_json::from_value(resource).unwrap_or_else(|error| panic!("{id}: {error}"));
            (id, resource)
        })
    }
}

/// What `Fn::ForEach` makes of an identifier, the values that it takes, and what is repeated.
fn looped(arguments: &Value, mappings: &BTreeMap<String, Value>) -> Vec<(String, Value)> {
    let identifier = arguments[0].as_str().expect("a loop has an identifier");
    let values = arguments[1].as_array().expect("a loop has values").iter().filter_map(Value::as_str);
    let repeated = arguments[2].as_object().expect("a loop repeats resources");
    let turns = values.map(|value| Turn { identifier, value, mappings });
    turns.flat_map(|turn| repeated.iter().map(move |(id, resource)| (turn.id(id), turn.fill_in(resource)))).collect()
}

/// A loop's identifier with one of its values.
#[derive(Clone, Copy)]
struct Turn<'t> {
    identifier: &'t str,
    value: &'t str,
    mappings: &'t BTreeMap<String, Value>,
}

impl Turn<'_> {
    /// `${Name}` is the value, `&{Name}` its letters and digits.
    fn id(self, pattern: &str) -> String {
        let alphanumeric = self.value.replace(|character: char| !character.is_ascii_alphanumeric(), "");
        pattern
            .replace(&format!("${{{}}}", self.identifier), self.value)
            .replace(&format!("&{{{}}}", self.identifier), &alphanumeric)
    }

    /// A resource as it would be without a loop.
    fn fill_in(self, node: &Value) -> Value {
        match node {
            Value::String(text) if text == self.identifier => self.value.into(), // `!Ref Name`
            Value::String(text) => text.replace(&format!("${{{}}}", self.identifier), self.value).into(),
            Value::Array(items) => self.written_out(items.iter().map(|item| self.fill_in(item)).collect()),
            Value::Object(members) => match members.get("Ref") {
                Some(reference) => self.fill_in(reference),
                None => members.iter().map(|(name, member)| (name.clone(), self.fill_in(member))).collect(),
            },
            other => other.clone(),
        }
    }

    /// A list, unless it is the arguments of `!GetAtt`, which stand in one text elsewhere, or of `!FindInMap`.
    fn written_out(self, items: Vec<Value>) -> Value {
        let texts: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
        let found = match texts.as_deref() {
            Some([resource, attribute @ ("Arn" | "StreamArn")]) => Some(format!("{resource}.{attribute}").into()),
            Some([map, key, name]) => self.mappings.get(*map).and_then(|map| map.get(key)?.get(name)).cloned(),
            _ => None,
        };
        found.unwrap_or(Value::Array(items))
    }
}

#[derive(Debug, Deserialize)]
struct Resource {
    #[serde(rename = "Type")]
    kind: String,
    #[serde(rename = "Condition")]
    condition: Option<String>,
    #[serde(rename = "DependsOn", default)]
    depends_on: Value,
    #[serde(rename = "DeletionPolicy")]
    deletion_policy: Option<String>,
    #[serde(rename = "UpdateReplacePolicy")]
    replacement_policy: Option<String>,
    #[serde(rename = "Properties", default)]
    properties: Value,
}

/// The key of the route that takes what no other takes.
const UNKNOWN_ROUTE: &str = "$default";

/// An operation of the OpenAPI document, with the function behind the route that takes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Such as `GET`.
    pub method: String,
    /// Such as `/api/stats/{code}`.
    pub path: String,
    /// The function that answers it, by its folder's name.
    pub function: String,
}

impl Template {
    /// The repository's templates. They are read once in a process, since that takes longer than most tests.
    ///
    /// # Panics
    /// When one can't be read: no test makes sense then.
    pub fn load() -> &'static Self {
        static TEMPLATE: LazyLock<Template> = LazyLock::new(Template::read);
        &TEMPLATE
    }

    fn read() -> Self {
        let (parent, child) = (TemplateFile::read("template.yaml"), TemplateFile::read("infra/observability.yaml"));
        Self {
            resources: parent.resources().chain(child.resources()).collect(),
            parameters: parent.parameters,
            mappings: parent.mappings,
            conditions: parent.conditions.into_iter().chain(child.conditions).collect(),
            globals: parent.globals,
            child_parameters: child.parameters,
        }
    }

    /// The parameters of the child stack, by name.
    pub fn child_parameters(&self) -> &BTreeMap<String, Value> {
        &self.child_parameters
    }

    /// The parameters, by name.
    pub fn parameters(&self) -> &BTreeMap<String, Value> {
        &self.parameters
    }

    /// The mappings, by name.
    pub fn mappings(&self) -> &BTreeMap<String, Value> {
        &self.mappings
    }

    /// The conditions of both files, by name.
    pub fn conditions(&self) -> &BTreeMap<String, Value> {
        &self.conditions
    }

    /// The condition on which a resource is deployed, or `None` if it always is.
    ///
    /// # Panics
    /// When there is no such resource.
    pub fn condition(&self, id: &str) -> Option<&str> {
        self.resource(id).condition.as_deref()
    }

    /// What becomes of a resource when the stack is deleted, and when a change replaces it: its `DeletionPolicy` and
    /// `UpdateReplacePolicy`.
    ///
    /// # Panics
    /// When there is no such resource.
    pub fn at_the_end(&self, id: &str) -> (Option<&str>, Option<&str>) {
        let resource = self.resource(id);
        (resource.deletion_policy.as_deref(), resource.replacement_policy.as_deref())
    }

    /// Each function by its logical id, with what the globals say about all of them. Its own properties go first; the
    /// variables of both are together.
    pub fn functions(&self) -> BTreeMap<String, Value> {
        self.of_type("AWS::Serverless::Function")
            .map(|(id, own)| (id.to_owned(), merged(&self.globals["Function"], own)))
            .collect()
    }

    /// The properties of a resource.
    ///
    /// # Panics
    /// When there is no such resource.
    pub fn properties(&self, id: &str) -> &Value {
        &self.resource(id).properties
    }

    /// What a role allows: the statements of its own policies, and of those of this template that it refers to or that name it. What
    /// depends on a condition is among them, but for the policies that exist on a condition only, which are about keys.
    pub fn statements(&self, role: &str) -> Vec<&Value> {
        let properties = self.properties(role);
        let own = properties["Policies"].as_array().into_iter().flatten();
        let managed = properties["ManagedPolicyArns"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let naming = self.policies_naming(role).into_iter().filter(|policy| self.condition(policy).is_none());
        let policies = own.chain(managed.chain(naming).map(|policy| self.properties(policy)));
        let listed = policies.flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().into_iter().flatten());
        // `!If` is a condition and what there is with it and without it.
        let statements = listed
            .flat_map(|statement| statement.as_array().map_or_else(|| std::slice::from_ref(statement), Vec::as_slice));
        statements.filter(|statement| statement.is_object()).collect()
    }

    /// The policies that name a role, by their logical ids.
    pub fn policies_naming(&self, role: &str) -> Vec<&str> {
        let policies = self.of_type("AWS::IAM::Policy").chain(self.of_type("AWS::IAM::ManagedPolicy"));
        let names = |policy: &Value| {
            policy["Roles"].as_array().into_iter().flatten().any(|name| texts_of(name).contains(&role))
        };
        policies.filter(|(_, policy)| names(policy)).map(|(id, _)| id).collect()
    }

    /// The resources that must be there before this one, as far as its `DependsOn` says.
    ///
    /// # Panics
    /// When there is no such resource.
    pub fn prerequisites(&self, id: &str) -> Vec<&str> {
        texts_of(&self.resource(id).depends_on)
    }

    fn resource(&self, id: &str) -> &Resource {
        self.resources.get(id).unwrap_or_else(|| panic!("the template has no {id}"))
    }

    /// Whether there is a resource with this logical id.
    pub fn has(&self, id: &str) -> bool {
        self.resources.contains_key(id)
    }

    /// For each table by its logical id, what `CreateTable` wants.
    pub fn tables(&self) -> BTreeMap<String, Value> {
        self.of_type("AWS::DynamoDB::Table")
            .map(|(id, properties)| (id.to_owned(), create_table(id, properties)))
            .collect()
    }

    /// For each table with a TTL, what `UpdateTimeToLive` wants.
    pub fn time_to_live(&self) -> Vec<Value> {
        self.of_type("AWS::DynamoDB::Table")
            .filter_map(|(id, properties)| {
                let specification = properties.get("TimeToLiveSpecification")?;
                Some(json!({"TableName": id, "TimeToLiveSpecification": specification}))
            })
            .collect()
    }

    /// The keys of the HTTP API's routes, such as `ANY /api/keys/{proxy+}`, but for the one of what has no other.
    pub fn route_keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.of_type("AWS::ApiGatewayV2::Route").map(|(_, properties)| text(properties, "RouteKey"));
        keys.filter(|key| *key != UNKNOWN_ROUTE)
    }

    /// The key of the route that API Gateway finds for a path: a greedy one last, and the one with the fewest variables first.
    pub fn route_key(&self, method: &str, path: &str) -> &str {
        let found = self
            .route_keys_for(method, path)
            .min_by_key(|key| (key.contains("+}"), key.matches('{').count(), key.starts_with("ANY ")));
        found.unwrap_or(UNKNOWN_ROUTE)
    }

    /// The keys of all routes that could take a request.
    pub fn route_keys_for(&self, method: &str, path: &str) -> impl Iterator<Item = &str> {
        self.route_keys().filter(move |key| {
            key.split_once(' ').is_some_and(|(of, to)| (of == method || of == "ANY") && leads_to(to, path))
        })
    }

    /// The function that API Gateway calls for a path, by its folder's name.
    ///
    /// # Panics
    /// When the route leads to none.
    pub fn function_for(&self, method: &str, path: &str) -> String {
        let key = self.route_key(method, path);
        let mut routes = self.of_type("AWS::ApiGatewayV2::Route");
        let found = routes.find(|(_, properties)| text(properties, "RouteKey") == key);
        self.function_of(found.expect("there is such a route").1)
    }

    /// Route → integration → function → folder.
    fn function_of(&self, route: &Value) -> String {
        let target = text(route, "Target");
        let integration = target.strip_prefix("integrations/${").and_then(|rest| rest.strip_suffix('}'));
        let integration = self.properties(integration.expect("a route leads to an integration"));
        let function = integration["IntegrationUri"].as_str().expect("an integration leads to a function");
        let function = function.trim_end_matches(".Arn").trim_end_matches(".Alias");
        let folder = text(self.properties(function), "CodeUri");
        folder.trim_end_matches('/').rsplit('/').next().expect("a path has a last part").to_owned()
    }

    /// The resources of a type, such as `AWS::SQS::Queue`: logical id and properties. A short intrinsic function is its
    /// argument (`!GetAtt Table.Arn` is `"Table.Arn"`).
    pub fn of_type(&self, kind: &str) -> impl Iterator<Item = (&str, &Value)> {
        self.resources
            .iter()
            .filter(move |(_, resource)| resource.kind == kind)
            .map(|(id, resource)| (id.as_str(), &resource.properties))
    }
}

/// Whether a path is one of a route. A greedy variable takes all that is left of it, even if that is nothing.
fn leads_to(route: &str, path: &str) -> bool {
    match (route.split_once('/'), path.split_once('/')) {
        _ if route.ends_with("+}") && !route.contains('/') => true,
        (Some((part, route)), Some((segment, path))) => fits(part, segment) && leads_to(route, path),
        (None, None) => fits(route, path),
        _ => false,
    }
}

fn fits(part: &str, segment: &str) -> bool {
    part == segment || part.starts_with('{') && !segment.is_empty()
}

/// `own` over `global`; where both are objects, member by member.
fn merged(global: &Value, own: &Value) -> Value {
    let (Value::Object(global), Value::Object(own)) = (global, own) else { return own.clone() };
    let mut all = global.clone();
    for (name, value) in own {
        let value = all.get(name).map_or_else(|| value.clone(), |inherited| merged(inherited, value));
        all.insert(name.clone(), value);
    }
    Value::Object(all)
}

/// The texts of a member that is one, a list of them, or depends on a condition.
fn texts_of(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .map_or_else(|| std::slice::from_ref(value), Vec::as_slice)
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

fn text<'v>(properties: &'v Value, member: &str) -> &'v str {
    properties[member].as_str().unwrap_or_else(|| panic!("{member} is missing in {properties}"))
}

/// CloudFormation's properties are the API's members, but for the name and the stream's switch.
fn create_table(id: &str, properties: &Value) -> Value {
    let mut request = json!({"TableName": id});
    for member in ["AttributeDefinitions", "KeySchema", "BillingMode", "GlobalSecondaryIndexes"] {
        if let Some(value) = properties.get(member) {
            request[member] = value.clone();
        }
    }
    if let Some(view) = properties.pointer("/StreamSpecification/StreamViewType") {
        request["StreamSpecification"] = json!({"StreamEnabled": true, "StreamViewType": view});
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_the_route_that_api_gateway_finds() {
        let key = |path| Template::load().route_key("GET", path);

        assert_eq!(key("/"), "ANY /");
        assert_eq!(key("/health"), "GET /health");
        assert_eq!(key("/launch"), "ANY /{code}");
        assert_eq!(key("/r/launch"), "ANY /r/{code}");
        assert_eq!(key("/r/launch/"), "ANY /r/{proxy+}");
        assert_eq!(key("/app/"), "ANY /app/{proxy+}");
        assert_eq!(key("/api/stats/launch/daily"), "ANY /api/stats/{proxy+}");
        assert_eq!(key("/api/nothing/here"), UNKNOWN_ROUTE);
        assert_eq!(Template::load().function_for("PATCH", "/api/links/launch"), "update");
    }

    #[test]
    fn resources_of_loops_and_of_the_child_stack_are_among_the_others() {
        let template = Template::load();

        assert_eq!(template.properties("RelayLogs")["RetentionInDays"], "LogRetentionDays");
        assert_eq!(template.at_the_end("RelayLogs"), (Some("RetainExceptOnCreate"), Some("Retain")));
        assert_eq!(template.properties("QrPermission")["FunctionName"], "QrFunction.Arn");
        assert_eq!(template.properties("QrIntegration")["IntegrationUri"], "QrFunction.Arn");
        assert_eq!(template.properties("ANYcodeqrRoute")["RouteKey"], "ANY /{code}/qr");
        assert_eq!(template.properties("AuthUnthrottledAlarm")["Dimensions"][0]["Value"], "auth");
        assert!(template.has("Dashboard") && template.child_parameters().contains_key("HttpApi"));
        assert_eq!((template.condition("Dashboard"), template.condition("HttpApi")), (Some("IsFull"), None));
    }
}
