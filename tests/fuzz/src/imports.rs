use linklet_import::{Content, Reading, read};

use crate::text;

/// Exports of other systems.
pub fn exports(input: &[u8]) {
    let text = text(input);
    let Ok(import) = read(&text, &Reading::default()) else { return };
    let last = u64::try_from(text.len()).unwrap() + 1;
    for row in import.rows {
        assert!((1..=last).contains(&row.line), "line {} isn't in the file", row.line);
        match row.content {
            Ok(Content::Link(link)) => assert!(!link.url.is_empty() && link.code.as_deref() != Some("")),
            Ok(Content::Click(click)) => assert!(!click.code.is_empty()),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
}
