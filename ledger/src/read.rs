//! Queries for the API and the agents; nothing here changes the state.
