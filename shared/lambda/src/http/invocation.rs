//! What a function behind the API is invoked with if it carries out operators' commands as well.

use lambda_runtime::Error;
use serde_json::{Value, value::RawValue};

use super::GatewayEvent;

/// An event, by its form.
#[derive(Debug)]
pub enum Invocation {
    /// A request, from API Gateway.
    Request(Box<GatewayEvent>),
    /// A command, by whoever may invoke the function themselves.
    Command(Value),
}

impl Invocation {
    /// Tells a request from a command, which has an `operator`. API Gateway makes the members of its events: what clients send stands deeper
    /// in them, in headers, query and body. So no request is a command.
    ///
    /// # Errors
    /// When it is neither, without saying what is in it.
    pub fn of(event: &RawValue) -> Result<Self, Error> {
        if let Ok(request) = serde_json::from_str(event.get()) {
            return Ok(Self::Request(request));
        }
        let command: Option<Value> = serde_json::from_str(event.get()).ok();
        let command = command.filter(|command| command.get("operator").is_some());
        command.map(Self::Command).ok_or_else(|| "the event is neither a request nor a command".into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(event: &Value) -> Result<Invocation, Error> {
        Invocation::of(&RawValue::from_string(event.to_string()).unwrap())
    }

    #[test]
    fn nothing_that_a_client_sends_makes_a_command_of_a_request() {
        let command = json!({"operator": "eve", "command": {"forget": {"email": "ada@example.com"}}});
        let http = json!({"method": "DELETE", "path": "/api/me"});
        let mut event = json!({
            "rawPath": "/api/me", "rawQueryString": "operator=eve", "headers": {"operator": "eve"}, "cookies": ["operator=eve"],
            "requestContext": {"http": http}, "body": command.to_string(),
        });

        assert!(matches!(of(&event).unwrap(), Invocation::Request(_)));
        assert!(matches!(of(&command).unwrap(), Invocation::Command(given) if given == command));
        event["requestContext"]["http"]["method"] = json!("FOR GET");
        assert!(of(&event).is_err());
    }

    #[test]
    fn what_is_neither_is_an_error_that_says_nothing_of_it() {
        for event in
            [json!("hunter2"), json!({"command": {"forget": {"email": "hunter2"}}}), json!(["operator"]), json!(7)]
        {
            assert_eq!(of(&event).unwrap_err().to_string(), "the event is neither a request nor a command", "{event}");
        }
    }
}
