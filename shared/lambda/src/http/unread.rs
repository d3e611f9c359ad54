use std::collections::BTreeSet;

use lambda_http::Body;
use lambda_http::http::{HeaderValue, header};
use linklet_domain::disguises_a_line;
use parking_lot::Mutex;

use super::Response;

/// The members of a request's body that do nothing, as far as the route has read the body. An answer names them, so that nobody
/// relies on what a route doesn't do.
#[derive(Debug, Default)]
pub(super) struct Unread(Mutex<Option<BTreeSet<String>>>);

impl Unread {
    /// Notes which members one struct of the body doesn't have. Others may have them.
    pub(super) fn note(&self, left: BTreeSet<String>) {
        let mut noted = self.0.lock();
        *noted = Some(match noted.take() {
            Some(before) => before.intersection(&left).cloned().collect(),
            None => left,
        });
    }

    /// The names, as an answer may show them to anybody: shortened, and without what would change how the text around them is
    /// read. They are handed out once, since an answer names them once.
    pub(super) fn take(&self) -> Vec<String> {
        let names = self.0.lock().take().unwrap_or_default();
        let shown: BTreeSet<_> = names.iter().map(|name| shown(name)).collect();
        shown.into_iter().take(MOST_IGNORED).collect()
    }
}

/// How many members that do nothing an answer names at most.
pub const MOST_IGNORED: usize = 20;

/// A name that a client has made up, as an answer may show it.
pub(super) fn shown(name: &str) -> String {
    const LONGEST: usize = 64;
    let plain = |character| if disguises_a_line(character) { char::REPLACEMENT_CHARACTER } else { character };
    name.chars().take(LONGEST).map(plain).collect()
}

/// Adds the member `ignored` with these names to an answer that is a JSON object.
pub fn naming(names: &[String], mut response: Response) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    let is_json = response.headers().get(header::CONTENT_TYPE) == Some(&JSON);
    if names.is_empty() || !is_json || !response.status().is_success() {
        return response;
    }
    if let (Body::Text(object), Ok(names)) = (response.body_mut(), serde_json::to_string(names))
        && object.ends_with('}')
    {
        object.pop();
        let comma = if object == "{" { "" } else { "," };
        object.push_str(&format!("{comma}\"ignored\":{names}}}"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{StatusCode, json_text};

    fn unread(names: &[&str]) -> Unread {
        let unread = Unread::default();
        unread.note(names.iter().map(|&name| name.to_owned()).collect());
        unread
    }

    fn answer(status: StatusCode, body: &str) -> String {
        let response = naming(&["a\"b".to_owned(), "c".to_owned()], json_text(status, body.to_owned()));
        String::from_utf8(response.into_body().to_vec()).unwrap()
    }

    #[test]
    fn what_one_of_several_structs_has_is_read() {
        let unread = unread(&["title", "x", "y"]);
        unread.note(["url", "x", "y"].map(str::to_owned).into());

        assert_eq!(unread.take(), ["x", "y"]);
        assert_eq!(unread.take(), [""; 0], "they are named once");
    }

    #[test]
    fn of_a_body_that_was_not_read_nothing_is_known() {
        assert_eq!(Unread::default().take(), [""; 0]);
    }

    #[test]
    fn names_of_strangers_are_few_short_and_plain() {
        let many: Vec<_> = (10..40).map(|number| format!("x{number}")).collect();
        let (long, longer) = ("\u{1F331}".repeat(64), "\u{1F331}".repeat(65));

        assert_eq!(unread(&many.iter().map(String::as_str).collect::<Vec<_>>()).take(), many[..20]);
        assert_eq!(unread(&[&long, &longer]).take(), [long.as_str()]);
        let expected = ["a\u{FFFD}b\u{FFFD}", "b\u{FFFD}\u{FFFD}\u{FFFD}"];
        assert_eq!(unread(&["a\u{202E}b\u{2066}", "b\u{0}\n\u{85}"]).take(), expected);
    }

    #[test]
    fn only_objects_that_report_success_name_them() {
        assert_eq!(answer(StatusCode::CREATED, r#"{"id":1}"#), r#"{"id":1,"ignored":["a\"b","c"]}"#);
        assert_eq!(answer(StatusCode::OK, "{}"), r#"{"ignored":["a\"b","c"]}"#);
        for (status, body) in [(StatusCode::BAD_REQUEST, "{}"), (StatusCode::OK, "[]"), (StatusCode::OK, "")] {
            assert_eq!(answer(status, body), body);
        }
    }
}
