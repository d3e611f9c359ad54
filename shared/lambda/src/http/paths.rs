//! The paths of the API, by which log lines name routes: API Gateway's own name of a greedy route says little.

/// The paths of the OpenAPI document, which `make routes` writes in the order of the search: a literal before a parameter.
const PATHS: &str = include_str!("paths.txt");

/// The documented path of a request, such as `/api/links/{code}`.
pub(super) fn documented(path: &str) -> Option<&'static str> {
    PATHS.lines().find(|known| matches(known, path))
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
