//! The operations of the API: which methods a path has, and which parameters a query. Log lines name routes by them, since API Gateway's
//! own name of a greedy route says little.

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::{Timestamp, civil::Date, fmt::rfc2822::DateTimePrinter, tz::TimeZone};

use super::nearest::nearest;

/// One operation in a line, made from the OpenAPI document by `make routes` in the order of the search: a literal before a parameter.
const LINES: &str = include_str!("operations.txt");

/// An operation of the OpenAPI document.
#[derive(Debug)]
pub(super) struct Operation {
    method: &'static str,
    /// Such as `/api/links/{code}`.
    pub path: &'static str,
    /// Whether it takes requests without a credential.
    pub is_public: bool,
    /// Whether it does once what is asked for repeatedly with one `Idempotency-Key`.
    is_idempotent: bool,
    /// When its end was announced, and when it comes.
    ending: Option<Ending>,
    parameters: Parameters,
}

/// The headers of an operation that will end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// `Deprecation` (RFC 9745).
    pub deprecation: String,
    /// `Sunset` (RFC 8594).
    pub sunset: String,
}

impl Ending {
    /// Of two dates, such as `2027-03-01/2028-03-01`.
    fn parse(dates: &str) -> Option<Self> {
        let (deprecated, sunset) = dates.split_once('/')?;
        let midnight = |date: &str| -> Option<Timestamp> {
            Some(date.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
        };
        Some(Self {
            deprecation: format!("@{}", midnight(deprecated)?.as_second()),
            sunset: DateTimePrinter::new().timestamp_to_rfc9110_string(&midnight(sunset)?).ok()?,
        })
    }
}

/// What the query of an operation may have.
#[derive(Debug)]
enum Parameters {
    /// Anything: files, links that come by mail, and short links, which pass it on.
    Any,
    Known(Vec<Parameter>),
}

#[derive(Debug)]
struct Parameter {
    name: &'static str,
    is_list: bool,
}

/// What is wrong with a parameter of a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// The operation doesn't have it, but maybe a similar one.
    Unknown(Option<&'static str>),
    /// It stands in the query twice, and has one value.
    Repeated,
}

impl Operation {
    /// Reads a line, such as `GET /api/links private after tag+` or `POST /api/keys private idempotent`. A parameter with `+` may be
    /// repeated, and `?` allows any. `ends=` has two dates.
    fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ').peekable();
        let (method, path, access) = (words.next()?, words.next()?, words.next()?);
        let is_idempotent = words.next_if_eq(&"idempotent").is_some();
        let ending =
            words.next_if(|word| word.starts_with("ends=")).and_then(|word| Ending::parse(&word["ends=".len()..]));
        let parameter = |word: &'static str| {
            let list = word.strip_suffix('+');
            Parameter { name: list.unwrap_or(word), is_list: list.is_some() }
        };
        let parameters =
            if line.ends_with(" ?") { Parameters::Any } else { Parameters::Known(words.map(parameter).collect()) };
        Some(Self { method, path, is_public: access == "public", is_idempotent, ending, parameters })
    }

    /// Whether somebody would rely in vain on an `Idempotency-Key`. Visitors of short links bring what they like.
    pub(super) fn refuses_idempotency_keys(&self) -> bool {
        self.method == "POST" && !self.is_idempotent && matches!(self.parameters, Parameters::Known(_))
    }

    /// The headers that announce its end, if it will end.
    pub(super) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Whether its query may have anything.
    pub(super) fn takes_any_query(&self) -> bool {
        matches!(self.parameters, Parameters::Any)
    }

    /// What is wrong with a parameter of a query that has these before it.
    pub(super) fn mistake(&self, name: &str, before: &[Cow<'_, str>]) -> Option<Mistake> {
        let Parameters::Known(known) = &self.parameters else { return None };
        match known.iter().find(|parameter| parameter.name == name) {
            None => Some(Mistake::Unknown(nearest(name, known.iter().map(|parameter| parameter.name)))),
            Some(parameter) if !parameter.is_list && before.iter().any(|one| one == name) => Some(Mistake::Repeated),
            Some(_) => None,
        }
    }
}

/// The operations at the documented path of a request; none if it has none.
pub(super) fn at(path: &str) -> &'static [Operation] {
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| LINES.lines().filter_map(Operation::parse).collect());
    let found = ALL.chunk_by(|one, next| one.path == next.path).find(|operations| matches(operations[0].path, path));
    found.unwrap_or_default()
}

/// The operation with a method; a HEAD is a GET.
pub(super) fn with_method<'o>(operations: &'o [Operation], method: &str) -> Option<&'o Operation> {
    operations.iter().find(|operation| operation.method == method)
}

/// The methods of operations, as the header `Allow` lists them (RFC 9110, 10.2.1).
pub(super) fn methods(operations: &[Operation]) -> String {
    let methods = operations.iter().flat_map(|operation| match operation.method {
        "GET" => &["GET", "HEAD"][..],
        _ => std::slice::from_ref(&operation.method),
    });
    methods.copied().collect::<Vec<_>>().join(", ")
}

/// The part of a path in the place of a documented path's parameter.
pub(super) fn parameter<'p>(documented: &str, path: &'p str, name: &str) -> Option<&'p str> {
    let position = documented.split('/').position(|part| part == name)?;
    path.split('/').nth(position)
}

fn matches(documented: &str, path: &str) -> bool {
    let (parts, segments) = (documented.split('/'), path.split('/'));
    let mut pairs = parts.clone().zip(segments.clone());
    parts.count() == segments.count()
        && pairs.all(|(part, segment)| part == segment || part.starts_with('{') && !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_will_end_says_so_in_two_headers() {
        let operation = Operation::parse("GET /api/old private ends=2027-03-01/2028-03-01 after").unwrap();

        let expected =
            Ending { deprecation: "@1803859200".to_owned(), sunset: "Wed, 01 Mar 2028 00:00:00 GMT".to_owned() };
        assert_eq!(operation.ending(), Some(&expected));
        assert_eq!(operation.mistake("after", &[]), None);
        assert_eq!(Operation::parse("GET /api/new private after").unwrap().ending(), None);
    }
}
