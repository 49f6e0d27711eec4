//! The API on a network of one validator: its answers are checked against the ledger's own rules,
//! its routes and bounds over real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod alerts;
mod asking;
mod auction;
mod audit;
mod bid;
mod bounds;
mod document;
mod events;
mod find;
mod forms;
mod isolation;
mod job;
mod joining;
mod ledger;
mod logs;
mod market;
mod paging;
mod project_pages;
mod projects;
mod rates;
mod readers;
mod repeated;
mod routes;
mod served;
mod spent;
mod statement;
mod tokens;
mod traces;
mod upload_form;
mod web;
mod why;
mod world;
