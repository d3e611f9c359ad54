//! The page that a person sees instead of a redirect.

use linklet_lambda::http::ApiError;

/// A small page with the error's sentence. All of it is our own text, so there is nothing to escape.
pub fn of(error: &ApiError) -> String {
    let (status, sentence) = (error.status(), error.sentence());
    let code = status.as_u16();
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{code} – {sentence}</title>
<style>
  body {{ display: grid; place-content: center; min-height: 100vh; margin: 0; padding: 0 1.5rem; text-align: center;
         font: 1.125rem/1.5 system-ui, sans-serif; color: #222; background: #fafafa; }}
  h1 {{ margin: 0; font-size: 3rem; }}
  @media (prefers-color-scheme: dark) {{ body {{ color: #eee; background: #181818; }} }}
</style>
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
