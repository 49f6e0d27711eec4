//! Makes, lists and revokes tokens.

use super::types::{NewToken, TokenRecord, TokenRequest};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{internal, usage};
use crate::backend::{NodeBackend, wall_ms};
use crate::keys::random;
use crate::store::tokens::{Token, TokenBook, TokenError};
use gridbay_protocol::ids::to_hex;

impl NodeBackend {
    /// The book of tokens, for the listener that lets their bearers in.
    pub fn token_book(&self) -> TokenBook {
        self.parts.tokens.clone()
    }
    /// All tokens by name.
    pub(crate) fn tokens(&self) -> Vec<TokenRecord> {
        let now = wall_ms();
        let all = self.parts.tokens.all();
        all.into_iter()
            .map(|(name, token)| record(name, &token, now))
            .collect()
    }
    /// A new one.
    pub(crate) fn make_token(&self, request: TokenRequest) -> Answer<NewToken> {
        if request.valid_seconds == Some(0) {
            let hint = "name at least a second, or leave it out";
            return Err(usage("a token that ends at once", hint));
        }
        let random = random().map_err(|error| internal("no fresh randomness", error))?;
        let (token, now) = (to_hex(&random), wall_ms());
        let lasts = request.valid_seconds.map(|s| u64::from(s) * 1_000);
        let terms = (request.scope, lasts.map(|ms| now.saturating_add(ms)));
        let made = self.parts.tokens.add(&request.name, &token, terms, now);
        let made = made.map_err(|error| failed(&error))?;
        Ok(NewToken {
            token,
            record: record(request.name, &made, now),
        })
    }
    /// One less.
    pub(crate) fn revoke_token(&self, name: &str) -> Answer<TokenRecord> {
        let gone = self.parts.tokens.revoke(name);
        let gone = gone.map_err(|error| failed(&error))?;
        Ok(TokenRecord {
            counts: false,
            ..record(name.to_owned(), &gone, wall_ms())
        })
    }
}

fn record(name: String, token: &Token, now: u64) -> TokenRecord {
    TokenRecord {
        name,
        scope: token.scope,
        made_ms: token.made_ms,
        ends_ms: token.ends_ms,
        counts: token.counts(now),
    }
}

fn failed(error: &TokenError) -> ApiError {
    let (code, hint) = match error {
        TokenError::Name => (ErrorCode::Usage, "choose such a name"),
        TokenError::Taken => (
            ErrorCode::Conflict,
            "choose another name, or revoke that one: gridbay token revoke",
        ),
        TokenError::Unknown => (ErrorCode::NotFound, "see gridbay token list"),
        TokenError::Full => (ErrorCode::Conflict, "revoke one: gridbay token revoke"),
        TokenError::Disk(source) => return internal("the tokens stay as they were", source),
    };
    ApiError::new(code, error.to_string(), hint)
}
