//! A body sent to an address, within the same rules as the requests of tasks. Nobody's answer is read further than its
//! head, and a redirect is an answer like any other: what is signed for one address is not sent to another.

use super::{Http, not_sent, response};
use crate::webhook::{Means, Post, Reply};
use edgewise_core::time::Millis;
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long one attempt may take.
const TOTAL: Duration = Duration::from_secs(15);

impl Http {
    /// Sends a body, and gives the status that came back.
    pub async fn post(&self, url: &str, headers: Vec<(&'static str, String)>, body: String) -> Reply {
        let sent = tokio::time::timeout(TOTAL, self.send(url, headers, body)).await;
        sent.unwrap_or_else(|_| Reply::Failed(format!("no answer within {TOTAL:?}")))
    }

    async fn send(&self, url: &str, headers: Vec<(&'static str, String)>, body: String) -> Reply {
        let Ok(url) = Url::parse(url) else { return Reply::Failed("the address cannot be read".into()) };
        let client = match self.rules.check(&url).and_then(|()| self.client()) {
            Ok(client) => client,
            Err(failure) => return Reply::Failed(failure.message),
        };
        let mut request = client.post(url.clone()).body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(answer) => {
                let after = response::asked_to_wait(answer.headers(), (self.clock)());
                Reply::Status(answer.status().as_u16(), after)
            }
            Err(error) => Reply::Failed(not_sent(&url, &error).message),
        }
    }

    /// What webhooks are told with: this network, the machine's time and chance.
    pub fn means(&self, queued: watch::Receiver<u64>) -> Means {
        let http = self.clone();
        let post: Post = Arc::new(move |url, headers, body| {
            let http = http.clone();
            Box::pin(async move { http.post(&url, headers, body).await })
        });
        Means {
            clock: Arc::new(self.clock),
            dice: Arc::new(|| {
                let mut bytes = [0; 8];
                // Without chance hooks only come back at the same instant.
                let _ = getrandom::fill(&mut bytes);
                u64::from_le_bytes(bytes)
            }),
            sleep: Arc::new(|Millis(ms)| Box::pin(tokio::time::sleep(Duration::from_millis(ms)))),
            post,
            queued,
        }
    }
}
