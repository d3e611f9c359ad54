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
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();

        let import = read(&export, &Reading { most_rows: ROWS, ..Reading::default() });

        let taken = ALLOCATOR.peak_usage() - before;
        assert!(taken < TIMES * export.len(), "{taken} bytes for {} of {:?}", export.len(), &export[..60]);
        drop(import);
    }
}
