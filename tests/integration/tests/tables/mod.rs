mod api_keys;
mod links;
mod notifications;
mod one_time;
mod stats;
mod throttle;
mod users;
mod watch;
