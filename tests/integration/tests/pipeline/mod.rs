mod analytics;
mod exactness;
mod expiry;
mod notify;
mod purge;
mod relay;
mod whole;
