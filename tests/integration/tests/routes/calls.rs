//! Plain calls of a function, with a token and without one.

use crate::prelude::*;

pub trait Calls: DeferringHandler + Sized {
    async fn get(&self, path: &str, token: &str) -> Answer {
        RequestBuilder::new("GET", path).token(token).send_to(self).await
    }

    async fn post(&self, path: &str, token: &str, body: &Value) -> Answer {
        RequestBuilder::new("POST", path).token(token).json(body).send_to(self).await
    }

    async fn patch(&self, path: &str, token: &str, body: &Value) -> Answer {
        RequestBuilder::new("PATCH", path).token(token).json(body).send_to(self).await
    }

    async fn delete(&self, path: &str, token: &str) -> Answer {
        RequestBuilder::new("DELETE", path).token(token).send_to(self).await
    }

    async fn get_openly(&self, path: &str) -> Answer {
        RequestBuilder::new("GET", path).send_to(self).await
    }

    async fn post_openly(&self, path: &str, body: &Value) -> Answer {
        RequestBuilder::new("POST", path).json(body).send_to(self).await
    }

    async fn register(&self, email: &str, password: &str) -> Answer {
        self.post_openly("/api/auth/register", &json!({"email": email, "password": password})).await
    }

    async fn log_in(&self, email: &str, password: &str) -> Answer {
        self.post_openly("/api/auth/login", &json!({"email": email, "password": password})).await
    }

    /// The token of a new session.
    async fn session(&self, email: &str, password: &str) -> String {
        self.log_in(email, password).await.text("token")
    }

    async fn me(&self, token: &str) -> Answer {
        self.get("/api/me", token).await
    }
}

impl<H: DeferringHandler> Calls for H {}
