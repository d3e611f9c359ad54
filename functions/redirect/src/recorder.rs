use std::str::FromStr;

use linklet_domain::{Click, Invalid};
use linklet_dynamodb::ClicksTable;
use linklet_lambda::{
    metrics::{self, Metric},
    publisher::Publisher,
    telemetry::chain,
};

/// When a click is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickRecording {
    /// After the response has left, so that nobody waits for it. If the environment dies in that moment, the click is lost.
    AfterResponse,
    /// Before the response, so that each redirect's click is stored, parked or reported as lost.
    Inline,
}

impl FromStr for ClickRecording {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "after-response" => Ok(Self::AfterResponse),
            "inline" => Ok(Self::Inline),
            _ => Err(Invalid::new("it must be after-response or inline")),
        }
    }
}

/// Stores clicks, and parks those that the table refuses.
pub struct Recorder {
    /// The table of raw clicks.
    pub clicks: ClicksTable,
    /// The analytics queue, whose consumer stores the clicks that the table did not take.
    pub parking: Publisher,
}

impl Recorder {
    /// Stores a click. What the table doesn't take, though the SDK has tried three times, waits in a queue; what that doesn't
    /// take either is reported.
    pub async fn record(&self, click: &Click) {
        let Err(refused) = self.clicks.record(click).await else {
            return;
        };
        let (short_code, error) = (click.link.code.as_str(), chain(&refused));
        if self.parking.send(&[click]).await.is_empty() {
            metrics::add(Metric::ClicksParked, 1);
            tracing::warn!(short_code, error, "a click was parked");
        } else {
            metrics::add(Metric::ClicksDropped, 1);
            tracing::error!(short_code, error, "a click was lost");
        }
    }
}
