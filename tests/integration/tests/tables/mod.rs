mod links;
mod notifications;
mod stats;
mod users;
mod watch;
