//! What each kind of reader gets.

use super::*;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// A stream that remembers, and breaks when told.
#[derive(Clone, Default)]
struct Page {
    text: Rc<RefCell<Vec<u8>>>,
    broken: bool,
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.text.borrow().clone()).unwrap()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.text.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn printed(set: impl Fn(&mut Printer), act: impl Fn(&mut Printer)) -> (String, String) {
    let (out, err) = (Page::default(), Page::default());
    let mut printer = Printer::new(Box::new(out.clone()), Box::new(err.clone()));
    set(&mut printer);
    act(&mut printer);
    (out.text(), err.text())
}

fn two_rows(printer: &mut Printer) {
    let rows = [
        Row::new("k3f9", vec!["k3f9".into(), "release".into()], &json!({"run": "k3f9"})).unwrap(),
        Row::new("0000", vec!["0000".into(), "x\u{1b}[31m".into()], &json!({"run": "0000", "n": "\u{1b}"})).unwrap(),
    ];
    printer.rows(&["run", "flow"], &rows).unwrap();
    printer.say("2 runs");
}

#[test]
fn a_person_gets_a_table_on_stdout_and_talk_on_stderr() {
    let (out, err) = printed(|_| {}, two_rows);
    assert_eq!(out, "RUN   FLOW\nk3f9  release\n0000  x\\u{1b}[31m\n");
    assert_eq!(err, "2 runs\n");
}

#[test]
fn a_program_gets_one_array_or_one_value_a_line() {
    let (out, _) = printed(|p| p.format = Format::Json, two_rows);
    assert_eq!(out, "[\n  {\"run\":\"k3f9\"},\n  {\"n\":\"\\u001b\",\"run\":\"0000\"}\n]\n");
    let (out, _) = printed(|p| p.format = Format::Jsonl, two_rows);
    assert_eq!(out, "{\"run\":\"k3f9\"}\n{\"n\":\"\\u001b\",\"run\":\"0000\"}\n");
}

#[test]
fn a_script_gets_ids_and_no_talk() {
    assert_eq!(printed(|p| p.quiet = true, two_rows), ("k3f9\n0000\n".into(), String::new()));
}

#[test]
fn one_thing_is_lines_or_a_value() {
    let act = |p: &mut Printer| p.one("k3f9", &["release".into()], &json!({"run": "k3f9"})).unwrap();
    assert_eq!(printed(|_| {}, act).0, "release\n");
    assert_eq!(printed(|p| p.format = Format::Jsonl, act).0, "{\"run\":\"k3f9\"}\n");
    assert_eq!(printed(|p| p.quiet = true, act).0, "k3f9\n");
}

#[test]
fn a_problem_is_told_in_words_or_as_json() {
    let problem =
        Problem::new(Kind::NotFound, "run_not_found", "no run k3f9\u{1b}[2J").why("typo").next("edgewise runs");
    let act = |p: &mut Printer| p.problem(&problem);
    let (out, err) = printed(|_| {}, act);
    assert_eq!(out, "");
    assert_eq!(err, "error: no run k3f9\\u{1b}[2J\n  why: typo\n  next: edgewise runs\n");
    let (_, err) = printed(|p| p.format = Format::Json, act);
    assert_eq!(serde_json::from_str::<Value>(&err).unwrap(), problem.to_json());
}

#[test]
fn a_problem_of_several_lines_stays_in_its_column() {
    let problem = Problem::new(Kind::Invalid, "bad_flow", "two problems:\n3:1 this\n4:1 that");
    assert_eq!(words(&problem, Style::PLAIN), "error: two problems:\n       3:1 this\n       4:1 that");
}

#[test]
fn a_reader_that_left_ends_the_command_quietly() {
    let mut printer = Printer::new(Box::new(Page { broken: true, ..Page::default() }), Box::new(io::sink()));
    assert!(printer.line("x").unwrap_err().is_quiet());
    printer.format = Format::Json;
    assert!(printer.rows(&[], &[]).unwrap_err().is_quiet());
}

#[test]
fn on_one_terminal_things_stand_in_the_order_in_which_they_were_said() {
    let page = Page::default();
    let mut printer = Printer::new(Box::new(io::BufWriter::new(page.clone())), Box::new(page.clone()));
    printer.line("data").unwrap();
    printer.say("talk");
    printer.line("more").unwrap();
    printer.problem(&Problem::new(Kind::Bug, "x", "broken"));
    assert_eq!(page.text(), "data\ntalk\nmore\nerror: broken\n");
}
