//! The page that a person sees instead of a redirect.

use std::sync::LazyLock;

use linklet_lambda::http::{HeaderValue, Problem, policy_of_style};

/// The colours, corners and sizes are those of the web application.
const STYLE: &str = "
  :root { color-scheme: light dark; --ground: #fbfbfa; --surface: #fff; --line: #e4e4e0; --text: #1c1d1f; --muted: #5d6066;
          --drawing: #8d9096; }
  @media (prefers-color-scheme: dark) {
    :root { --ground: #131416; --surface: #1b1d20; --line: #303338; --text: #ececee; --muted: #a3a7ae; --drawing: #70757d; }
  }
  body { box-sizing: border-box; display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 24px 16px 12vh;
         background: var(--ground); color: var(--text); font: 16px/24px system-ui, sans-serif; }
  main { box-sizing: border-box; width: 100%; max-width: 440px; padding: 32px 24px; border: 1px solid var(--line);
         border-radius: 8px; background: var(--surface); text-align: center; }
  svg { display: block; margin: 0 auto 24px; fill: none; stroke: var(--drawing); stroke-width: 1.5; }
  h1 { margin: 0 0 8px; font-size: 20px; line-height: 28px; font-weight: 600; text-wrap: balance; }
  p { margin: 0; color: var(--muted); text-wrap: balance; }
  small { display: block; margin-top: 24px; color: var(--muted); font-size: 12px; line-height: 16px; }
";

/// Two ends that nothing joins.
const DRAWING: &str = concat!(
    r#"<svg viewBox="0 0 160 32" width="160" height="32" aria-hidden="true"><circle cx="16" cy="16" r="7"/>"#,
    r#"<circle cx="144" cy="16" r="7"/><path d="M24 16h36M100 16h36M70 10l4 12M86 10l4 12"/></svg>"#
);

/// What the page may load and do: apply its style, and nothing else. It is made with the first page, since most environments
/// never show one.
pub fn policy() -> HeaderValue {
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| policy_of_style(STYLE));
    POLICY.clone()
}

/// A small page about a problem. All of it is our own text, so there is nothing to escape.
pub fn of(problem: Problem) -> String {
    let code = problem.status().as_u16();
    let Words { what, advice } = words(problem);
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{what}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{DRAWING}
<h1>{what}</h1>
<p>{advice}</p>
<small>{code}</small>
</main>
</body>
</html>
"#
    )
}

/// What a page says.
struct Words {
    /// What has happened.
    what: &'static str,
    /// What a visitor can do about it.
    advice: &'static str,
}

/// What a visitor can make of a problem, where the sentence of the API is meant for programmers.
fn words(problem: Problem) -> Words {
    const CHECK: &str = "Its address may be mistyped: capital and small letters make a difference.";
    const ASK: &str = "Whoever gave it to you may have another one.";
    const WAIT: &str = "Try again in a minute.";
    match problem {
        Problem::NotFound => Words { what: "This link doesn’t exist", advice: CHECK },
        Problem::RouteUnknown => Words { what: "This page doesn’t exist", advice: CHECK },
        Problem::LinkExpired => Words { what: "This link has expired", advice: ASK },
        Problem::LinkDeleted | Problem::LinkPurged => Words { what: "This link was deleted", advice: ASK },
        Problem::LinkInactive => Words { what: "This link is switched off", advice: ASK },
        Problem::RateLimited => Words { what: "Too many links were followed from your network", advice: WAIT },
        Problem::ServiceUnavailable => Words { what: "This link can’t be looked up at the moment", advice: WAIT },
        _ => Words { what: "Something went wrong here", advice: WAIT },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that the redirect has to say to people.
    const PROBLEMS: [Problem; 9] = [
        Problem::NotFound,
        Problem::RouteUnknown,
        Problem::LinkExpired,
        Problem::LinkDeleted,
        Problem::LinkPurged,
        Problem::LinkInactive,
        Problem::RateLimited,
        Problem::ServiceUnavailable,
        Problem::Internal,
    ];

    #[test]
    fn a_page_says_what_has_happened_and_what_to_do() {
        let page = of(Problem::LinkExpired);

        for part in ["<h1>This link has expired</h1>", "<p>Whoever gave it to you may have another one.</p>", "410"] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn only_a_failure_of_ours_is_called_one() {
        for problem in PROBLEMS.into_iter().filter(|problem| *problem != Problem::Internal) {
            assert!(!of(problem).contains("Something went wrong"), "{problem:?}");
        }
    }

    #[test]
    fn a_page_is_small() {
        for problem in PROBLEMS {
            assert!(of(problem).len() < 2_048, "{problem:?}: {} bytes", of(problem).len());
        }
    }
}
