use linklet_domain::{Click, Invalid, ParkedClick, Spread};
use linklet_dynamodb::ClicksTable;

use super::{Advice, Spreading};
use crate::metrics::{self, Metric};
use crate::publisher::Publisher;
use crate::telemetry::chain;

/// When a click is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Invalid, parse_err_fn = no_recording)]
pub enum ClickRecording {
    /// After the response has left, so that nobody waits for it. If the environment dies in that moment, the click is lost.
    AfterResponse,
    /// Before the response, so that each redirect's click is stored, parked or reported as lost.
    Inline,
}

fn no_recording(_: &str) -> Invalid {
    Invalid::new("it must be after-response or inline")
}

/// Stores clicks, and parks those that the table refuses.
pub struct Recorder {
    /// The table of raw clicks.
    pub clicks: ClicksTable,
    /// The analytics queue, whose consumer stores the clicks that the table did not take.
    pub parking: Publisher,
    /// Says which links' clicks are stored wide.
    pub spreading: Spreading,
}

impl Recorder {
    /// Stores a click. What the table doesn't take, though the SDK has tried three times, waits in a queue; what that doesn't
    /// take either is reported.
    pub async fn record(&self, click: Click) {
        let spread = self.spread_of(&click).await;
        let Err(refused) = self.clicks.record(&click, spread).await else {
            return;
        };
        self.spreading.refused(&click.link, click.clicked_at());
        let parked = ParkedClick { click, spread };
        let (short_code, error) = (parked.click.link.code.as_str(), chain(&refused));
        if self.parking.send(&[&parked]).await.is_empty() {
            metrics::add(Metric::ClicksParked, 1);
            tracing::warn!(short_code, error, "a click was parked");
        } else {
            metrics::add(Metric::ClicksDropped, 1);
            tracing::error!(short_code, error, "a click was lost");
        }
    }

    /// How a click is to be stored. A marker comes before the first one that is stored wide.
    async fn spread_of(&self, Click { id, link, .. }: &Click) -> Spread {
        match self.spreading.advise(link, id.at()) {
            Advice::Store(spread) => spread,
            Advice::Widen { until } => match Box::pin(self.clicks.widen(link, until)).await {
                Ok(()) => {
                    self.spreading.widened(link, until);
                    Spread::Wide
                }
                Err(error) => {
                    let (short_code, error) = (link.code.as_str(), chain(&error));
                    tracing::warn!(short_code, error, "clicks of a hot link could not be spread more");
                    Spread::Narrow
                }
            },
        }
    }
}
