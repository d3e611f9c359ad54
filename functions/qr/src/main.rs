//! QR codes. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_lambda::StartError;
use linklet_lambda::http::{self, Pages, ShortUrls};
use linklet_qr::QrCodes;

fn main() -> ExitCode {
    linklet_lambda::start("qr", run())
}

async fn run() -> Result<(), StartError> {
    http::serve(QrCodes { short_urls: ShortUrls::from_env(), pages: Pages::from_env() }).await
}
