//! Parses tokens into a query, and checks its types. One function for each rule of the grammar.

use super::attribute::{self, Attribute};
use super::condition::{Condition, Operator};
use super::error::{CONDITION, Problem, QueryError, VALUE};
use super::group::{GROUP, Group, Sites, Spread};
use super::lexer::{Token, tokens};
use super::order::{Direction, Key};
use super::value::{Kind, Value};
use super::{COMPARISONS, DEPTH, KEYS, LIMIT, LIST, Query};

/// Words that are no names.
const WORDS: [&str; 12] = [
    "choose",
    "nodes",
    "from",
    "sites",
    "with",
    "sort",
    "by",
    "asc",
    "desc",
    "limit",
    "in",
    "rtt_between",
];

type Parsed<T> = Result<T, QueryError>;

/// Reads a query.
pub(super) fn parse(text: &str) -> Parsed<Query> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        depth: 0,
        comparisons: 0,
    };
    parser.query()
}

struct Parser {
    /// The last is [`Token::End`].
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    comparisons: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }
    fn at(&self) -> usize {
        self.tokens[self.next].0
    }
    /// Takes a token; the end stays.
    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }
    fn takes_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.take();
        }
        found
    }
    fn takes_word(&mut self, words: &[&str]) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if words.contains(&w.as_str()));
        if found {
            self.take();
        }
        found
    }
    fn fail<T>(&self, at: usize, problem: Problem) -> Parsed<T> {
        Err(QueryError { at, problem })
    }
    /// The text here is not the one that must stand here.
    fn wants<T>(&self, wanted: &'static str) -> Parsed<T> {
        let found = self.peek().to_string();
        self.fail(self.at(), Problem::Expected { wanted, found })
    }

    fn query(&mut self) -> Parsed<Query> {
        let begins = |token: &Token| {
            let clause = matches!(token, Token::Word(w) if ["choose", "sort", "limit"].contains(&w.as_str()));
            !clause && *token != Token::End
        };
        let condition = begins(self.peek()).then(|| self.any()).transpose()?;
        let group = self.takes_word(&["choose"]);
        let group = group.then(|| self.group()).transpose()?;
        let keys = match self.takes_word(&["sort"]) {
            true => self.keys()?,
            false => Vec::new(),
        };
        let at = self.at();
        let limit = self.takes_word(&["limit"]);
        let limit = limit.then(|| self.count("nodes", LIMIT)).transpose()?;
        if group.is_some() && limit.is_some() {
            return self.fail(at, Problem::LimitOfGroup);
        }
        if *self.peek() != Token::End {
            return self.wants("&&, ||, choose, sort by, limit or the end");
        }
        Ok(Query {
            condition,
            group,
            keys,
            limit,
        })
    }

    fn any(&mut self) -> Parsed<Condition> {
        let mut parts = vec![self.all()?];
        while self.takes_sign("||") {
            parts.push(self.all()?);
        }
        Ok(Condition::any(parts))
    }

    fn all(&mut self) -> Parsed<Condition> {
        let mut parts = vec![self.term()?];
        while self.takes_sign("&&") {
            parts.push(self.term()?);
        }
        Ok(Condition::all(parts))
    }

    fn term(&mut self) -> Parsed<Condition> {
        let at = self.at();
        if self.takes_sign("(") {
            return self.bracketed(at);
        }
        if self.takes_sign("!") {
            if self.takes_sign("(") {
                return Ok(Condition::Not(Box::new(self.bracketed(at)?)));
            }
            return match self.comparison()? {
                switch @ Condition::On(_) => Ok(Condition::Not(Box::new(switch))),
                _ => self.fail(at, Problem::Negation),
            };
        }
        self.comparison()
    }

    /// After an opening bracket that began at `at`.
    fn bracketed(&mut self, at: usize) -> Parsed<Condition> {
        if self.depth == DEPTH {
            return self.fail(at, Problem::TooDeep);
        }
        self.depth += 1;
        let inner = self.any()?;
        self.depth -= 1;
        if !self.takes_sign(")") {
            return self.wants("&&, || or )");
        }
        Ok(inner)
    }

    fn comparison(&mut self) -> Parsed<Condition> {
        let at = self.at();
        self.comparisons += 1;
        if self.comparisons > COMPARISONS {
            return self.fail(at, Problem::TooMany);
        }
        let attribute = self.attribute(CONDITION)?;
        if self.takes_word(&["in"]) {
            return self.list(attribute);
        }
        let sign = self.at();
        let operator = match self.peek() {
            Token::Sign(sign) => Operator::ALL.into_iter().find(|o| o.sign() == *sign),
            _ => None,
        };
        let Some(operator) = operator else {
            return match attribute.kind() {
                None | Some(Kind::Switch) => Ok(Condition::On(attribute)),
                Some(_) => self.fail(at, Problem::Alone(attribute)),
            };
        };
        self.take();
        let value = self.value(&attribute)?;
        if operator.is_order() && !value.kind().is_ordered() {
            let kind = value.kind();
            return self.fail(sign, Problem::Order { attribute, kind });
        }
        Ok(Condition::Compare(attribute, operator, value))
    }

    fn list(&mut self, attribute: Attribute) -> Parsed<Condition> {
        let at = self.at();
        if !self.takes_sign("[") {
            return self.wants("a list in square brackets such as [\"a\", \"b\"]");
        }
        let mut values = Vec::new();
        while !self.takes_sign("]") {
            if !values.is_empty() && !self.takes_sign(",") {
                return self.wants("a comma or ]");
            }
            values.push(self.value(&attribute)?);
        }
        if !(1..=LIST).contains(&values.len()) {
            return self.fail(at, Problem::Length("lists", LIST));
        }
        Ok(Condition::In(attribute, values))
    }

    /// A value that an attribute can be compared with.
    fn value(&mut self, attribute: &Attribute) -> Parsed<Value> {
        let at = self.at();
        let value = match self.peek() {
            Token::Value(value) => value.clone(),
            Token::Word(word) if word == "true" => Value::Switch(true),
            Token::Word(word) if word == "false" => Value::Switch(false),
            _ => return self.wants(VALUE),
        };
        self.take();
        match attribute.kind() {
            Some(kind) if kind != value.kind() => {
                let attribute = attribute.clone();
                self.fail(at, Problem::Kind { attribute, value })
            }
            _ => Ok(value),
        }
    }

    fn attribute(&mut self, wanted: &'static str) -> Parsed<Attribute> {
        let at = self.at();
        let word = match self.peek() {
            Token::Word(word) if word == "rtt_between" => return self.fail(at, Problem::Between),
            Token::Word(word) if !WORDS.contains(&word.as_str()) => word.clone(),
            _ => return self.wants(wanted),
        };
        self.take();
        let Some(attribute) = Attribute::named(&word) else {
            let near = attribute::nearest(&word);
            return self.fail(at, Problem::Unknown { name: word, near });
        };
        if attribute == Attribute::RttMe
            && !(self.takes_sign("(") && self.takes_word(&["me"]) && self.takes_sign(")"))
        {
            return self.fail(at, Problem::RttOf);
        }
        Ok(attribute)
    }

    fn count(&mut self, what: &'static str, most: u32) -> Parsed<u32> {
        let at = self.at();
        let Token::Value(Value::Number(millionths)) = *self.peek() else {
            return self.wants("a whole number");
        };
        self.take();
        let whole = (millionths % 1_000_000 == 0).then_some(millionths / 1_000_000);
        let count = whole.and_then(|n| u32::try_from(n).ok());
        match count.filter(|n| (1..=most).contains(n)) {
            Some(count) => Ok(count),
            None => self.fail(at, Problem::Count { what, most }),
        }
    }

    fn group(&mut self) -> Parsed<Group> {
        let nodes = self.count("nodes", GROUP)?;
        if !self.takes_word(&["nodes", "node"]) {
            return self.wants("the word nodes");
        }
        let sites = self.takes_word(&["from"]);
        let sites = sites.then(|| self.sites(nodes)).transpose()?;
        let within = self.takes_word(&["with"]);
        let within = within.then(|| self.within()).transpose()?;
        Ok(Group {
            nodes,
            sites,
            within,
        })
    }

    fn sites(&mut self, nodes: u32) -> Parsed<Sites> {
        let spread = match self.peek() {
            Token::Sign("==") => Some(Spread::Exactly),
            Token::Sign(">=") => Some(Spread::AtLeast),
            Token::Sign("<=") => Some(Spread::AtMost),
            _ => None,
        };
        if spread.is_some() {
            self.take();
        }
        let count = self.count("sites, which is not above that of nodes,", nodes)?;
        if !self.takes_word(&["sites", "site"]) {
            return self.wants("the word sites");
        }
        let spread = spread.unwrap_or(Spread::Exactly);
        Ok(Sites { spread, count })
    }

    /// The longest round trip between two of a group, in microseconds, and whether it is allowed
    /// itself.
    fn within(&mut self) -> Parsed<(u64, bool)> {
        if !self.takes_word(&["rtt_between"]) {
            return self.wants("rtt_between");
        }
        let inclusive = match self.peek() {
            Token::Sign("<") => false,
            Token::Sign("<=") => true,
            _ => return self.wants("< or <="),
        };
        self.take();
        match *self.peek() {
            Token::Value(Value::Duration(micros)) => {
                self.take();
                Ok((micros, inclusive))
            }
            _ => self.wants("a duration such as 20ms"),
        }
    }

    fn keys(&mut self) -> Parsed<Vec<Key>> {
        let at = self.at();
        if !self.takes_word(&["by"]) {
            return self.wants("the word by");
        }
        let mut keys = vec![self.key()?];
        while self.takes_sign(",") {
            keys.push(self.key()?);
        }
        if keys.len() > KEYS {
            return self.fail(at, Problem::Length("sort keys", KEYS));
        }
        Ok(keys)
    }

    fn key(&mut self) -> Parsed<Key> {
        let at = self.at();
        let attribute = self.attribute("a name such as price or rtt(me)")?;
        if attribute.kind().is_none() {
            return self.fail(at, Problem::Sort(attribute));
        }
        let direction = if self.takes_word(&["desc"]) {
            Direction::Down
        } else {
            self.takes_word(&["asc"]);
            Direction::Up
        };
        Ok(Key {
            attribute,
            direction,
        })
    }
}
