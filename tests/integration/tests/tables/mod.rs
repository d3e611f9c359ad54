mod api_keys;
mod links;
mod notifications;
mod stats;
mod users;
mod watch;
