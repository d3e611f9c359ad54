//! What operators' commands send to a function, which whoever may invoke it may do.

use serde::Deserialize;

/// A command, and who gives it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order<C> {
    /// The operator's identity according to AWS.
    pub operator: String,
    /// What is to be done.
    pub command: C,
}
