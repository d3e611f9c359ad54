use std::fmt::Debug;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use linklet_domain::{LinkMetadata, WorkspaceName, WorkspaceSettings};
use linklet_lambda::http::{BODY_BYTES, GatewayEvent, Request};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// JSON bodies, and what is read from their members.
pub fn json_bodies(input: &[u8]) {
    let request = with_body(input);
    let Ok(object) = request.json_object() else {
        let is_object = serde_json::from_slice::<Map<String, Value>>(input).is_ok();
        return assert!(!is_object || input.len() > BODY_BYTES, "an object was refused");
    };
    let canonical = object.canonical();
    let again = with_body(canonical.as_bytes());
    let again = again.json_object().expect("a canonical body is a body");
    assert_eq!(again.canonical(), canonical);
    survives::<LinkMetadata>(&request);
    if let Ok(settings) = WorkspaceSettings::parse(canonical) {
        assert_eq!(settings.as_str(), canonical);
    }
    // A number may be too large for this type, though not for a body.
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return };
    if let Some(Ok(name)) = value.get("name").and_then(Value::as_str).map(WorkspaceName::parse) {
        assert_eq!(WorkspaceName::parse(name.as_str()), Ok(name));
    }
}

fn with_body(bytes: &[u8]) -> Request {
    Request::from(GatewayEvent {
        body: Some(STANDARD.encode(bytes)),
        is_base64_encoded: Some(true),
        ..GatewayEvent::default()
    })
}

/// What was accepted can be stored and read again without a change.
fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(request: &Request) {
    if let Ok(accepted) = request.json::<T>() {
        let stored = serde_json::to_string(&accepted).expect("what was read can be written");
        assert_eq!(serde_json::from_str::<T>(&stored).expect("what was written can be read"), accepted);
    }
}
