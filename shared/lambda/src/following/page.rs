//! The pages that people and machines see instead of a redirect.

use std::{borrow::Cow, fmt::Write as _, sync::LazyLock};

use linklet_domain::{Preview, ShortCode, WorkspaceId};

use super::{Brand, Brands};
use crate::http::{
    ApiError, HeaderValue, Pages, Problem, Request, Response, Result, StatusCode, escaped, header, policy_of_form,
    policy_of_style, policy_of_styles,
};

/// The colours, corners and sizes are those of the web application.
const STYLE: &str = "
  :root { color-scheme: light dark; --ground: #fbfbfa; --surface: #fff; --line: #e4e4e0; --text: #1c1d1f; --muted: #5d6066;
          --drawing: #8d9096; --accent: #2f5bd7; --on-accent: #fff; --bad: #b3261e; }
  @media (prefers-color-scheme: dark) {
    :root { --ground: #131416; --surface: #1b1d20; --line: #303338; --text: #ececee; --muted: #a3a7ae; --drawing: #70757d;
            --accent: #8aa9ff; --on-accent: #10131a; --bad: #ff8f86; }
  }
  body { box-sizing: border-box; display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 24px 16px 12vh;
         background: var(--ground); color: var(--text); font: 16px/24px system-ui, sans-serif; }
  main { box-sizing: border-box; width: 100%; max-width: 440px; padding: 32px 24px; border: 1px solid var(--line);
         border-radius: 8px; background: var(--surface); text-align: center; }
  svg { display: block; margin: 0 auto 24px; fill: none; stroke: var(--drawing); stroke-width: 1.5; }
  h1 { margin: 0 0 8px; font-size: 20px; line-height: 28px; font-weight: 600; text-wrap: balance; }
  p { margin: 0; color: var(--muted); text-wrap: balance; }
  small { display: block; margin-top: 24px; color: var(--muted); font-size: 12px; line-height: 16px; }
  form { display: grid; gap: 8px; margin-top: 24px; text-align: left; }
  label { font-size: 14px; line-height: 20px; }
  input, button { box-sizing: border-box; width: 100%; min-height: 44px; padding: 8px 12px; border: 1px solid var(--drawing);
                  border-radius: 8px; background: var(--ground); color: inherit; font: inherit; }
  button { margin-top: 8px; border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600;
           cursor: pointer; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .wrong { color: var(--bad); }
  a { color: var(--accent); }
";

/// Two ends that nothing joins.
const DRAWING: &str = concat!(
    r#"<svg viewBox="0 0 160 32" width="160" height="32" aria-hidden="true"><circle cx="16" cy="16" r="7"/>"#,
    r#"<circle cx="144" cy="16" r="7"/><path d="M24 16h36M100 16h36M70 10l4 12M86 10l4 12"/></svg>"#
);

/// What keeps a link from those without its password.
const LOCK: &str = concat!(
    r#"<svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><rect x="6" y="14" width="20" height="14" rx="3"/>"#,
    r#"<path d="M10 14v-4a6 6 0 0 1 12 0v4M16 19v4"/></svg>"#
);

/// What the pages may load and do: apply their style, and nothing else. It is made with the first page, since most environments
/// never show one.
fn policy() -> HeaderValue {
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| policy_of_style(STYLE));
    POLICY.clone()
}

/// The same, and to send a password to where the page is from. The answer leads to wherever the link leads, for which a browser
/// holds this against the address of the redirect as well.
fn policy_with_form() -> HeaderValue {
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| policy_of_form(STYLE));
    POLICY.clone()
}

/// A page for people whom a link doesn't redirect, with the headers of the problem document that everybody else gets, and with what the
/// link's workspace shows of itself.
///
/// # Errors
/// The error itself, for those who prefer a document.
pub fn about(error: ApiError, request: &Request, pages: Pages, brand: Option<&Brand>) -> Result<Response> {
    if !request.wants_html() {
        return Err(error);
    }
    let problem = error.problem();
    let page = match problem {
        Problem::LinkPasswordRequired | Problem::LinkPasswordWrong | Problem::TooManyAttempts => {
            asking(problem, &action(request))
        }
        Problem::NotFound => of(problem, about_case(request), pages.contact),
        Problem::LinkSuspended | Problem::LinkWithheld if pages.contact.is_some() => {
            of(problem, " If this is a mistake, email the address below.", pages.contact)
        }
        _ => of(problem, "", pages.contact),
    };
    let (page, policy) = page.branded(brand, Some(problem), request);
    let (parts, _) = error.into_response(request).into_parts();
    let mut response = pages.html(request, parts.status, page, policy);
    for (name, value) in parts.headers.iter().filter(|(name, _)| *name != header::CONTENT_TYPE) {
        response.headers_mut().insert(name, value.clone());
    }
    Ok(noindex(response))
}

/// A page about a link, with what its workspace shows of itself, which is read for this.
///
/// # Errors
/// As of [`about`].
pub async fn about_link(
    error: ApiError,
    request: &Request,
    pages: Pages,
    (brands, owner): (&Brands, Option<WorkspaceId>),
) -> Result<Response> {
    let brand = match owner.filter(|_| request.wants_html() && names_its_owner(error.problem())) {
        // Boxed, since a redirect would otherwise carry the room for a call.
        Some(workspace) => Box::pin(brands.find(&workspace, request.received_at)).await,
        None => None,
    };
    about(error, request, pages, brand.as_ref())
}

/// Whether the page about a problem says whose the link is. A suspended link may have done harm, so nobody is led to its owner.
fn names_its_owner(problem: Problem) -> bool {
    matches!(
        problem,
        Problem::LinkExpired
            | Problem::LinkDeleted
            | Problem::LinkPurged
            | Problem::LinkScheduled
            | Problem::LinkExhausted
            | Problem::LinkInactive
            | Problem::LinkPasswordRequired
            | Problem::LinkPasswordWrong
            | Problem::TooManyAttempts
    )
}

/// The page for machines that open links of their own accord. It says nothing of the target.
pub fn teaser(
    preview: Option<&Preview>,
    short_url: &str,
    request: &Request,
    pages: Pages,
    brand: Option<&Brand>,
) -> Response {
    let (page, policy) = teaser_of(preview, short_url).branded(brand, None, request);
    let mut response = pages.html(request, StatusCode::OK, page, policy);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    noindex(response)
}

/// Search engines should list the target, not the short link.
pub fn noindex(mut response: Response) -> Response {
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}

/// A small page about a problem, with the address for reports of abuse.
fn of(problem: Problem, more_advice: &str, contact: Option<&str>) -> Page {
    let code = problem.status().as_u16();
    let Words { what, advice } = words(problem);
    let contact = contact
        .map(escaped)
        .map_or_else(String::new, |contact| format!(r#" · Report abuse: <a href="mailto:{contact}">{contact}</a>"#));
    Page {
        title: Cow::Borrowed(what),
        head: String::new(),
        drawing: DRAWING,
        content: format!("<h1>{what}</h1>\n<p>{advice}{more_advice}</p>"),
        end: format!("\n<small>{code}{contact}</small>"),
        has_form: false,
    }
}

/// What there is to say of capital and small letters: they matter only in codes that may be generated.
fn about_case(request: &Request) -> &'static str {
    let is_cased = ShortCode::followed(code_in(request)).is_ok_and(|code| code.has_generated_form());
    if is_cased { " It’s case-sensitive." } else { "" }
}

/// The last segment of the path that isn't empty.
fn code_in(request: &Request) -> &str {
    request.segments().into_iter().rev().find(|segment| !segment.is_empty()).unwrap_or_default()
}

/// Where the form is sent to: the address of the page, with its query. There is no such route with a slash at its end, as visitors
/// type it.
fn action(request: &Request) -> String {
    if !request.path().ends_with('/') {
        return String::new();
    }
    let code = code_in(request);
    let query = if request.raw_query().is_empty() { String::new() } else { format!("?{}", request.raw_query()) };
    format!(r#" action="../{}""#, escaped(&format!("{code}{query}")))
}

/// The page that asks for a link's password.
fn asking(problem: Problem, action: &str) -> Page {
    let Words { what, advice } = words(problem);
    let (class, described) = match problem {
        Problem::LinkPasswordWrong => (r#" class="wrong" role="alert""#, r#" aria-invalid="true""#),
        Problem::TooManyAttempts => (r#" class="wrong" role="alert""#, ""),
        _ => ("", ""),
    };
    let form = format!(
        r#"<h1>{what}</h1>
<p id="advice"{class}>{advice}</p>
<form method="post"{action}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required maxlength="128" autofocus aria-describedby="advice"{described}>
<button>Open link</button>
</form>"#
    );
    Page {
        title: Cow::Borrowed(what),
        head: String::new(),
        drawing: LOCK,
        content: form,
        end: String::new(),
        has_form: true,
    }
}

/// The page for machines, with what chats and social networks show (the [Open Graph protocol](https://ogp.me)).
fn teaser_of(preview: Option<&Preview>, short_url: &str) -> Page {
    const NAME: &str = "Short link";
    let Preview { title, description, image } = preview.cloned().unwrap_or_default();
    let title = title.as_ref().map_or(Cow::Borrowed(NAME), |title| escaped(title.as_str()));
    let mut meta = format!(
        r#"<meta property="og:type" content="website">
<meta property="og:title" content="{title}">
<meta property="og:url" content="{}">
<meta name="twitter:card" content="{}">
"#,
        escaped(short_url),
        if image.is_some() { "summary_large_image" } else { "summary" }
    );
    let mut tell = |property: &str, value: &str| {
        let _ = writeln!(meta, r#"<meta property="og:{property}" content="{}">"#, escaped(value));
    };
    if let Some(description) = &description {
        tell("description", description.as_str());
    }
    if let Some(image) = &image {
        tell("image", &image.location());
    }
    let text = description
        .as_ref()
        .map_or(Cow::Borrowed("Open this link to continue."), |description| escaped(description.as_str()));
    let content = format!("<h1>{title}</h1>\n<p>{text}</p>");
    let title = Cow::Owned(title.into_owned());
    Page { title, head: meta, drawing: DRAWING, content, end: String::new(), has_form: false }
}

/// A page, whose parts are HTML.
struct Page {
    title: Cow<'static, str>,
    /// Further elements of its head.
    head: String,
    drawing: &'static str,
    content: String,
    /// What stands below all else.
    end: String,
    /// Whether it has a form.
    has_form: bool,
}

impl Page {
    /// The page with what its workspace shows of itself, and its policy.
    fn branded(self, brand: Option<&Brand>, problem: Option<Problem>, request: &Request) -> (String, HeaderValue) {
        let Some(brand) = brand else {
            let policy = if self.has_form { policy_with_form() } else { policy() };
            return (self.html("", self.drawing, ""), policy);
        };
        let (style, logo, sentence) = (brand.style(), brand.logo(request), brand.sentence(problem));
        let page = self.html(&style, logo.as_deref().unwrap_or(self.drawing), &sentence);
        (page, policy_of_styles(&[STYLE, &style], self.has_form))
    }

    fn html(&self, style: &str, picture: &str, sentence: &str) -> String {
        let Self { title, head, content, end, .. } = self;
        let style = if style.is_empty() { String::new() } else { format!("<style>{style}</style>\n") };
        let sentence = if sentence.is_empty() { String::new() } else { format!("\n{sentence}") };
        format!(
            r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{head}<style>{STYLE}</style>
{style}</head>
<body>
<main>
{picture}
{content}{sentence}{end}
</main>
</body>
</html>
"#
        )
    }
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
    const CHECK: &str = "Check the address for typos.";
    const ASK: &str = "Ask the person who shared it for a new one.";
    const HAVE: &str = "If you don’t have it, ask the person who shared the link.";
    const WAIT: &str = "Try again in a minute.";
    match problem {
        Problem::NotFound => Words { what: "This link doesn’t exist", advice: CHECK },
        Problem::RouteUnknown => Words { what: "This page doesn’t exist", advice: CHECK },
        Problem::LinkExpired => Words { what: "This link has expired", advice: ASK },
        Problem::LinkDeleted | Problem::LinkPurged => Words { what: "This link was deleted", advice: ASK },
        Problem::LinkScheduled => Words { what: "This link isn’t active yet", advice: "Come back later." },
        Problem::LinkExhausted => Words { what: "This link has reached its click limit", advice: ASK },
        Problem::LinkSuspended => Words { what: "This link is unavailable", advice: ASK },
        Problem::LinkWithheld => Words { what: "This link is unavailable for legal reasons", advice: ASK },
        Problem::LinkPasswordRequired => Words { what: "This link needs a password", advice: HAVE },
        Problem::LinkPasswordWrong => Words { what: "This link needs a password", advice: "Wrong password." },
        Problem::TooManyAttempts => {
            Words { what: "This link needs a password", advice: "Too many attempts. Try again in a moment." }
        }
        Problem::TryAgain => Words { what: "This link has just changed", advice: "Open it again." },
        Problem::InvalidBody
        | Problem::InvalidInput
        | Problem::BodyTooLarge
        | Problem::EncodingUnsupported
        | Problem::JsonRequired => Words { what: "This form couldn’t be read", advice: "Open the link again." },
        Problem::LinkInactive => Words { what: "This link is disabled", advice: ASK },
        Problem::RateLimited => Words { what: "Too many requests from your network", advice: WAIT },
        Problem::ServiceUnavailable => Words { what: "This link is temporarily unavailable", advice: WAIT },
        _ => Words { what: "Something went wrong", advice: WAIT },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(page: &Page) -> String {
        page.html("", page.drawing, "")
    }

    /// All that there is to say to people.
    const PROBLEMS: [Problem; 22] = [
        Problem::LinkWithheld,
        Problem::TryAgain,
        Problem::InvalidBody,
        Problem::InvalidInput,
        Problem::BodyTooLarge,
        Problem::EncodingUnsupported,
        Problem::JsonRequired,
        Problem::LinkScheduled,
        Problem::LinkExhausted,
        Problem::LinkSuspended,
        Problem::LinkPasswordRequired,
        Problem::LinkPasswordWrong,
        Problem::TooManyAttempts,
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
        let page = plain(&of(Problem::LinkExpired, "", Some("abuse@example.com")));

        for part in [
            "<h1>This link has expired</h1>",
            "<p>Ask the person who shared it for a new one.</p>",
            "410",
            r#"href="mailto:abuse@example.com""#,
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn only_a_failure_of_ours_is_called_one() {
        for problem in PROBLEMS.into_iter().filter(|problem| *problem != Problem::Internal) {
            assert!(!plain(&of(problem, "", None)).contains("Something went wrong"), "{problem:?}");
        }
    }

    #[test]
    fn a_page_is_small() {
        for problem in PROBLEMS {
            let bytes = plain(&of(problem, "", None)).len();
            assert!(bytes < 3_072, "{problem:?}: {bytes} bytes");
        }
        assert!(plain(&asking(Problem::LinkPasswordWrong, "")).len() < 4_096);
    }

    #[test]
    fn what_people_have_written_into_a_preview_is_text() {
        let preview: Preview = serde_json::from_str(
            r#"{"title": "<script>alert('1')</script> & \"co\"", "description": "a > b", "image": "https://example.com/a\"b.png"}"#,
        )
        .unwrap();

        let page = plain(&teaser_of(Some(&preview), "https://go.example/launch"));

        assert!(!page.contains("<script"), "{page}");
        for part in [
            r#"<meta property="og:title" content="&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;co&quot;">"#,
            r#"<meta property="og:description" content="a &gt; b">"#,
            r#"<meta property="og:url" content="https://go.example/launch">"#,
            r#"content="summary_large_image""#,
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!plain(&teaser_of(None, "https://go.example/launch")).contains("og:image"));
    }
}
