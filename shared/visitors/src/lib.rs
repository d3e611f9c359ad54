//! Who is asking: bot (and of which kind) or person, the kind of device, the family of the browser.
//!
//! A user agent's words tell it, without a regular expression or a file to load, so this costs microseconds and a few kilobytes.
//! The names of browsers and operating systems that statistics show are `linklet-user-agents`' matter.
//!
//! Clients can send any user agent. So use this for statistics, to choose between destinations and to tell whose clicks use a link
//! up, never for decisions about access.

mod bots;
mod browsers;
mod described;
mod device;
mod platform;
mod words;

pub use bots::{Bot, BotKind};
pub use browsers::family as browser_family;
pub use described::described;
pub use device::of_person as device_of_person;
pub use platform::platforms;
