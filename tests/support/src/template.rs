use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::{Value, json};

/// `template.yaml`, as far as tests need it.
#[derive(Debug, Deserialize)]
pub struct Template {
    #[serde(rename = "Resources")]
    resources: BTreeMap<String, Resource>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    #[serde(rename = "Type")]
    kind: String,
    #[serde(rename = "Properties", default)]
    properties: Value,
}

/// A route of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Such as `GET`.
    pub method: String,
    /// Such as `/api/stats/{code}`.
    pub path: String,
}

impl Template {
    /// Reads the repository's template.
    ///
    /// # Panics
    /// When it can't be read: no test makes sense then.
    #[must_use]
    pub fn load() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml");
        let text = fs::read_to_string(path).expect("template.yaml can be read");
        serde_saphyr::from_str(&text).expect("template.yaml is a template")
    }

    /// For each table by its logical id, what `CreateTable` wants.
    #[must_use]
    pub fn tables(&self) -> BTreeMap<String, Value> {
        self.of_type("AWS::DynamoDB::Table")
            .map(|(id, properties)| (id.to_owned(), create_table(id, properties)))
            .collect()
    }

    /// Every route of the HTTP API.
    ///
    /// # Panics
    /// When a route key is not a method and a path.
    #[must_use]
    pub fn routes(&self) -> Vec<Route> {
        self.of_type("AWS::ApiGatewayV2::Route")
            .map(|(_, properties)| {
                let key = properties["RouteKey"].as_str().expect("a route has a key");
                let (method, path) = key.split_once(' ').expect("a route key is a method and a path");
                Route { method: method.to_owned(), path: path.to_owned() }
            })
            .collect()
    }

    fn of_type(&self, kind: &str) -> impl Iterator<Item = (&str, &Value)> {
        self.resources
            .iter()
            .filter(move |(_, resource)| resource.kind == kind)
            .map(|(id, resource)| (id.as_str(), &resource.properties))
    }
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
    fn the_template_has_tables_and_routes() {
        let template = Template::load();

        assert!(template.tables().contains_key("LinksTable"));
        assert!(template.routes().contains(&Route { method: "GET".into(), path: "/r/{code}".into() }));
    }
}
