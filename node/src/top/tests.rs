//! Keys, clicks and screens, on a terminal that is a text.

use super::draw::{Theme, draw};
use super::look::{Look, Mark, Row, Sheet};
use super::state::{Over, State};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::style::Color;

/// The screen of a state, cell by cell.
pub(super) fn drawn(state: &State, colours: bool) -> Buffer {
    let size = state.screen;
    let mut terminal = Terminal::new(TestBackend::new(size.width, size.height)).unwrap();
    let theme = Theme { colours };
    terminal
        .draw(|frame| draw(state, theme, frame.buffer_mut()))
        .unwrap();
    terminal.backend().buffer().clone()
}

/// Its lines, without the space behind them.
pub(super) fn lines(state: &State) -> Vec<String> {
    let buffer = drawn(state, false);
    let width = usize::from(buffer.area.width);
    let rows = buffer.content().chunks(width);
    let line = |row: &[ratatui::buffer::Cell]| {
        let text: String = row.iter().map(|cell| cell.symbol()).collect();
        text.trim_end().to_owned()
    };
    rows.map(line).collect()
}

/// A screen with two sheets, of which the first has so many rows.
fn screen(rows: usize) -> State {
    let row = |n: usize| {
        let mark = if n == 2 { Mark::Bad } else { Mark::Good };
        let cells = [format!("name{n}"), (n * n).to_string()];
        Row::new(n.to_string(), cells)
            .marked(mark)
            .with("more", format!("of {n}"))
    };
    let mut look = Look::default();
    look.tell(Mark::Plain, "a head");
    look.sheets = vec![
        Sheet {
            name: "Things",
            headings: &["NAME", ">SIZE"],
            none: "nothing",
            rows: (0..rows).map(row).collect(),
        },
        Sheet {
            name: "Others",
            headings: &["NAME"],
            none: "there are none",
            rows: Vec::new(),
        },
    ];
    let mut state = State::new(40, 8);
    state.saw(look);
    state
}

fn press(state: &mut State, codes: impl IntoIterator<Item = KeyCode>) {
    for code in codes {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        state.act(&Event::Key(key));
    }
}

fn mouse(state: &mut State, kind: MouseEventKind, column: u16, row: u16) {
    state.act(&Event::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }));
}

fn click(state: &mut State, column: u16, row: u16) {
    mouse(state, MouseEventKind::Down(MouseButton::Left), column, row);
}

fn chosen(state: &State) -> String {
    state.rows()[state.chosen()].key.clone()
}

fn typed(text: &str) -> impl Iterator<Item = KeyCode> {
    text.chars()
        .map(KeyCode::Char)
        .collect::<Vec<_>>()
        .into_iter()
}

#[test]
fn a_screen_has_head_names_rows_and_hints() {
    let state = screen(3);
    let shown = [
        "a head",
        "[1 Things] 2 Others",
        "   NAME   SIZE",
        ">+ name0     0",
        " + name1     1",
        " ! name2     4",
        "",
        "q leave  ? keys  Tab view  Enter all ab…",
    ];
    assert_eq!(lines(&state), shown);
}

#[test]
fn the_chosen_row_stays_in_sight_and_goes_with_its_thing() {
    let mut state = screen(9);
    press(&mut state, [KeyCode::Down, KeyCode::Char('j')]);
    assert_eq!(chosen(&state), "2");
    press(&mut state, [KeyCode::PageDown]);
    assert_eq!(chosen(&state), "6");
    assert!(lines(&state).contains(&">+ name6    36".to_owned()));
    press(&mut state, [KeyCode::End]);
    assert_eq!(chosen(&state), "8");
    press(&mut state, [KeyCode::Up]);
    let mut look = state.look.clone();
    look.sheets[0].rows.drain(..3);
    state.saw(look.clone());
    assert_eq!(chosen(&state), "7", "the same thing, three places higher");
    look.sheets[0].rows.retain(|row| row.key != "7");
    state.saw(look);
    assert_eq!(chosen(&state), "8", "the next one where it has gone");
    press(&mut state, [KeyCode::Home]);
    assert_eq!(chosen(&state), "3");
    mouse(&mut state, MouseEventKind::ScrollDown, 0, 0);
    assert_eq!(chosen(&state), "6");
    let mut none = screen(0);
    press(&mut none, [KeyCode::Down, KeyCode::Enter, KeyCode::End]);
    assert_eq!((none.chosen(), none.over), (0, Over::Nothing));
    assert_eq!(lines(&none)[3], "   nothing");
}

#[test]
fn rows_are_filtered_while_it_is_typed() {
    let mut state = screen(12);
    press(&mut state, [KeyCode::Char('/')]);
    press(&mut state, typed("e1q"));
    assert_eq!(state.rows().len(), 0, "q is a letter here");
    assert_eq!(lines(&state)[7], "filter: e1q_");
    press(&mut state, [KeyCode::Backspace, KeyCode::Enter]);
    let found: Vec<_> = state.rows().iter().map(|row| row.key.clone()).collect();
    assert_eq!(found, ["1", "10", "11"]);
    assert!(lines(&state)[7].starts_with("filter: e1   Esc shows all"));
    press(&mut state, [KeyCode::Char('/')]);
    press(&mut state, typed(&"x".repeat(100)));
    press(&mut state, [KeyCode::Enter]);
    assert_eq!(lines(&state)[3], "   no row has these words; Esc shows all");
    press(&mut state, [KeyCode::Esc]);
    assert_eq!(state.rows().len(), 12);
}

#[test]
fn rows_are_sorted_by_keys_and_by_headings() {
    let mut state = screen(12);
    let first = |state: &State| state.rows()[0].key.clone();
    press(&mut state, typed("ssr"));
    assert_eq!(first(&state), "11", "by size, downwards");
    assert_eq!(lines(&state)[2], "   NAME    SIZEv");
    press(&mut state, typed("s"));
    assert_eq!(first(&state), "0", "behind the last column comes none");
    click(&mut state, 12, 2);
    assert_eq!(lines(&state)[2], "   NAME    SIZE^");
    click(&mut state, 12, 2);
    assert_eq!(first(&state), "11");
    click(&mut state, 4, 2);
    assert_eq!(lines(&state)[2], "   NAME^   SIZE");
}

#[test]
fn views_detail_and_help_come_and_go() {
    let mut state = screen(3);
    press(&mut state, [KeyCode::Tab]);
    assert_eq!(lines(&state)[1], " 1 Things [2 Others]");
    assert_eq!(lines(&state)[3], "   there are none");
    press(&mut state, [KeyCode::Right, KeyCode::Enter]);
    assert_eq!(
        lines(&state)[2..5],
        ["name  name0", "size  0", "more  of 0"]
    );
    press(
        &mut state,
        [KeyCode::Esc, KeyCode::Char('2'), KeyCode::Char('9')],
    );
    assert_eq!(state.at, 1);
    press(&mut state, [KeyCode::Left, KeyCode::Char('?')]);
    assert!(lines(&state)[2].starts_with("q, Ctrl-C"));
    press(&mut state, [KeyCode::End]);
    assert!(
        lines(&state)[6].contains("up or down"),
        "{:#?}",
        lines(&state)
    );
    let last = lines(&state);
    press(&mut state, [KeyCode::Up]);
    assert_ne!(lines(&state), last, "it has not scrolled behind the end");
    press(&mut state, [KeyCode::Esc]);
    click(&mut state, 12, 1);
    assert_eq!(state.at, 1);
    click(&mut state, 1, 1);
    click(&mut state, 5, 4);
    assert_eq!((chosen(&state).as_str(), state.over), ("1", Over::Nothing));
    click(&mut state, 5, 4);
    assert_eq!(state.over, Over::Detail(0));
    click(&mut state, 5, 4);
    assert_eq!(state.over, Over::Nothing);
    click(&mut state, 39, 7);
    click(&mut state, 39, 6);
    assert_eq!(chosen(&state), "1", "there is no row");
}

#[test]
fn it_is_left_by_q_and_by_an_interrupt() {
    let mut state = screen(1);
    press(&mut state, typed("xyz"));
    assert!(!state.left);
    press(&mut state, typed("q"));
    assert!(state.left);
    let mut state = screen(1);
    press(&mut state, typed("/"));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    state.act(&Event::Key(interrupt));
    assert!(state.left);
}

#[test]
fn a_lost_node_is_told_and_what_was_seen_stays() {
    let mut state = State::new(80, 8);
    assert!(lines(&state).concat().contains("looking"));
    state.missed("there is no node\x1b[2J", "12:00:00");
    state.missed("there is no node\x1b[2J", "12:00:02");
    let told = "! no answer since 12:00:00, asking again: there is no node\u{fffd}[2J";
    assert_eq!(lines(&state)[7], told);
    let look = screen(3).look;
    state.saw(look.clone());
    state.missed("gone", "12:01:00");
    assert!(lines(&state).concat().contains("name2"));
    assert!(lines(&state)[7].contains("since 12:01:00"));
    state.saw(look);
    assert!(lines(&state)[7].starts_with("q leave"));
}

#[test]
fn without_colours_there_is_none_and_all_is_told_by_signs() {
    let state = screen(3);
    let coloured = |colours| {
        let cells = drawn(&state, colours);
        let cells = cells.content().iter();
        cells
            .filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
            .count()
    };
    assert_eq!(coloured(false), 0);
    assert!(coloured(true) > 0);
}

#[test]
fn a_small_screen_says_so_and_a_changed_one_is_followed() {
    let mut state = screen(3);
    state.act(&Event::Resize(30, 8));
    assert_eq!(lines(&state)[0], "40 by 8 at least");
    state.act(&Event::Resize(1, 1));
    assert_eq!(lines(&state), ["…"]);
    state.act(&Event::Resize(150, 20));
    assert!(lines(&state)[3].contains("name0") && lines(&state)[2].contains("name  name0"));
}

#[test]
fn a_text_of_a_stranger_moves_no_cursor() {
    let mut look = screen(0).look;
    look.sheets[0].rows = vec![Row::new(
        "a",
        ["\x1b[2J\u{202e}\n".to_owned(), "1".to_owned()],
    )];
    let mut state = screen(0);
    state.saw(look);
    assert_eq!(lines(&state)[3], ">  \u{fffd}[2J\u{fffd}\u{fffd}     1");
}
