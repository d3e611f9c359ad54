//! What the query of a request says, and whether its operation takes it.

use lambda_http::http::Method;
use linklet_domain::{Day, Invalid, Timestamp};

use super::{IDEMPOTENCY_KEY, Request};
use crate::http::operations::{self, Ending, Mistake};
use crate::http::unread::shown;
use crate::http::{ApiError, Result};
use crate::zone::{self, Zone};

impl Request {
    /// The query as it was sent, which nobody has decoded.
    pub fn raw_query(&self) -> &str {
        &self.raw_query
    }

    /// A query parameter's first value. An empty one is an absent one, since forms send what nobody filled in.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.queries(name).next()
    }

    /// All values of a query parameter that may come several times, without empty ones.
    pub fn queries(&self, name: &str) -> impl Iterator<Item = &str> {
        self.query.all(name).into_iter().flatten().filter(|value| !value.is_empty())
    }

    /// Refuses what no handler has to look at: a method that the path doesn't have, and where nobody has to be known, parameters that
    /// the operation doesn't have.
    ///
    /// # Errors
    /// 405, or 400 as of [`Self::require_known_parameters`].
    pub(in crate::http) fn require_operation(&self) -> Result<()> {
        let operations = self.operations;
        match operations::with_method(operations, self.method.as_str()) {
            Some(operation) if operation.is_public => self.require_known_parameters(),
            Some(_) => Ok(()),
            None if operations.is_empty() => Ok(()),
            None => Err(ApiError::MethodNotAllowed { allow: operations::methods(operations) }),
        }
    }

    /// The headers that announce the end of the operation, if it will end.
    pub(in crate::http) fn ending(&self) -> Option<&'static Ending> {
        operations::with_method(self.operations, self.method.as_str())?.ending()
    }

    /// Refuses query parameters that the operation doesn't have, since a misspelt one would change what an answer is about, and those
    /// that are there twice and have one value. A parameter without a name doesn't count, and in a GET neither does one without a value.
    /// Refuses an idempotency key where it has no effect.
    ///
    /// # Errors
    /// 400 for the first of them.
    pub(crate) fn require_known_parameters(&self) -> Result<()> {
        let Some(operation) = operations::with_method(self.operations, self.method.as_str()) else { return Ok(()) };
        if operation.refuses_idempotency_keys() {
            let is_given = self.header_lossy(IDEMPOTENCY_KEY).is_some_and(|key| !key.is_empty());
            let sentence = "Idempotency-Key is not supported here; send the request without it";
            Invalid::field_when(IDEMPOTENCY_KEY, is_given, sentence)?;
        }
        if operation.takes_any_query() {
            return Ok(());
        }
        let pairs = url::form_urlencoded::parse(self.raw_query.as_bytes());
        // What is misspelt mustn't change anything, whatever its value is.
        let is_change = self.method != Method::GET;
        let counts = |name: &str, value: &str| !name.is_empty() && (is_change || !value.is_empty());
        let names: Vec<_> = pairs.filter(|(name, value)| counts(name, value)).map(|(name, _)| name).collect();
        for (position, name) in names.iter().enumerate() {
            match operation.mistake(name, &names[..position]) {
                None => {}
                Some(Mistake::Unknown(nearest)) => {
                    return Err(ApiError::UnknownParameter { name: shown(name), nearest });
                }
                Some(Mistake::Repeated) => {
                    return Err(Invalid::new(format!("{name} may be in the query only once"))
                        .in_field(name.as_ref())
                        .into());
                }
            }
        }
        Ok(())
    }

    /// A query parameter, read by this function.
    ///
    /// # Errors
    /// The error of the function, which then names the parameter.
    pub fn parsed<'a, T>(
        &'a self,
        name: &'static str,
        parse: impl FnOnce(&'a str) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        self.query(name).map(parse).transpose().map_err(|refused| refused.in_field(name))
    }

    /// A query parameter that is true or false. One without a value isn't an absent one: whoever writes `?dry_run` means something.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, Invalid> {
        let flag = self.query.first(name).map(str::parse).transpose();
        flag.map_err(|_| Invalid::new(format!("{name} must be true or false")).in_field(name))
    }

    /// The query parameter `limit`: 20 if it is missing, and at most 100, whatever it says.
    ///
    /// # Errors
    /// When it is no whole number from 1 on.
    pub fn page_size(&self) -> Result<usize, Invalid> {
        const DEFAULT: usize = 20;
        self.page_size_or(DEFAULT)
    }

    /// The query parameter `limit`: this number if it is missing, and at most 100, whatever it says.
    ///
    /// # Errors
    /// When it is no whole number from 1 on.
    pub fn page_size_or(&self, default: usize) -> Result<usize, Invalid> {
        Ok(self.limit(Self::MOST_OF_A_PAGE)?.unwrap_or(default))
    }

    /// The query parameter `limit` of a table: this number if it is missing, and at most, whatever it says.
    ///
    /// # Errors
    /// When it is no whole number from 1 on.
    pub fn number_of_rows(&self, most: usize) -> Result<usize, Invalid> {
        Ok(self.limit(most)?.unwrap_or(most))
    }

    fn limit(&self, most: usize) -> Result<Option<usize>, Invalid> {
        self.parsed("limit", |text| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            // A number with more digits than a usize has is above the maximum, too.
            let limit = if is_number { text.parse().unwrap_or(most) } else { 0 };
            if limit == 0 { Err(Invalid::new("limit must be a positive integer")) } else { Ok(limit.min(most)) }
        })
    }

    /// Two query parameters that are the ends of a time: dates or date-times. A date as the first end means its first moment, as
    /// the last end its last one.
    ///
    /// # Errors
    /// When one of them is neither, or the first is later than the last.
    pub fn time_between(
        &self,
        (first, last): (&'static str, &'static str),
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), Invalid> {
        Zone::utc().between((first, self.query(first)), (last, self.query(last)))
    }

    /// A query parameter that is a date-time, or a date, of which a moment is meant.
    ///
    /// # Errors
    /// When it is neither.
    pub fn moment(&self, name: &'static str, of: impl Fn(Day) -> Timestamp) -> Result<Option<Timestamp>, Invalid> {
        self.query(name).map(|text| zone::moment(name, text, of)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use lambda_http::http::header;

    use super::*;
    use crate::http::GatewayEvent;

    fn with_query(query: &str) -> Request {
        GatewayEvent { raw_query_string: Some(query.to_owned()), ..GatewayEvent::default() }.into()
    }

    #[test]
    fn a_limit_is_capped_at_its_maximum_and_refused_below_1() {
        for (query, limit) in [("", 20), ("limit=", 20), ("limit=1", 1), ("limit=100", 100), ("limit=101", 100)] {
            assert_eq!(with_query(query).page_size(), Ok(limit), "{query}");
        }
        assert_eq!(with_query(&format!("limit={}", "9".repeat(40))).page_size(), Ok(100));
        for refused in ["0", "-1", "ten", "1.5", "1e2", "٣"] {
            let sentence = Invalid::new("limit must be a positive integer").in_field("limit");
            assert_eq!(with_query(&format!("limit={refused}")).page_size(), Err(sentence), "{refused}");
        }
    }

    fn refused(method: Method, path: &str, query: &str) -> Option<(Option<String>, String)> {
        let mut event = GatewayEvent { raw_path: Some(path.to_owned()), ..GatewayEvent::default() };
        event.raw_query_string = Some(query.to_owned());
        event.request_context.http.method = method;
        let request = Request::from(event);
        let refused = request.require_operation().and_then(|()| request.require_known_parameters()).err()?;
        Some((refused.field().map(str::to_owned), refused.sentence()))
    }

    #[test]
    fn an_unknown_or_repeated_parameter_is_refused_by_its_name() {
        let links = |query: &str| refused(Method::GET, "/api/links", query);
        let expected = |field: &str, sentence: &str| Some((Some(field.to_owned()), sentence.to_owned()));

        for (query, field, sentence) in [
            ("tag=a&serch=b", "serch", "there is no parameter serch here; did you mean search?"),
            ("colour=b", "colour", "there is no parameter colour here"),
            ("order=asc&tag=a&order=desc", "order", "order may be in the query only once"),
        ] {
            assert_eq!(links(query), expected(field, sentence), "{query}");
        }
        for query in ["", "tag=a&tag=b&search=", "=null", "&&", "colour=", "order=&order=asc"] {
            assert_eq!(links(query), None, "{query}");
        }
        assert_eq!(refused(Method::GET, "/launch", "colour=b"), None, "visitors bring what they like");
    }

    #[test]
    fn an_idempotency_key_is_refused_where_a_post_makes_nothing_once() {
        let refused = |method: Method, path: &str, key: &'static str| {
            let mut event = GatewayEvent { raw_path: Some(path.to_owned()), ..GatewayEvent::default() };
            event.request_context.http.method = method;
            event.headers.insert("idempotency-key", header::HeaderValue::from_static(key));
            Request::from(event).require_known_parameters().err().map(|refused| refused.field().map(str::to_owned))
        };

        for path in ["/api/auth/login", "/api/invitations/accept", "/api/auth/password"] {
            assert_eq!(refused(Method::POST, path, "a"), Some(Some("Idempotency-Key".to_owned())), "{path}");
            assert_eq!(refused(Method::POST, path, ""), None, "{path}");
        }
        for path in ["/api/keys", "/api/keys/lk_live_00000000/rotate", "/launch", "/r/launch", "/api/unsubscribe"] {
            assert_eq!(refused(Method::POST, path, "a"), None, "{path}");
        }
        assert_eq!(refused(Method::PATCH, "/api/me", "a"), None);
    }

    #[test]
    fn a_method_that_the_path_lacks_is_refused() {
        let refused = |method, path| refused(method, path, "");

        assert_eq!(refused(Method::HEAD, "/api/links"), None);
        assert_eq!(refused(Method::PUT, "/nothing/is/here"), None, "another answer says so");
        assert_eq!(refused(Method::PUT, "/api/shorten"), Some((None, "this address only supports POST".to_owned())));
        let sentence = "this address only supports GET, HEAD, PUT, PATCH, DELETE";
        assert_eq!(refused(Method::POST, "/api/links/launch"), Some((None, sentence.to_owned())));
    }

    #[test]
    fn a_date_as_the_last_end_includes_its_day() {
        let between = |query: &str| with_query(query).time_between(("from", "to"));
        let time = |text: &str| Some(Timestamp::parse(text).unwrap());

        let expected = Ok((time("2026-03-02T00:00:00Z"), time("2026-03-02T23:59:59.999Z")));
        assert_eq!(between("from=2026-03-02&to=2026-03-02"), expected);
        assert_eq!(between("from=&to="), Ok((None, None)));
        let expected = Err(Invalid::new("from must not be later than to").in_field("from"));
        assert_eq!(between("from=2026-03-03&to=2026-03-02"), expected);
        assert_eq!(between("to=now"), Err(Invalid::new("to must be a date or RFC3339 format").in_field("to")));
    }
}
