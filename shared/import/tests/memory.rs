//! Reading takes memory in proportion to its input.

use linklet_import::{Reading, read};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The largest request, in bytes.
const REQUEST: usize = 262_144;

/// How many rows a request may have.
const ROWS: usize = 500;

/// How many times as much memory as the text has.
const TIMES: usize = 10;

fn repeated(begin: &str, record: &str, end: &str) -> String {
    format!("{begin}{}{end}", record.repeat((REQUEST - begin.len() - end.len()) / record.len()))
}

/// The memory that reading takes at most at a time.
fn taken(export: &str) -> usize {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let import = read(export, &Reading { most_rows: ROWS, ..Reading::default() });
    let taken = ALLOCATOR.peak_usage() - before;
    drop(import);
    taken
}

#[test]
fn reading_takes_no_more_memory_than_ten_times_the_input() {
    for export in [
        repeated("code,url,title\n", "spring,https://a.example/,A title\n", ""),
        repeated("code,url,title\n", "spring,https://a.example/,\"open\n", ""),
        repeated("code,url,title\na,https://a.example/,", "x", "\n"),
        repeated("[", "{\"slug\": \"spring\", \"url\": \"https://a.example/\"},\n", "{}]"),
        repeated("[", "{\"slug\": \"spring\", \"url\": ", ""),
        repeated("[{\"url\": \"https://a.example/\", \"tags\": ", "[", ""),
        repeated("INSERT INTO `yourls_url` VALUES ", "('a','http://a.example/','','2014-03-08 00:38:44','',1),", "('b"),
        repeated(
            "INSERT INTO `yourls_log` VALUES ",
            "(1,'2014-03-08 00:38:44','a','direct','Firefox','203.0.113.9','DE'),",
            "",
        ),
    ] {
        let taken = taken(&export);
        assert!(taken < TIMES * export.len(), "{taken} bytes for {} of {:?}", export.len(), &export[..60]);
    }
    // A map of numbers takes more than ten times their text, whatever they are under.
    let members = (0..5_000).map(|member| format!("\"m{member}\":1,")).collect::<String>() + "\"m\":1";
    for (begin, name, end) in [
        ("", "a".repeat(100_000), ""),
        ("", "a".repeat(20), ""),
        ("\"a\":{\"b\":{", "c".to_owned(), "}}"),
        (&"\"a\":{".repeat(100), "c".to_owned(), &"}".repeat(100)),
    ] {
        let export = format!("[{{\"url\":\"https://a.example/\",{begin}\"{name}\":{{{members}}}{end}}}]");
        let taken = taken(&export);
        assert!(taken < 2 * TIMES * export.len(), "{taken} bytes for {} of {:?}", export.len(), &export[..60]);
    }
}
