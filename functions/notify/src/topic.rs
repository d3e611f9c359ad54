use aws_sdk_sns::{Client, types::MessageAttributeValue};
use linklet_domain::Notification;

use crate::DeliveryError;

/// Publishes to the SNS topic, where anybody can subscribe and filter by user and event type.
pub struct Topic {
    client: Client,
    arn: String,
}

impl Topic {
    /// The topic with this ARN.
    pub fn new(client: Client, arn: impl Into<String>) -> Self {
        Self { client, arn: arn.into() }
    }

    pub(crate) async fn publish(&self, notification: &Notification) -> Result<(), DeliveryError> {
        let attribute = |value: &str| {
            MessageAttributeValue::builder()
                .data_type("String")
                .string_value(value)
                .build()
                .map_err(|error| DeliveryError::Topic(Box::new(error)))
        };
        self.client
            .publish()
            .topic_arn(&self.arn)
            .message(&notification.message)
            .message_attributes("user_id", attribute(&notification.user.to_string())?)
            .message_attributes("event_type", attribute(&notification.event_type)?)
            .send()
            .await
            .map_err(|error| DeliveryError::Topic(Box::new(error)))?;
        Ok(())
    }
}
