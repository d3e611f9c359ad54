//! What is damaged takes nothing else with it.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

use linklet_import::{BadRow, Content, Format, Reading, read};
use proptest::prelude::*;

/// The line of each row, with the code or why it can't be read.
fn lines(export: &str) -> Vec<(u64, String)> {
    let import = read(export, &Reading::default()).unwrap();
    let told = |content: Result<Content, BadRow>| match content {
        Ok(Content::Link(link)) => link.code.unwrap_or_default(),
        Ok(Content::Click(click)) => click.code,
        Err(why) => why.to_string(),
    };
    import.rows.into_iter().map(|row| (row.line, told(row.content))).collect()
}

fn expected(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
    lines.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
}

const QUOTES: &str = "a quotation mark is missing";

#[test]
fn a_quotation_mark_that_is_missing_costs_one_row() {
    let table = "code,url,title\na,https://a.example/,\"two\nlines\"\nb,https://b.example/,\"open\nc,https://c.example/,\"\"\"q\"\"\"\n\
                 d,https://d.example/,\"x\"y\ne,https://e.example/,5\" pipe\n\nf,https://f.example/\n";

    let expected = expected(&[(2, "a"), (4, QUOTES), (5, "c"), (6, QUOTES), (7, "e"), (9, "f")]);
    assert_eq!(lines(table), expected);
}

#[test]
fn a_cell_without_an_end_does_not_reach_over_the_whole_file() {
    let rows: String = (0..1_000).map(|row| format!("c{row},https://a.example/{row},t\n")).collect();
    let table = format!("code,url,title\nx,https://x.example/,\"open\n{rows}y,https://y.example/,\"open\n");

    let lines = lines(&table);

    assert_eq!(lines.len(), 1_002);
    assert_eq!(lines.iter().filter(|(_, told)| told == QUOTES).count(), 2);
}

#[test]
fn a_description_of_nothing_but_lines_is_one_cell() {
    let table =
        format!("code,url,description\na,https://a.example/,\"{}\"\nb,https://b.example/,\n", "\n".repeat(2_000));

    assert_eq!(lines(&table), expected(&[(2, "a"), (2_003, "b")]));
}

#[test]
fn a_table_of_too_many_columns_has_no_links() {
    let dump = |columns: usize| {
        let more: String = (3..=columns).map(|column| format!(", `c{column}` int")).collect();
        let row = format!("('a', 'http://a.example/'{})", ", 1".repeat(columns - 2));
        format!("CREATE TABLE `t` (`keyword` text, `url` text{more});\nINSERT INTO `t` VALUES {row};\n")
    };

    assert_eq!(lines(&dump(200)), expected(&[(2, "a")]));
    assert!(read(&dump(201), &Reading::default()).is_err());
}

#[test]
fn half_a_document_has_its_first_half() {
    let document = "{\"links\": [\n{\"slug\": \"a\", \"url\": \"https://a.example/\"},\n{\"slug\": \"b\", \"url\": tru},\n\
                    {\"slug\": \"c\", \"url\": \"https://c.example/]}\"},\n{\"slug\": \"d\", \"url\": \"https://d.ex";

    let expected = expected(&[(2, "a"), (3, "this isn't valid JSON"), (4, "c"), (5, "this isn't valid JSON")]);
    assert_eq!(lines(document), expected);

    let by_line = "{\"slug\": \"a\", \"url\": \"https://a.example/\"}\n{\"slug\": \"b\", \"url\": \"https://b.ex";
    assert_eq!(lines(by_line), [(1, "a".to_owned()), (2, "this isn't valid JSON".to_owned())]);
}

#[test]
fn half_a_dump_has_its_first_half() {
    let dump = "INSERT INTO `yourls_url` VALUES ('a','http://a.example/','','2014-03-08 00:38:44','',1),\n('b','http://b.example/'),\n\
                ('c','http://c.example/','','2014-03-08 00:38:44','',1),\n('d','http://d.ex";

    let expected =
        expected(&[(1, "a"), (2, "this isn't a row of its table"), (3, "c"), (4, "this isn't a row of its table")]);
    assert_eq!(lines(dump), expected);
}

#[test]
fn an_expiry_that_is_no_time_refuses_the_row_and_a_date_of_creation_does_not() {
    let table = "code,url,expires_at,created_at\na,https://a.example/,soon,\nb,https://b.example/,,long ago\n";

    assert_eq!(lines(table), expected(&[(2, "expires_at isn't a time"), (3, "b")]));
}

/// Of each export: its format, its beginning, a record in which `#` stands for a number, what is between records, and its end.
const EXPORTS: [(Format, [&str; 4]); 14] = [
    (
        Format::Bitly,
        ["Link,Custom Link,Destination URL\r\n", "https://bit.ly/x#,https://bit.ly/c#,https://a.example/#", "\r\n", ""],
    ),
    (
        Format::Bitly,
        [r#"{"links": ["#, r#"{"link": "https://bit.ly/c#", "long_url": "https://a.example/#"}"#, ",", "]}"],
    ),
    (Format::Dub, ["Short link,Destination URL,Clicks\n", "https://dub.sh/c#,https://a.example/#,#", "\n", ""]),
    (
        Format::Kutt,
        [r#"{"data": ["#, r#"{"address": "c#", "target": "https://a.example/#", "visit_count": #}"#, ",", "]}"],
    ),
    (Format::Linklet, ["short_code,original_url,title\n", "c#,https://a.example/#,\"title\n#\"", "\n", "\n"]),
    (Format::Polr, ["short_url,long_url,is_disabled,clicks\n", r##""c#","https://a.example/#","","#""##, "\n", ""]),
    (Format::Rebrandly, ["[", r#"{"slashtag": "c#", "destination": "https://a.example/#", "clicks": #}"#, ",\n", "]"]),
    (Format::Shlink, ["Long URL;tags;domain;short code;Title\n", "https://a.example/#;a|b;;c#;", "\n", ""]),
    (
        Format::Shlink,
        [r#"{"shortUrls": {"data": ["#, r#"{"shortCode": "c#", "longUrl": "https://a.example/#"}"#, ",", "]}}"],
    ),
    (Format::Shortio, ["id\toriginalURL\tpath\n", "#\thttps://a.example/#\tc#", "\n", ""]),
    (
        Format::Sink,
        [r#"{"links": ["#, r#"{"slug": "c#", "url": "https://a.example/#", "createdAt": 1700000000}"#, ",", "]}"],
    ),
    (
        Format::Yourls,
        ["INSERT INTO yourls_url VALUES ", "('c#','https://a.example/#','','2014-03-08 00:38:44','',#)", ",\n", ";"],
    ),
    (Format::Yourls, ["keyword,url,clicks\n", "c#,https://a.example/#,#", "\n", ""]),
    (Format::Table, ["code,url\n", "c#,https://a.example/#", "\n", ""]),
];

#[test]
fn ten_thousand_links_of_each_format_are_all_read() {
    for (format, [begin, record, between, end]) in EXPORTS {
        let records: Vec<_> = (0..10_000).map(|number| record.replace('#', &number.to_string())).collect();
        let export = [begin, &records.join(between), end].concat();

        let import = read(&export, &Reading::default()).unwrap();

        let read: Vec<_> = import.rows.into_iter().map(|row| row.content.unwrap()).collect();
        let is_link = |(number, content): (usize, &Content)| match content {
            Content::Link(link) => {
                link.code == Some(format!("c{number}")) && link.url == format!("https://a.example/{number}")
            }
            Content::Click(_) => false,
        };
        assert_eq!((import.format, read.len()), (format, 10_000), "{begin}");
        assert!(read.iter().enumerate().all(is_link), "{begin}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in any::<String>()) {
        drop(read(&text, &Reading::default()));
    }

    /// Texts of what the formats consist of.
    #[test]
    fn no_damaged_export_breaks_the_reader(pieces in prop::collection::vec(prop::sample::select(vec![
        "url", "code", "links", "{", "}", "[", "]", "\"", "'", "`", ",", ";", "\t", "\n", "\r\n", ":", "\\", "(", ")", "0x6", "é", "NULL", "1",
        "INSERT INTO", "CREATE TABLE", "VALUES", "yourls_url", "https://a.example/", "2014-03-08 00:38:44", "/*", "--", "9999999999999",
    ]), 0..60)) {
        let text = pieces.concat();
        for export in [text.clone(), format!("url,code\n{text}"), format!("[{{\"url\": {text}"), format!("INSERT INTO `yourls_url` VALUES ({text}")] {
            drop(read(&export, &Reading::default()));
        }
    }
}
