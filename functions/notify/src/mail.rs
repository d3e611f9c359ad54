//! Mails, both of whose bodies are made of the same blocks: plain text, and HTML.
//!
//! Whatever stands in a block is shown as it is. No text leads anywhere: the only links are those to [pages](PageAddress) of the
//! application.

use std::borrow::Cow;

use linklet_domain::OneTimeToken;
use linklet_lambda::http::escaped;

use crate::addresses::PageAddress;

/// A mail. It isn't `Debug`, since it may have a token.
pub(crate) struct Mail {
    pub kind: MailKind,
    pub subject: Cow<'static, str>,
    /// What a mail program calls that has a button to get no more of these.
    pub unsubscribe_url: Option<String>,
    blocks: Vec<Block>,
}

/// What a mail is about, by which bounces can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum MailKind {
    Notification,
    AccountChange,
    Reset,
    Verification,
    Invitation,
    Report,
}

/// A part of a mail.
enum Block {
    Paragraph(Cow<'static, str>),
    /// What there is, and how many of it.
    Counts(Vec<(String, String)>),
    /// A button of HTML, or the address in plain text.
    Button(&'static str, PageAddress),
    /// What somebody may copy.
    Token(String),
    /// A sentence in small letters at the end, and a link for who wants it otherwise.
    Footnote {
        sentence: &'static str,
        words: &'static str,
        page: PageAddress,
    },
}

impl Mail {
    /// A mail without content yet.
    pub(crate) fn new(kind: MailKind, subject: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, subject: subject.into(), unsubscribe_url: None, blocks: Vec::new() }
    }

    pub(crate) fn paragraph(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Block::Paragraph(text.into()))
    }

    pub(crate) fn counts(self, counts: Vec<(String, String)>) -> Self {
        self.with(Block::Counts(counts))
    }

    /// What the mail asks for, with the words on the button.
    pub(crate) fn button(self, words: &'static str, page: PageAddress) -> Self {
        self.with(Block::Button(words, page))
    }

    /// The token by itself, for whom the button doesn't help.
    pub(crate) fn token(self, token: &OneTimeToken) -> Self {
        self.paragraph("Or use this token, which works once:").with(Block::Token(token.reveal().to_owned()))
    }

    pub(crate) fn footnote(self, sentence: &'static str, words: &'static str, page: PageAddress) -> Self {
        self.with(Block::Footnote { sentence, words, page })
    }

    pub(crate) fn unsubscribed_at(self, url: String) -> Self {
        Self { unsubscribe_url: Some(url), ..self }
    }

    fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// The body in plain text.
    pub(crate) fn text(&self) -> String {
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Paragraph(text) => text.to_string(),
            Block::Counts(counts) => {
                counts.iter().map(|(of, count)| format!("{of}: {count}")).collect::<Vec<_>>().join("\n")
            }
            Block::Button(_, page) => page.as_str().to_owned(),
            Block::Token(token) => token.clone(),
            Block::Footnote { sentence, words, page } => format!("-- \n{sentence}\n{words}: {}", page.as_str()),
        });
        format!("{}\n", blocks.collect::<Vec<_>>().join("\n\n"))
    }

    /// The body in HTML. It has no colours but the button's, so that it is dark where the mail program is.
    pub(crate) fn html(&self) -> String {
        let (subject, blocks) = (escaped(&self.subject), self.blocks.iter().map(html_of).collect::<String>());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"supported-color-schemes\" content=\"light dark\">\n\
             <title>{subject}</title>\n</head>\n<body style=\"margin:0;padding:0\">\n<div style=\"{FRAME}\">\n\
             <p style=\"{NAME}\">Linklet</p>\n{blocks}</div>\n</body>\n</html>\n"
        )
    }
}

// Mail programs drop style elements, so each element has its own. The names of fonts stand in single quotes, since the attribute is
// in double ones.
const FRAME: &str = "max-width:560px;margin:0 auto;padding:24px 16px;overflow-wrap:break-word;\
    font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";
const NAME: &str = "margin:0 0 24px;font-weight:600";
const PARAGRAPH: &str = "margin:0 0 16px";
const BUTTON: &str = "display:inline-block;padding:10px 20px;border-radius:8px;background:#2f5bd7;color:#ffffff;\
    font-weight:600;text-decoration:none";
const TOKEN: &str = "margin:0 0 16px;padding:12px;border:1px solid #8d9096;border-radius:8px;word-break:break-all;\
    font-family:ui-monospace,'SF Mono','Cascadia Mono','Roboto Mono',monospace";
const COUNTS: &str = "width:100%;margin:0 0 16px;border-collapse:collapse";
const COUNTED: &str = "padding:6px 0;border-bottom:1px solid #8d909666;word-break:break-all";
const COUNT: &str =
    "padding:6px 0 6px 16px;border-bottom:1px solid #8d909666;text-align:right;white-space:nowrap;vertical-align:top";
const FOOTNOTE: &str = "margin:32px 0 0;padding-top:16px;border-top:1px solid #8d9096;font-size:14px";

fn html_of(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => format!("<p style=\"{PARAGRAPH}\">{}</p>\n", escaped(text)),
        Block::Counts(counts) => {
            let row = |(of, count): &(String, String)| {
                format!(
                    "<tr><td style=\"{COUNTED}\">{}</td><td style=\"{COUNT}\">{}</td></tr>\n",
                    escaped(of),
                    escaped(count)
                )
            };
            format!(
                "<table role=\"presentation\" style=\"{COUNTS}\">\n{}</table>\n",
                counts.iter().map(row).collect::<String>()
            )
        }
        Block::Button(words, page) => format!("<p style=\"{PARAGRAPH}\">{}</p>\n", link(words, page, BUTTON)),
        Block::Token(token) => format!("<p style=\"{TOKEN}\">{}</p>\n", escaped(token)),
        Block::Footnote { sentence, words, page } => {
            let (sentence, link) = (escaped(sentence), link(words, page, "color:inherit"));
            format!("<p style=\"{FOOTNOTE}\">{sentence} {link}</p>\n")
        }
    }
}

fn link(words: &str, page: &PageAddress, style: &str) -> String {
    format!("<a href=\"{}\" style=\"{style}\">{}</a>", escaped(page.as_str()), escaped(words))
}

#[cfg(test)]
mod tests {
    use linklet_domain::TokenPurpose;

    use super::*;
    use crate::{Addresses, addresses::Page};

    fn addresses() -> Addresses {
        Addresses::new(Some("https://go.example.com"), "https://api.example.com")
    }

    #[test]
    fn both_bodies_say_the_same_in_the_same_order() {
        let token = OneTimeToken::generate(TokenPurpose::Reset).unwrap();
        let mail = Mail::new(MailKind::Reset, "Set a new password")
            .paragraph("Open this page:")
            .button("Set it", addresses().page(Page::Reset, &token))
            .token(&token)
            .footnote("Too many mails?", "Fewer", addresses().forgot());

        let (reset, forgot) = (addresses().page(Page::Reset, &token), addresses().forgot());
        let (token, html) = (token.reveal(), mail.html());
        let (reset, forgot) = (reset.as_str(), forgot.as_str());
        assert_eq!(
            mail.text(),
            format!(
                "Open this page:\n\n{reset}\n\nOr use this token, which works once:\n\n{token}\n\n-- \nToo many mails?\nFewer: {forgot}\n"
            )
        );
        let places = ["Open this page:", reset, "Set it", "Or use this token", token, "Too many", forgot]
            .map(|part| html.rfind(part).unwrap_or_else(|| panic!("{part} is missing in {html}")));
        assert!(places.is_sorted(), "{html}");
    }

    #[test]
    fn whatever_people_write_stays_text_in_html() {
        for hostile in ["<script>alert(1)</script>", "\"><a href='https://evil.example'>", "&lt;b&gt;", "<!-- -->"] {
            let plain = Mail::new(MailKind::Notification, "About it").paragraph("").html();
            let html = Mail::new(MailKind::Notification, "About it").paragraph(hostile).html();

            let tags = |html: &str| html.matches(['<', '>', '"', '\'']).count();
            assert_eq!(tags(&html), tags(&plain), "{html}");
        }
    }
}
