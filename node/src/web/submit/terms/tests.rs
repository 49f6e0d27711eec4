use super::*;
use crate::web::command::tests::exist;
use crate::web::parts::cli;
use crate::web::samples::price;

/// A form that can be sent.
pub(in crate::web::submit) fn fields() -> Fields {
    Fields {
        argv: "./sim --seed 'a b'".to_owned(),
        class: "small".to_owned(),
        nodes: "2".to_owned(),
        time: "1h30m".to_owned(),
        ..Fields::default()
    }
}

fn classes() -> Vec<ClassPrice> {
    let large = ClassPrice {
        vcpu: 8,
        memory_mib: 16_384,
        reserve: Some("3".parse().unwrap()),
        ..price("large")
    };
    vec![large, price("small")]
}

fn terms(change: impl FnOnce(&mut Fields)) -> Answer<Terms> {
    let mut fields = fields();
    change(&mut fields);
    Terms::of(&fields, &classes())
}

#[test]
fn a_form_becomes_an_order() {
    let terms = terms(|f| {
        f.max_price = " 2.5 ".to_owned();
        f.outputs = "out b  a out".to_owned();
    });
    let terms = terms.unwrap();
    assert_eq!(terms.argv, ["./sim", "--seed", "a b"]);
    assert_eq!(terms.outputs, ["a", "b", "out"]);
    let want = &terms.want;
    assert_eq!((want.nodes, want.seconds), (2, 5_400));
    assert_eq!(
        (want.max_price.unwrap().to_string(), want.how.name()),
        ("2.5".into(), "ausubel")
    );
    assert_eq!((&terms.name, want.budget), (&None, None));
    for how in ["", "buy", "posted"] {
        let terms = super::tests::terms(|f| {
            f.how = how.to_owned();
            f.budget = "9".to_owned();
            f.script = "x".to_owned();
        });
        let terms = terms.unwrap();
        let page = [terms.run_command(how.is_empty()), terms.quote_command()];
        let page: String = page.map(|line| cli("a", &line).into_string()).concat();
        assert_eq!(exist(&page), 2, "{page}");
    }
}

#[test]
fn a_file_is_the_program_or_an_input() {
    let with = |change: fn(&mut Fields)| {
        let terms = terms(|f| {
            f.file_name = "-a b".to_owned();
            f.file_id = "ab".repeat(32);
            f.file_bytes = "7".to_owned();
            change(f);
        });
        let terms = terms.unwrap();
        let line = terms.run_command(false);
        assert_eq!(exist(&cli("a", &line).into_string()), 1, "{line}");
        assert!(line.contains("'--input=-a b'"), "{line}");
        let file = terms.file.unwrap();
        assert_eq!((file.bytes, &file.path[..]), (7, "-a b"));
        (terms.argv.join("|"), file.executable)
    };
    assert_eq!(with(|f| f.argv.clear()), ("./-a b".to_owned(), true));
    assert!(with(|f| f.argv = "'./-a b' x".to_owned()).1);
    assert!(!with(|_| ()).1, "data for another program");
    let script = with(|f| (f.argv, f.script) = (String::new(), "x".to_owned()));
    assert_eq!(script, ("sh|script".to_owned(), false));
}

#[test]
fn what_was_told_bounds_what_was_not_written() {
    let terms = terms(|f| f.budget = "9".to_owned()).unwrap();
    let told = Fields {
        told_price: "3".to_owned(),
        told_most: "8".to_owned(),
        ..Fields::default()
    };
    let want = terms.told(&told);
    assert_eq!(want.max_price.unwrap().to_string(), "3");
    assert_eq!(want.budget.unwrap().to_string(), "9", "as it was written");
}

#[test]
fn the_first_class_that_has_enough() {
    let chosen = |cpus: &str, memory: &str| {
        let terms = terms(|f| {
            f.class.clear();
            f.cpus = cpus.to_owned();
            f.memory = memory.to_owned();
        });
        terms.map(|terms| terms.class.class)
    };
    assert_eq!(chosen("", "").unwrap(), "large", "the first");
    assert_eq!(chosen("4", "").unwrap(), "large");
    assert_eq!(chosen("1", "5GiB").unwrap(), "large");
    assert!(chosen("64", "").unwrap_err().message.contains("no class"));
    let small = terms(|f| f.cpus = "4".to_owned()).unwrap_err();
    assert!(small.message.contains("has less than that"), "{small:?}");
}

#[test]
fn a_script_is_run_if_no_command_is_written() {
    let run = |script: &str| {
        let terms = terms(|f| {
            f.argv = " ".to_owned();
            f.script = script.to_owned();
        });
        terms.map(|terms| (terms.argv.join(" "), terms.script.unwrap()))
    };
    assert_eq!(
        run("a\r\nb").unwrap(),
        ("sh script".into(), "a\nb\n".into())
    );
    assert_eq!(run("#!/bin/sh\n").unwrap().0, "./script");
    assert!(run("").is_err());
    assert!(run(&"x".repeat(SCRIPT_BYTES + 1)).is_err());
}

#[test]
fn mistakes_are_told() {
    let wrong: [fn(&mut Fields); 9] = [
        |f| f.argv = "a 'b".to_owned(),
        |f| f.nodes = "-1".to_owned(),
        |f| f.time = "soon".to_owned(),
        |f| f.time = "0s".to_owned(),
        |f| f.max_price = "1e9".to_owned(),
        |f| f.budget = "<b>".to_owned(),
        |f| f.class = "none".to_owned(),
        |f| f.how = "theft".to_owned(),
        |f| (f.how, f.shape) = ("buy".to_owned(), ARRAY.to_owned()),
    ];
    for change in wrong {
        assert!(!terms(change).unwrap_err().message.is_empty());
    }
}
