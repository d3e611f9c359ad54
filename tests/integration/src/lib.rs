//! What the suites in `tests/` share: the functions, wired to a test's tables and queues.

#![expect(missing_docs, reason = "a name such as `relay` says which function it makes")]
#![expect(clippy::unwrap_used, reason = "this is test code: whatever goes wrong here has to end the test")]

pub mod fixture;
pub mod streams;
