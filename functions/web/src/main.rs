//! The web application and the API's description. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_lambda::StartError;
use linklet_lambda::config::{self, ConfigError};
use linklet_lambda::http::{self, Pages};
use linklet_web::{Home, Web};

fn main() -> ExitCode {
    linklet_lambda::start("web", run())
}

async fn run() -> Result<(), StartError> {
    let home = match config::optional("HOME_URL") {
        Some(url) => {
            Home::parse(&url).map_err(|error| ConfigError::Invalid { name: "HOME_URL", reason: error.to_string() })?
        }
        None => Home::app(),
    };
    http::serve(Web { home, pages: Pages::from_env(), commit: config::optional("COMMIT") }).await
}
