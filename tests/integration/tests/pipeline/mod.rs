mod analytics;
mod notify;
mod relay;
mod whole;
