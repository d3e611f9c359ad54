//! The page that a person sees instead of a redirect.

use std::sync::LazyLock;

use linklet_lambda::http::{HeaderValue, Problem, policy_of_style};

const STYLE: &str = "
  body { display: grid; place-content: center; min-height: 100vh; margin: 0; padding: 0 1.5rem; text-align: center;
         font: 1.125rem/1.5 system-ui, sans-serif; color: #222; background: #fafafa; }
  h1 { margin: 0; font-size: 3rem; }
  @media (prefers-color-scheme: dark) { body { color: #eee; background: #181818; } }
";

/// What the page may load and do: apply its style, and nothing else. It is made with the first page, since most environments
/// never show one.
pub fn policy() -> HeaderValue {
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| policy_of_style(STYLE));
    POLICY.clone()
}

/// A small page about a problem. All of it is our own text, so there is nothing to escape.
pub fn of(problem: Problem) -> String {
    let (code, sentence) = (problem.status().as_u16(), sentence(problem));
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{code} – {sentence}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{code}</h1>
<p>Sorry, {sentence}.</p>
</main>
</body>
</html>
"#
    )
}

/// What a visitor can make of a problem, where the sentence of the API is meant for programmers.
fn sentence(problem: Problem) -> &'static str {
    match problem {
        Problem::NotFound => "this short link does not exist",
        Problem::RateLimited => "too many links were followed from your network; try again in a minute",
        Problem::ServiceUnavailable => "this link can't be looked up at the moment; try again in a minute",
        Problem::Internal => "something went wrong here",
        problem => problem.sentence(),
    }
}
