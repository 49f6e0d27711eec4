use super::*;
use clap::Parser as _;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    run: RunArgs,
}

fn plan(words: &[&str]) -> Result<Plan, CliError> {
    let words = std::iter::once(&"run").chain(words);
    Plan::new(&Line::try_parse_from(words).unwrap().run)
}

/// The relative path of a file.
fn from_here_to(file: &Path) -> String {
    let up = "../".repeat(std::env::current_dir().unwrap().components().count() - 1);
    format!("{up}{}", file.to_str().unwrap().trim_start_matches('/'))
}

#[test]
fn files_among_the_arguments_that_stay_here_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("train.py");
    fs::write(&script, "").unwrap();
    let script = from_here_to(&script);
    let told = plan(&["--", "python3", &script, "-v"]).unwrap().whose();
    let stays = format!("{script} is not brought along: --input {script}");
    assert!(told.ends_with(&stays), "{told}");
    let named = format!("{script}:train.py");
    let told = plan(&["--input", &named, "--", "python3", "train.py"]).unwrap();
    assert_eq!(told.whose(), "python3 is the seller's program");
}

#[test]
fn a_local_program_comes_along() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("count");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let refused = self::plan(&["--", &from_here_to(&program)]).err().unwrap();
    assert!(refused.next.contains("chmod +x"), "{refused:?}");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = self::plan(&["--", &from_here_to(dir.path())]);
    assert!(folder.err().unwrap().why.contains("is a folder"));
    let data = dir.path().join("data");
    fs::create_dir_all(data.join("deep")).unwrap();
    fs::write(data.join("deep/a.txt"), "a").unwrap();
    let from_here = from_here_to(&program);
    let program = program.to_str().unwrap();
    let data = data.to_str().unwrap();
    let plan = plan(&["--input", data, "--", &from_here, "-x"]).unwrap();
    assert_eq!(plan.argv, ["./count", "-x"]);
    let names: Vec<_> = plan.files.keys().map(String::as_str).collect();
    assert_eq!(names, ["count", "data/deep/a.txt"]);
    assert!(plan.whose().ends_with("is brought along from this machine"));
    for sellers in ["/no/such/java", "/bin/sh", "java"] {
        let plan = self::plan(&["--", sellers]).unwrap();
        assert_eq!((plan.argv[0].as_str(), plan.files.len()), (sellers, 0));
        assert_eq!(plan.whose(), format!("{sellers} is the seller's program"));
    }
    let absolute = self::plan(&["--", program]).unwrap();
    assert_eq!(
        (absolute.argv[0].as_str(), absolute.files.len()),
        (program, 0)
    );
    assert!(
        absolute
            .whose()
            .contains("here is brought along by --input")
    );
    let input = format!("{program}:bin/tool");
    for named in ["./bin/tool", "bin/tool"] {
        let plan = self::plan(&["--input", &input, "--", named]).unwrap();
        assert_eq!(plan.argv, [named], "it is among the inputs already");
        assert_eq!(plan.files.len(), 1);
    }
}

#[test]
fn progress_is_kept_as_told() {
    let kept = |words: &[&str]| plan(words).unwrap().checkpoint;
    assert_eq!(kept(&["true"]), None);
    let usual = kept(&["--checkpoint", "./ckpt/", "true"]).unwrap();
    assert_eq!(usual.folder, "ckpt");
    assert_eq!((usual.grace_seconds, usual.every_seconds), (20, 300));
    let words = [
        "--checkpoint",
        "c",
        "--grace",
        "90s",
        "--every",
        "1h",
        "true",
    ];
    let told = kept(&words).unwrap();
    assert_eq!((told.grace_seconds, told.every_seconds), (90, 3_600));
}

#[test]
fn mistakes_are_found_before_anything_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    fs::write(&file, "x").unwrap();
    let file = file.to_str().unwrap();
    for (words, says) in [
        (vec!["--output", "../x", "true"], "leaves the job's folder"),
        (
            vec!["--output", "/etc/x", "true"],
            "leaves the job's folder",
        ),
        (vec!["--env", "=x", "true"], "no NAME=VALUE"),
        (vec!["--env", "x", "true"], "no NAME=VALUE"),
        (vec!["--input", "no-such-file", "true"], "no-such-file"),
        (vec!["./no-such-program"], "no-such-program"),
        (vec!["--input", file, "--input", file, "true"], "two inputs"),
        (
            vec!["--checkpoint", "../x", "true"],
            "leaves the job's folder",
        ),
        (
            vec!["--checkpoint", "f/x", "--input", file, "true"],
            "an input lies there",
        ),
        (
            vec!["--checkpoint", "c", "--grace", "11m", "true"],
            "--grace is not within 1 to 600",
        ),
        (
            vec!["--checkpoint", "c", "--every", "2d", "true"],
            "--every is not within",
        ),
    ] {
        let error = plan(&words).err().unwrap();
        assert!(error.why.contains(says), "{words:?}: {error}");
    }
    let renamed = format!("{file}:g/h");
    let plan = plan(&["--input", file, "--input", &renamed, "true"]).unwrap();
    assert_eq!(plan.files.keys().collect::<Vec<_>>(), ["f", "g/h"]);
}
