mod analytics;
mod expiry;
mod notify;
mod purge;
mod relay;
mod whole;
