mod api_keys;
mod links;
mod notifications;
mod stats;
mod throttle;
mod users;
mod watch;
