mod analytics;
mod cost;
mod expiry;
mod notify;
mod purge;
mod reconcile;
mod relay;
mod whole;
