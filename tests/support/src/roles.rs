//! What functions may do with tables, by their roles in `template.yaml`, and whether that is enough for what they do.

use std::{any::type_name, collections::BTreeMap, future::Future, sync::LazyLock};

use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use serde_json::Value;

use crate::Template;
use crate::faults::{json_of, operation_of};

/// What one statement of a role allows to do with tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The actions, such as `GetItem`.
    pub actions: Vec<String>,
    /// The tables by their logical ids. An index is named behind its table: `LinksTable/index/by-workspace`.
    pub tables: Vec<String>,
    /// What the partition keys of a call begin with, such as `GUESS#`; `None` if the statement doesn't look at them.
    pub keys: Option<Vec<String>>,
}

impl Grant {
    /// The tables' part of a statement, if it has any. Streams are none.
    fn of(statement: &Value) -> Option<Self> {
        let actions = texts(&statement["Action"]).filter_map(|action| action.strip_prefix("dynamodb:"));
        let tables = texts(&statement["Resource"]).filter_map(table_of);
        let grant = Self {
            actions: actions.map(str::to_owned).collect(),
            tables: tables.collect(),
            keys: statement.pointer("/Condition/ForAllValues:StringLike/dynamodb:LeadingKeys").map(|patterns| {
                let beginning =
                    |pattern: &str| pattern.strip_suffix('*').expect("keys are compared by their beginning").to_owned();
                texts(patterns).map(beginning).collect()
            }),
        };
        (!grant.actions.is_empty() && !grant.tables.is_empty()).then_some(grant)
    }

    fn allows(&self, call: &Call) -> bool {
        let is_own = |key: &String| self.keys.iter().flatten().any(|own| key.starts_with(own));
        self.actions.contains(&call.action)
            && self.tables.contains(&call.table)
            // A call that names no key is refused where keys are looked at.
            && (self.keys.is_none() || !call.keys.is_empty() && call.keys.iter().all(is_own))
    }
}

/// The texts of a member that is one or a list of them.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let all = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    all.iter().filter_map(Value::as_str)
}

/// `LinksTable.Arn` or `${LinksTable.Arn}/index/by-workspace`, without what isn't a name.
fn table_of(resource: &str) -> Option<String> {
    let table = resource.replace("${", "").replacen(".Arn", "", 1).replace('}', "");
    let is_table = table.split('/').next().is_some_and(|name| name.ends_with("Table"));
    is_table.then_some(table)
}

/// The grants of each function, by its folder.
pub fn grants() -> &'static BTreeMap<String, Vec<Grant>> {
    static GRANTS: LazyLock<BTreeMap<String, Vec<Grant>>> = LazyLock::new(|| {
        let template = Template::load();
        let of_function = |function: &Value| {
            let folder = function["CodeUri"].as_str().expect("a function has a folder").trim_end_matches('/');
            let role = function["Role"].as_str().expect("a function has a role").trim_end_matches(".Arn");
            let folder = folder.rsplit('/').next().expect("a path has a last part").to_owned();
            (folder, template.statements(role).into_iter().filter_map(Grant::of).collect())
        };
        template.functions().values().map(of_function).collect()
    });
    &GRANTS
}

/// What DynamoDB asks IAM about: a batch is one call for each table, a transaction one for each kind of action on a table. Whether
/// it asks about actions of one kind one by one isn't documented, so here one statement has to allow all of them.
#[derive(Debug)]
struct Call {
    action: String,
    table: String,
    keys: Vec<String>,
}

impl Call {
    fn all_of(operation: &str, request: &Value) -> Vec<Self> {
        match operation {
            "TransactWriteItems" | "TransactGetItems" => {
                let mut calls = BTreeMap::<_, Vec<String>>::new();
                for (member, detail) in members(&request["TransactItems"]).filter_map(Value::as_object).flatten() {
                    let action =
                        if member == "ConditionCheck" { "ConditionCheckItem" } else { &format!("{member}Item") };
                    let table = detail["TableName"].as_str().expect("an action names its table");
                    calls.entry((action.to_owned(), table.to_owned())).or_default().extend(key_in(detail));
                }
                calls.into_iter().map(|((action, table), keys)| Self { action, table, keys }).collect()
            }
            "BatchGetItem" | "BatchWriteItem" => {
                let tables = request["RequestItems"].as_object().into_iter().flatten();
                let of_table = |(table, requests): (&String, &Value)| {
                    let written = members(requests).filter_map(Value::as_object).flatten();
                    let keys = written
                        .filter_map(|(_, write)| key_in(write))
                        .chain(members(&requests["Keys"]).filter_map(partition_key));
                    Self::new(operation, &Value::from(table.as_str()), keys)
                };
                tables.map(of_table).collect()
            }
            "Query" | "Scan" => {
                let mut call = Self::new(operation, &request["TableName"], queried(request));
                if let Some(index) = request["IndexName"].as_str() {
                    call.table = format!("{}/index/{index}", call.table);
                }
                vec![call]
            }
            _ => vec![Self::new(operation, &request["TableName"], key_in(request))],
        }
    }

    fn new(action: &str, table: &Value, keys: impl IntoIterator<Item = String>) -> Self {
        let table = table.as_str().expect("a call names its table").to_owned();
        Self { action: action.to_owned(), table, keys: keys.into_iter().collect() }
    }
}

fn members(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn key_in(request: &Value) -> Option<String> {
    partition_key(&request["Key"]).or_else(|| partition_key(&request["Item"]))
}

fn partition_key(item: &Value) -> Option<String> {
    item["pk"]["S"].as_str().map(str::to_owned)
}

/// The partition key of a query, with which its condition begins: `pk = :workspace AND …`.
fn queried(request: &Value) -> Option<String> {
    let (_, behind) = request["KeyConditionExpression"].as_str()?.split_once(" = ")?;
    let name = behind.split(' ').next()?;
    request["ExpressionAttributeValues"][name]["S"].as_str().map(str::to_owned)
}

/// The tables and partition keys that a call is about.
pub fn keys_of(operation: &str, request: &Value) -> Vec<(String, String)> {
    let calls = Call::all_of(operation, request).into_iter();
    calls.flat_map(|call| call.keys.into_iter().map(move |key| (call.table.clone(), key))).collect()
}

tokio::task_local! {
    /// The function that answers.
    static ANSWERING: String;
}

/// Lets a handler, or a consumer, do its work with no more rights than the role of its function has. One of a test's own has all.
pub async fn in_role_of<H, F: Future>(answer: F) -> F::Output {
    let library = type_name::<H>().split("::").next().unwrap_or_default();
    match library.strip_prefix("linklet_").map(|name| name.replace('_', "-")) {
        Some(function) if grants().contains_key(&function) => ANSWERING.scope(function, answer).await,
        _ => answer.await,
    }
}

/// Ends a test that changes an entry of the audit log, or could: IAM can't demand that a put has a condition.
fn require_that_entries_stay(operation: &str, request: &Value) {
    const TABLE: &str = "AuditTable";
    let in_transaction = members(&request["TransactItems"]).filter_map(Value::as_object).flatten();
    let in_transaction = in_transaction.filter(|(_, detail)| detail["TableName"] == TABLE);
    let mut writes: Vec<_> = in_transaction.map(|(member, detail)| (member.as_str(), detail)).collect();
    if request["TableName"] == TABLE && !["Query", "Scan", "GetItem"].contains(&operation) {
        writes.push((operation.trim_end_matches("Item"), request));
    }
    assert!(request["RequestItems"].get(TABLE).is_none(), "a batch has no conditions: {request}");
    for (write, detail) in writes {
        let is_new = detail["ConditionExpression"] == "attribute_not_exists(pk)";
        assert!(write == "Put" && is_new, "an entry of the audit log may be changed: {write} {detail}");
    }
}

/// Ends a test whose function calls what its role doesn't allow. On AWS, that call would be refused.
#[derive(Debug)]
pub(crate) struct RoleGuard;

impl Intercept for RoleGuard {
    fn name(&self) -> &'static str {
        "RoleGuard"
    }

    fn read_after_serialization(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let (operation, request) = (operation_of(context.request()), json_of(context.request())?);
        require_that_entries_stay(&operation, &request);
        let Ok(function) = ANSWERING.try_with(Clone::clone) else { return Ok(()) };
        for call in Call::all_of(&operation, &request) {
            let is_allowed = grants()[&function].iter().any(|grant| grant.allows(&call));
            assert!(is_allowed, "the role of {function} in template.yaml doesn't allow {call:?}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The role of auth, as far as it concerns these calls.
    fn allowed(operation: &str, request: &Value) -> bool {
        let calls = Call::all_of(operation, request);
        assert!(!calls.is_empty());
        calls.iter().all(|call| grants()["auth"].iter().any(|grant| grant.allows(call)))
    }

    fn item(key: &str) -> Value {
        json!({"pk": {"S": key}, "sk": {"S": "any"}})
    }

    #[test]
    fn a_role_allows_its_own_keys_only() {
        let update = |key| json!({"TableName": "ThrottleTable", "Key": item(key)});

        assert!(allowed("UpdateItem", &update("GUESS#IP#hash")));
        assert!(!allowed("UpdateItem", &update("IP#hash")));
        assert!(!allowed("DeleteItem", &update("GUESS#IP#hash")));
        assert!(!allowed("PutItem", &json!({"TableName": "UsersTable", "Item": item("KEY#hash")})));
        assert!(!allowed("UpdateItem", &json!({"TableName": "LinksTable", "Key": item("LINK#code")})));
    }

    #[test]
    fn whatever_may_change_an_entry_of_the_audit_log_ends_a_test() {
        let stays = |operation: &str, request: Value| {
            let check = std::panic::AssertUnwindSafe(|| require_that_entries_stay(operation, &request));
            std::panic::catch_unwind(check).is_ok()
        };
        let new = json!({"TableName": "AuditTable", "ConditionExpression": "attribute_not_exists(pk)"});
        let bare = json!({"TableName": "AuditTable", "Item": item("WS#a")});
        let among = |write: &str, detail: &Value| {
            let other = json!({"Update": {"TableName": "UsersTable", "Key": item("WS#a")}});
            json!({"TransactItems": [other, {write: detail}]})
        };

        assert!(stays("PutItem", new.clone()) && stays("TransactWriteItems", among("Put", &new)));
        assert!(stays("Query", bare.clone()) && stays("PutItem", json!({"TableName": "UsersTable"})));
        assert!(!stays("PutItem", bare.clone()) && !stays("TransactWriteItems", among("Put", &bare)));
        for write in ["Update", "Delete", "ConditionCheck"] {
            assert!(!stays("TransactWriteItems", among(write, &new)), "{write}");
        }
        for operation in ["UpdateItem", "DeleteItem"] {
            assert!(!stays(operation, new.clone()), "{operation}");
        }
        assert!(!stays("BatchWriteItem", json!({"RequestItems": {"AuditTable": []}})));
    }

    #[test]
    fn a_batch_or_a_transaction_is_allowed_if_all_of_it_is() {
        let batch = |keys: [&str; 2]| json!({"RequestItems": {"UsersTable": {"Keys": keys.map(item)}}});
        let transaction = |check| {
            json!({"TransactItems": [
                {"Put": {"TableName": "UsersTable", "Item": item("EMAIL#a")}},
                {"ConditionCheck": {"TableName": "UsersTable", "Key": item(check)}},
            ]})
        };

        assert!(allowed("BatchGetItem", &batch(["USER#a", "ACCESS#a"])));
        assert!(!allowed("BatchGetItem", &batch(["USER#a", "EMAIL#a"])));
        assert!(allowed("TransactWriteItems", &transaction("WS#a")));
        assert!(!allowed("TransactWriteItems", &transaction("EMAIL#a")));
    }

    #[test]
    fn a_query_is_allowed_by_the_key_that_it_names() {
        let query = |key| {
            json!({
                "TableName": "UsersTable",
                "KeyConditionExpression": "pk = :person AND begins_with(sk, :member)",
                "ExpressionAttributeValues": {":person": {"S": key}, ":member": {"S": "MEMBER#"}},
            })
        };

        assert!(allowed("Query", &query("ACCESS#a")));
        assert!(!allowed("Query", &query("USER#a")));
        assert!(!allowed("Scan", &json!({"TableName": "UsersTable"})));
        assert_eq!(table_of("${LinksTable.Arn}/index/by-workspace").as_deref(), Some("LinksTable/index/by-workspace"));
        assert_eq!(table_of("LinksTable.StreamArn"), None);
    }
}
