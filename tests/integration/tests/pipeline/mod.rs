mod analytics;
mod exactness;
mod expiry;
mod logs;
mod notify;
mod purge;
mod relay;
mod whole;
