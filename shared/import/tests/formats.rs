//! One row of each system's export, with all that it can say.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

use jiff::tz::TimeZone;
use linklet_domain::Timestamp;
use linklet_import::{BadRow, ClickRow, Content, Format, LinkRow, Reading, read, read_items};
use serde_json::json;

fn at(text: &str) -> Option<Timestamp> {
    Some(Timestamp::parse(text).unwrap())
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The format and the rows of a text whose rows can all be read.
fn rows(export: &str) -> (Format, Vec<Content>) {
    let import = read(export, &Reading::default()).unwrap();
    (import.format, import.rows.into_iter().map(|row| row.content.unwrap()).collect())
}

fn links(export: &str) -> (Format, Vec<LinkRow>) {
    let (format, rows) = rows(export);
    let links = rows.into_iter().map(|row| match row {
        Content::Link(link) => *link,
        Content::Click(click) => panic!("{click:?} is a click"),
    });
    (format, links.collect())
}

fn only(export: &str, format: Format, expected: LinkRow) {
    let (recognized, links) = links(export);
    assert_eq!((recognized, &links[..]), (format, &[expected][..]));
}

/// A link with this destination and code.
fn link(url: &str, code: &str) -> LinkRow {
    LinkRow { url: url.to_owned(), code: text(code), ..LinkRow::default() }
}

#[test]
fn a_csv_file_of_bitly_has_the_custom_link() {
    only(
        "\u{feff}Link,Custom Link,Destination URL,Title,Tags,Created,Total Clicks\r\n\
         https://bit.ly/3abcDEF,https://go.acme.example/spring-sale,https://acme.example/sale?a=1,\"Sale, spring\",\"a, b\",2024-03-05T10:00:00+0000,\"1,204\"\r\n",
        Format::Bitly,
        LinkRow {
            host: text("go.acme.example"),
            title: text("Sale, spring"),
            tags: vec!["a".to_owned(), "b".to_owned()],
            created_at: at("2024-03-05T10:00:00Z"),
            clicks: Some(1_204),
            ..link("https://acme.example/sale?a=1", "spring-sale")
        },
    );
}

#[test]
fn an_answer_of_bitlys_api_has_the_custom_link() {
    only(
        r#"{"links": [{"id": "bit.ly/3abcDEF", "link": "https://bit.ly/3abcDEF", "long_url": "https://acme.example/", "title": "Home",
            "created_at": "2020-10-26T17:20:40+0000", "custom_bitlinks": ["https://go.acme.example/home"], "tags": ["x"], "archived": true}],
            "pagination": {"next": ""}}"#,
        Format::Bitly,
        LinkRow {
            host: text("go.acme.example"),
            title: text("Home"),
            tags: vec!["x".to_owned()],
            created_at: at("2020-10-26T17:20:40Z"),
            archived: true,
            ..link("https://acme.example/", "home")
        },
    );
}

#[test]
fn a_csv_file_of_dub_is_read() {
    only(
        "Short link,Destination URL,Clicks,Leads,Conversions,Revenue,Created at,Link ID,Updated at,Tags,Archived\n\
         https://dub.sh/launch,https://acme.example/launch,12,1,0,0,2024-01-02T03:04:05.678Z,link_1,2024-01-03T00:00:00.000Z,\"news, q1\",Yes\n",
        Format::Dub,
        LinkRow {
            host: text("dub.sh"),
            tags: vec!["news".to_owned(), "q1".to_owned()],
            created_at: at("2024-01-02T03:04:05.678Z"),
            clicks: Some(12),
            archived: true,
            ..link("https://acme.example/launch", "launch")
        },
    );
}

#[test]
fn an_answer_of_dubs_api_has_rules() {
    let (format, links) = links(
        r#"[{"id": "link_1", "domain": "dub.sh", "key": "app", "url": "https://acme.example/app", "shortLink": "https://dub.sh/app",
             "ios": "https://apps.apple.com/a", "geo": {"NO": "https://acme.example/no"}, "rewrite": true, "password": "secret",
             "expiresAt": "2030-01-01T00:00:00.000Z", "expiredUrl": "https://acme.example/over", "clicks": 7}]"#,
    );

    let expected = LinkRow {
        host: text("dub.sh"),
        expires_at: at("2030-01-01T00:00:00Z"),
        fallback_url: text("https://acme.example/over"),
        rules: vec![
            json!({"url": "https://apps.apple.com/a", "conditions": [{"type": "device", "value": "ios"}]}),
            json!({"url": "https://acme.example/no", "conditions": [{"type": "country", "value": "NO"}]}),
        ],
        clicks: Some(7),
        is_protected: true,
        ignored: vec!["rewrite".to_owned()],
        ..link("https://acme.example/app", "app")
    };
    assert_eq!((format, &links[..]), (Format::Dub, &[expected][..]));
}

#[test]
fn an_answer_of_rebrandlys_api_is_read() {
    only(
        r#"[{"id": "1", "title": "Docs", "slashtag": "docs", "destination": "https://acme.example/docs", "shortUrl": "rebrand.ly/docs",
             "domain": {"id": "8f", "fullName": "rebrand.ly"}, "createdAt": "2023-05-06T07:08:09.000Z", "clicks": 3, "forwardParameters": true,
             "tags": [{"id": "t", "name": "manual"}]}]"#,
        Format::Rebrandly,
        LinkRow {
            host: text("rebrand.ly"),
            title: text("Docs"),
            tags: vec!["manual".to_owned()],
            created_at: at("2023-05-06T07:08:09Z"),
            forward_query: true,
            clicks: Some(3),
            ..link("https://acme.example/docs", "docs")
        },
    );
}

#[test]
fn files_of_short_io_are_read_without_the_domain_itself() {
    let expected = LinkRow {
        host: text("go.acme.example"),
        title: text("A"),
        tags: vec!["one".to_owned(), "two".to_owned()],
        created_at: at("2024-02-03T04:05:06Z"),
        ..link("https://acme.example/a", "a-1")
    };
    let table = "originalURL\tpath\tshortURL\ttitle\ttags\tcreatedAt\n\
                 https://acme.example/a\ta-1\thttps://go.acme.example/a-1\tA\t[\"one\",\"two\"]\t1706933106000\n";
    only(table, Format::Shortio, expected);

    let import = read(
        r#"{"count": 2, "links": [{"originalURL": "https://acme.example/", "path": "", "shortURL": "https://go.acme.example"},
            {"originalURL": "https://acme.example/x", "path": "x", "shortURL": "https://go.acme.example/x", "androidURL": "https://play.example/x",
             "createdAt": "2024-02-03T04:05:06.000Z", "expiresAt": 1893456000000}]}"#,
        &Reading::default(),
    )
    .unwrap();

    assert_eq!(import.rows[0].content.as_ref().unwrap_err().to_string(), "a domain's own address has no short code");
    let Ok(Content::Link(link)) = &import.rows[1].content else { panic!("{:?}", import.rows[1]) };
    assert_eq!((import.rows[1].line, link.expires_at), (2, at("2030-01-01T00:00:00Z")));
    assert_eq!(
        link.rules,
        [json!({"url": "https://play.example/x", "conditions": [{"type": "device", "value": "android"}]})]
    );
}

#[test]
fn both_csv_files_and_the_api_of_shlink_are_read() {
    let expected = LinkRow {
        host: text("s.test"),
        title: text("T"),
        tags: vec!["foo".to_owned(), "bar".to_owned()],
        ..link("https://shlink.example", "123")
    };
    only(
        "Long URL;Tags;Domain;Short code;Title\nhttps://shlink.example;foo|bar;s.test;123;T\n",
        Format::Shlink,
        expected.clone(),
    );
    only(
        "createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n\
         2024-01-01T00:00:00+01:00,s.test,123,https://s.test/123,https://shlink.example,T,foo|bar,5\n",
        Format::Shlink,
        LinkRow { created_at: at("2023-12-31T23:00:00Z"), clicks: Some(5), ..expected.clone() },
    );
    only(
        r#"{"shortUrls": {"data": [{"shortCode": "123", "shortUrl": "https://s.test/123", "longUrl": "https://shlink.example",
            "dateCreated": "2024-01-01T00:00:00+01:00", "visitsSummary": {"total": 5, "nonBots": 4, "bots": 1}, "tags": ["foo", "bar"],
            "meta": {"validSince": "2024-02-01T00:00:00+00:00", "validUntil": null, "maxVisits": 10}, "domain": "s.test", "title": "T",
            "forwardQuery": true, "hasRedirectRules": true}], "pagination": {"currentPage": 1}}}"#,
        Format::Shlink,
        LinkRow {
            created_at: at("2023-12-31T23:00:00Z"),
            valid_from: at("2024-02-01T00:00:00Z"),
            max_clicks: Some(10),
            forward_query: true,
            clicks: Some(5),
            ignored: vec!["hasredirectrules".to_owned()],
            ..expected
        },
    );
}

#[test]
fn a_visit_of_shlink_is_a_click() {
    let (format, rows) = rows(
        r#"{"visits": {"data": [{"referer": "https://t.example/", "date": "2024-05-01T10:00:00+02:00", "userAgent": "Firefox",
            "visitLocation": {"countryCode": "ES", "countryName": "Spain", "cityName": "Madrid"}, "potentialBot": false,
            "visitedUrl": "https://s.test/123"}]}}"#,
    );

    let click = ClickRow {
        host: text("s.test"),
        id: None,
        code: "123".to_owned(),
        at: Timestamp::parse("2024-05-01T08:00:00Z").unwrap(),
        referrer: text("https://t.example/"),
        user_agent: text("Firefox"),
        country: text("ES"),
        city: text("Madrid"),
        address: None,
        is_bot: Some(false),
    };
    assert_eq!((format, rows), (Format::Shlink, vec![Content::Click(Box::new(click))]));
}

const YOURLS_COLUMNS: &str = "CREATE TABLE `yourls_url` (\n  `keyword` varchar(100) NOT NULL,\n  `url` text CHARACTER SET utf8,\n  \
     `title` text,\n  `timestamp` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,\n  `ip` varchar(41) NOT NULL,\n  `clicks` int(10),\n  \
     PRIMARY KEY (`keyword`),\n  KEY `timestamp` (`timestamp`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n";

#[test]
fn a_database_of_yourls_is_read_in_the_zone_of_its_server() {
    let dump = format!(
        "-- a dump\n{YOURLS_COLUMNS}INSERT INTO `yourls_options` VALUES (1,'version','506');\n\
         INSERT INTO `yourls_url` VALUES ('AuIq','http://acme.example/it''s','O\\'Neill; (1)','2014-03-08 00:38:44','127.0.0.1',42),\n\
         ('hex',0x687474703A2F2F61636D652E6578616D706C652F68,'','2014-03-08 00:38:44','127.0.0.1','0');\n"
    );

    let reading = Reading { zone: TimeZone::get("Europe/Oslo").unwrap(), ..Reading::default() };
    let import = read(&dump, &reading).unwrap();

    let links: Vec<_> = import.rows.into_iter().map(|row| row.content.unwrap()).collect();
    let expected = [
        LinkRow {
            title: text("O'Neill; (1)"),
            created_at: at("2014-03-07T23:38:44Z"),
            clicks: Some(42),
            ..link("http://acme.example/it's", "AuIq")
        },
        LinkRow { created_at: at("2014-03-07T23:38:44Z"), clicks: Some(0), ..link("http://acme.example/h", "hex") },
    ];
    assert_eq!(import.format, Format::Yourls);
    assert_eq!(links, expected.map(|link| Content::Link(Box::new(link))));
}

#[test]
fn a_dump_of_latin_1_is_decoded_and_may_lack_a_column() {
    let dump = "CREATE TABLE `yourls_url` (`keyword` varchar(9), `url` text, `title` text, `timestamp` timestamp, `clicks` int) CHARSET=latin1;\n\
                INSERT INTO `yourls_url` VALUES ('a','http://acme.example/','CafÃ©','2014-03-08 00:38:44',1);";

    let (_, links) = links(dump);

    assert_eq!((links[0].title.as_deref(), links[0].clicks), (Some("Café"), Some(1)));
}

#[test]
fn the_log_of_yourls_has_clicks() {
    let (_, rows) = rows(
        "INSERT INTO `yourls_log` VALUES (1,'2014-03-08 00:38:44','AuIq','direct','Opera','10.0.0.1',''),\
         (2,'2014-03-08 00:38:45','AuIq','http://t.example/','Opera','10.0.0.1','NO');",
    );

    let clicks: Vec<_> = rows
        .iter()
        .map(|row| match row {
            Content::Click(click) => (click.code.as_str(), click.referrer.as_deref(), click.country.as_deref()),
            Content::Link(link) => panic!("{link:?} is a link"),
        })
        .collect();
    assert_eq!(clicks, [("AuIq", None, None), ("AuIq", Some("http://t.example/"), Some("NO"))]);
}

#[test]
fn the_plugin_and_the_api_of_yourls_are_read() {
    only(
        "source,target,hits\n/abc/,http://acme.example/,7\n",
        Format::Yourls,
        LinkRow { clicks: Some(7), ..link("http://acme.example/", "abc") },
    );
    let (format, links) = links(
        r#"{"links": {"link_1": {"shorturl": "http://sho.rt/abc", "url": "http://acme.example/", "title": "A", "timestamp": "2014-03-08 00:38:44",
            "ip": "127.0.0.1", "clicks": "7"}, "link_2": {"shorturl": "http://sho.rt/b", "url": "http://b.example/"}}, "stats": {"total_links": "2"}}"#,
    );
    assert_eq!(
        (format, links.len(), links[0].code.as_deref(), links[1].code.as_deref()),
        (Format::Yourls, 2, Some("abc"), Some("b"))
    );
}

#[test]
fn an_answer_of_kutts_api_is_read() {
    only(
        r#"{"total": 1, "limit": 10, "skip": 0, "data": [{"id": "u", "address": "launch", "target": "https://acme.example/", "link": "https://kutt.it/launch",
            "description": "A note", "domain": null, "password": true, "banned": true, "expire_in": "2030-01-01T00:00:00.000Z", "visit_count": 3,
            "created_at": "2024-01-01T00:00:00.000Z"}]}"#,
        Format::Kutt,
        LinkRow {
            host: text("kutt.it"),
            description: text("A note"),
            created_at: at("2024-01-01T00:00:00Z"),
            expires_at: at("2030-01-01T00:00:00Z"),
            clicks: Some(3),
            is_disabled: true,
            is_protected: true,
            ..link("https://acme.example/", "launch")
        },
    );
}

#[test]
fn a_file_of_sink_has_seconds() {
    only(
        r#"{"version": "1.0", "count": 1, "links": [{"id": "x", "url": "https://acme.example/", "slug": "a-b", "comment": "C",
            "createdAt": 1704067200, "expiration": 1893456000, "geo": {"NO": "https://acme.example/no"}, "redirectWithQuery": true,
            "unsafe": true, "tags": ["t"]}]}"#,
        Format::Sink,
        LinkRow {
            description: text("C"),
            tags: vec!["t".to_owned()],
            created_at: at("2024-01-01T00:00:00Z"),
            expires_at: at("2030-01-01T00:00:00Z"),
            forward_query: true,
            rules: vec![json!({"url": "https://acme.example/no", "conditions": [{"type": "country", "value": "NO"}]})],
            ignored: vec!["unsafe".to_owned()],
            ..link("https://acme.example/", "a-b")
        },
    );
}

#[test]
fn files_of_polr_have_the_code_as_short_url() {
    let expected =
        LinkRow { created_at: at("2016-09-19T08:33:22Z"), clicks: Some(2), ..link("https://acme.example/", "1c") };
    let table = "short_url,long_url,is_disabled,clicks,updated_at,created_at\n\
                 \"1c\",\"https://acme.example/\",\"\",\"2\",\"2016-09-19 08:33:22\",\"2016-09-19 08:33:22\"\n";
    assert_eq!(links(table).1, std::slice::from_ref(&expected));
    let answer = r#"{"action": "admin", "result": {"current_page": 1, "data": [{"short_url": "1c", "long_url": "https://acme.example/", "is_disabled": 0,
        "clicks": "2", "created_at": {"date": "2016-09-19 08:33:22.000000", "timezone_type": 3, "timezone": "UTC"}}]}}"#;
    only(answer, Format::Polr, expected);
}

#[test]
fn any_table_with_a_destination_is_read() {
    only(
        "link,Name\nhttps://acme.example/,Home\n",
        Format::Table,
        LinkRow { url: "https://acme.example/".to_owned(), title: text("Home"), ..LinkRow::default() },
    );
    only(
        "\"url\";\"short_id\";\"note\"\n\"https://acme.example/\";\"ab\";\"N\"\n",
        Format::Table,
        LinkRow { description: text("N"), ..link("https://acme.example/", "ab") },
    );
    for nothing in ["", "a,b\n1,2\n", "[]", "{}", "[{\"a\": 1}]", "null", "just a text"] {
        assert!(read(nothing, &Reading::default()).is_err(), "{nothing}");
    }
}

#[test]
fn a_rule_of_shlink_is_kept_if_there_is_such_a_rule() {
    let (_, links) = links(
        r#"[{"shortCode": "a", "longUrl": "https://acme.example/", "redirectRules": [
            {"longUrl": "https://acme.example/no", "priority": 1, "conditions": [{"type": "geolocation-country-code", "matchKey": null, "matchValue": "NO"}]},
            {"longUrl": "https://acme.example/ip", "priority": 2, "conditions": [{"type": "ip-address", "matchKey": null, "matchValue": "10.0.0.1"}]}]}]"#,
    );

    assert_eq!(
        links[0].rules,
        [json!({"url": "https://acme.example/no", "conditions": [{"type": "country", "value": "NO"}]})]
    );
    assert_eq!(links[0].ignored, ["rules"]);
}

/// The clicks of a text that has nothing else.
fn clicks(export: &str) -> Vec<ClickRow> {
    let clicks = rows(export).1.into_iter().map(|row| match row {
        Content::Click(click) => *click,
        Content::Link(link) => panic!("{link:?} is a link"),
    });
    clicks.collect()
}

/// Why the only row of a text can't be read.
fn refusal(export: &str) -> BadRow {
    let [row] = &read(export, &Reading::default()).unwrap().rows[..] else { panic!("{export}") };
    row.content.clone().unwrap_err()
}

#[test]
fn what_has_a_code_and_a_time_is_not_always_a_click() {
    let days = "short_code,date,total_clicks,human_clicks\nlaunch,2024-05-01,3,2\n";
    assert!(read(days, &Reading::default()).is_err());
    assert!(read("code,date\nlaunch,2024-05-01\n", &Reading::default()).is_err());

    let without_url = "keyword,url,title,timestamp,ip,clicks\nlaunch,,,2014-03-08 00:38:44,,1\n";
    assert_eq!(refusal(without_url), BadRow::NoUrl);
}

#[test]
fn a_click_of_dub_has_the_destination_of_its_link() {
    let export = "Event,Destination URL,Link,Country,Referrer,Referrer URL,Date,Click ID\n\
                  click,https://acme.example/,https://dub.sh/launch,DE,(direct),(direct),2024-05-01T08:00:00.000Z,c1\n";

    let [click] = &clicks(export)[..] else { panic!() };

    let told = (&*click.code, click.host.as_deref(), click.id.as_deref(), click.country.as_deref());
    assert_eq!(told, ("launch", Some("dub.sh"), Some("c1"), Some("DE")));
    assert_eq!(click.referrer, None);
}

#[test]
fn a_visit_in_a_csv_file_of_shlink_may_be_of_a_bot() {
    let export = "Date,Potential bot,User agent,Referer,Country,Country code,Visited URL,Type\n\
                  2024-05-01T08:00:00Z,1,Bot,,Germany,DE,https://s.test/123,valid_short_url\n";

    let [click] = &clicks(export)[..] else { panic!() };

    assert_eq!((&*click.code, click.is_bot, click.country.as_deref()), ("123", Some(true), Some("DE")));
}

#[test]
fn a_source_is_a_code_only_beside_a_target() {
    let table = links("url,title,source\nhttps://acme.example/,A,newsletter\n").1;
    assert_eq!(table[0].code, None);

    let root = r#"{"links": [{"originalURL": "https://acme.example/", "path": "", "source": "website"}]}"#;
    assert_eq!(refusal(root), BadRow::NoCode);
}

#[test]
fn the_address_of_a_domain_of_dub_has_no_code() {
    let answer = r#"[{"domain": "go.example", "key": "_root", "url": "https://acme.example/", "shortLink": "https://go.example"}]"#;
    assert_eq!(refusal(answer), BadRow::NoCode);
    assert_eq!(refusal("Short link,Destination URL\ngo.example,https://acme.example/\n"), BadRow::NoCode);
}

#[test]
fn links_that_did_not_work_are_told_from_those_that_did() {
    let told = |name: &str, value: &str| {
        let table = format!("code,url,{name}\na,https://acme.example/,{value}\n");
        let link = links(&table).1.remove(0);
        (link.is_protected, link.is_disabled)
    };
    for name in ["password", "hasPassword", "Password protected", "Has password", "protected"] {
        assert_eq!((told(name, "yes"), told(name, "no")), ((true, false), (false, false)), "{name}");
    }
    for (name, off, on) in [
        ("status", "Inactive", "active"),
        ("status", "disabled", "301"),
        ("link_status", "disabled", "enabled"),
        ("enabled", "false", "true"),
        ("is_active", "0", "1"),
        ("disabled", "true", "false"),
    ] {
        assert_eq!((told(name, off), told(name, on)), ((false, true), (false, false)), "{name}");
    }
}

#[test]
fn a_link_is_used_up_when_it_has_had_its_clicks() {
    let told = |row: &str| {
        let table =
            format!("short_code,original_url,max_clicks,total_clicks,used,exhausted_at\na,https://a.example/,{row}\n");
        links(&table).1[0].is_used_up
    };

    assert_eq!(["3,3,,", "3,9,3,", "3,,,2024-05-01T08:00:00Z"].map(told), [true; 3]);
    assert_eq!(["3,2,,", "3,9,2,", "3,,,", ",9,,", "0,9,,"].map(told), [false; 5]);
}

#[test]
fn a_total_is_read_or_named_as_ignored() {
    let told = |clicks: &str| {
        let link = links(&format!("code;url;clicks\na;https://acme.example/;{clicks}\n")).1.remove(0);
        (link.clicks, link.ignored)
    };

    for (text, clicks) in [("12.0", 12), ("1,204", 1_204), ("9999999999999999", 1_000_000_000_000_000)] {
        assert_eq!(told(text), (Some(clicks), vec![]), "{text}");
    }
    for text in ["1.234", "many", "-1"] {
        assert_eq!(told(text), (None, vec!["clicks".to_owned()]), "{text}");
    }
    assert_eq!(told(""), (None, vec![]));
}

#[test]
fn times_are_read_as_systems_write_them() {
    let table = |time: &str| format!("code;url;created;expires\na;https://acme.example/;{time};{time}\n");
    let reading = Reading { zone: TimeZone::get("Asia/Tokyo").unwrap(), ..Reading::default() };
    for (text, time) in [
        ("2020-10-26 17:20:40+00", "2020-10-26T17:20:40Z"),
        ("2020-10-26 17:20:40.123+00", "2020-10-26T17:20:40.123Z"),
        ("2020-10-26 17:20:40.5+05:30", "2020-10-26T11:50:40.5Z"),
        ("2020-10-26 17:20:40 +0200", "2020-10-26T15:20:40Z"),
        ("2020-10-26 17:20:40.123 UTC", "2020-10-26T17:20:40.123Z"),
        ("2020-10-26T17:20:40+0000", "2020-10-26T17:20:40Z"),
        ("2020-10-26 17:20:40", "2020-10-26T08:20:40Z"),
        ("20240131", "2024-01-30T15:00:00Z"),
        ("2024-01-31", "2024-01-30T15:00:00Z"),
        ("Jan 31, 2024", "2024-01-30T15:00:00Z"),
        ("1706659200", "2024-01-31T00:00:00Z"),
        ("1706659200.0", "2024-01-31T00:00:00Z"),
        ("1706659200000", "2024-01-31T00:00:00Z"),
    ] {
        let content = read(&table(text), &reading).unwrap().rows.remove(0).content.unwrap();
        let Content::Link(link) = content else { panic!("{text}") };
        assert_eq!((link.created_at, link.expires_at), (at(time), at(time)), "{text}");
    }
    for never in ["0", "0000-00-00", "0000-00-00 00:00:00", "never", "Never"] {
        let link = links(&table(never)).1.remove(0);
        assert_eq!((link.created_at, link.expires_at, link.ignored), (None, None, vec![]), "{never}");
    }
    assert_eq!(refusal(&table("20241331")), BadRow::Time("expires_at"));
}

#[test]
fn a_code_may_have_a_dot() {
    let table = "short_url,long_url,is_disabled\nv1.x,https://acme.example/,0\n";
    only(table, Format::Polr, link("https://acme.example/", "v1.x"));
    only("short_url,url\nv1.x,https://acme.example/\n", Format::Table, link("https://acme.example/", "v1.x"));
}

#[test]
fn elements_of_a_list_have_their_places() {
    let items =
        [json!(1), json!({"code": "a", "url": "https://a.example/"}), json!({"code": "b", "tags": [{"name": "x"}]})];

    let import = read_items(&items, &Reading::default()).unwrap();

    let told: Vec<_> = import.rows.iter().map(|row| (row.line, row.content.as_ref().err())).collect();
    assert_eq!(told, [(1, Some(&BadRow::NoObject)), (2, None), (3, Some(&BadRow::NoUrl))]);
}

#[test]
fn every_document_of_a_text_is_read() {
    let page = |code: &str| {
        format!(r#"{{"links": [{{"slug": "{code}", "url": "https://a.example/"}}], "tags": [{{"url": 1}}]}}"#)
    };
    let line = |code: &str| {
        format!(r#"{{"slug": "{code}", "url": "https://a.example/", "rules": [{{"url": "https://b.example/"}}]}}"#)
    };
    let list = |code: &str| format!("[{}]", line(code));
    for texts in [[page("a"), page("b")], [list("a"), list("b")], [line("a"), line("b")]] {
        for between in ["", "\n"] {
            let codes: Vec<_> = links(&texts.join(between)).1.into_iter().map(|link| link.code.unwrap()).collect();
            assert_eq!(codes, ["a", "b"], "{texts:?}");
        }
    }
}

#[test]
fn dumps_are_read_however_they_insert_rows() {
    let row = "('a','http://a.example/','','2014-03-08 00:38:44','',1);";
    for dump in [
        format!("INSERT IGNORE INTO `yourls_url` VALUES {row}"),
        format!("INSERT INTO `shop`.`yourls_url` VALUES {row}"),
        format!("insert into shop.yourls_url values {row}"),
        format!("/* a dump */\n{} INSERT INTO `yourls_url` VALUES {row}", YOURLS_COLUMNS.replace('\n', " ")),
    ] {
        let (_, links) = links(&dump);
        assert_eq!((links.len(), links[0].code.as_deref()), (1, Some("a")), "{dump}");
    }
}

#[test]
fn a_line_for_excel_before_the_header_is_skipped() {
    let import = read("sep=;\nurl;code\nhttps://a.example/?a,b,c;a\n", &Reading::default()).unwrap();

    let row = &import.rows[0];
    let expected = Content::Link(Box::new(link("https://a.example/?a,b,c", "a")));
    assert_eq!((row.line, &row.content), (3, &Ok(expected)));
}
