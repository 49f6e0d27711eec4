//! Tests of the words that command lines accept.

mod advice;
mod reference;
mod told;

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn the_definition_is_sound() {
    use clap::CommandFactory as _;
    Cli::command().debug_assert();
}

#[test]
fn a_wrong_line_tells_in_which_form_to_say_so() {
    let form = |line: &str| {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        asked_form(&words)
    };
    for line in [
        "gridbay -o json jobs",
        "gridbay job --format=json x",
        "gridbay x -ojson",
    ] {
        assert_eq!(form(line), Format::Json, "{line}");
    }
    for line in [
        "gridbay jobs",
        "gridbay run -n x -- prog -o json",
        "gridbay json -o",
    ] {
        assert_eq!(form(line), Format::Table, "{line}");
    }
}

/// Those of `gridbay appliance`.
const APPLIANCE: [&str; 13] = [
    "gridbay appliance list -o json",
    "gridbay appliance add attic 0123abcd",
    "gridbay appliance remove attic",
    "gridbay appliance key",
    "gridbay appliance status attic",
    "gridbay appliance earnings attic --limit 5 --json",
    "gridbay appliance set attic price 3.5",
    "gridbay appliance set attic hours 22:00-06:00",
    "gridbay appliance set attic sell default",
    "gridbay appliance drain attic",
    "gridbay appliance resume attic",
    "gridbay appliance update attic gridbay-update",
    "gridbay appliance log attic --lines 100",
];

/// Those for programs that use the API.
const INTERFACE: [&str; 4] = [
    "gridbay api openapi",
    "gridbay token create ci --scope trade --expires 30d",
    "gridbay token list -o json",
    "gridbay token revoke ci",
];
/// Those that show something, in all forms.
const SHOWN: [&str; 11] = [
    "gridbay run --dry-run -n 2 -- true",
    "gridbay bid amend 0123abcd --max-price 2.5 --dry-run",
    "gridbay offer set --class small -n 4 --reserve 1 --dry-run",
    "gridbay ledger transfer beta 5 --dry-run",
    "gridbay top",
    "gridbay version -o json",
    "gridbay status -o json",
    "gridbay status --watch",
    "gridbay job list -q --all --limit 5",
    "gridbay offer list -o wide",
    "gridbay ledger history -o csv",
];
/// Lines of those who keep the books.
const OPERATORS: [&str; 25] = [
    "gridbay init",
    "gridbay init --name ada --join invitation",
    "gridbay init --name ada --address /ip4/192.0.2.7/tcp/7411 --endowment 500",
    "gridbay ledger invoice --project bio --from 30d",
    "gridbay run --project bio -- prog",
    "gridbay project create bio --budget 100 --jobs 10 --nodes 32",
    "gridbay project create bio",
    "gridbay project list -o json",
    "gridbay project show bio",
    "gridbay project set bio --budget none --jobs 3",
    "gridbay project remove bio",
    "gridbay project member add bio ann --role manager",
    "gridbay project member remove bio ann",
    "gridbay user add ann",
    "gridbay user list",
    "gridbay user remove ann",
    "gridbay alerts list -o json",
    "gridbay alerts list --limit 5",
    "gridbay auction list --all --class small",
    "gridbay ledger history --all",
    "gridbay alerts test",
    "gridbay audit --since 7d -o json",
    "gridbay ledger statement --from 2026-11-01 --to 2026-12-01 -o csv",
    "gridbay ledger statement --from 30d --account beta -o json",
    "gridbay ledger invoice --from 2026-11-01T12:30 --to 2026-11-02",
];

/// Lines about bids, offers, the newest block, and the program itself.
const SHORT: [&str; 9] = [
    "gridbay completions zsh",
    "gridbay man pages",
    "gridbay config example",
    "gridbay bid list -o json",
    "gridbay bid amend 0123abcd --max-price 2.5 --budget 10",
    "gridbay bid cancel v2",
    "gridbay offer show 2f0c91aa",
    "gridbay ledger head -o json",
    "gridbay bid suggest -n 2 --chance 75 -t 30m --class small -o json",
];

#[test]
fn accepted_lines() {
    let own = [
        "gridbay run -n 4 --max-price 10 --time 30m -- ./program args",
        "gridbay run --nodes 4 --buy --budget 5 --class small --name x --detach prog -n 3",
        "gridbay run --reserve -n 4 --from 2h --until @900 --channel 1-8 --budget 5 prog",
        "gridbay offer set --class small --units 4 --reserve 0.5 --mechanism reservation",
        "gridbay run --input a --input b:c --output d --env A=1 -o json -- prog",
        "gridbay run --provider a --jobs 100 --value 2 --penalty 0.5 --hold 1h --decay 30m --alpha 1.5 --beta 2 --window 2h -t 10m -- prog",
        "gridbay run -n 4 --network -- prog",
        "gridbay run --internet --key own-key-1 -- prog",
        "gridbay cluster new -n 4 --internet --time 4h --max-price 2",
        "gridbay run -n 4 --network --relay-price 0.5 -- prog",
        "gridbay run -n 4 --mpi --no-relay -- prog",
        "gridbay run -n 4 --mpi -- ./ring 100",
        "gridbay run -n 4 --dask --name x -- python3 sum.py",
        "gridbay run -n 4 --forward 8080:rank0:80 -- python3 serve.py",
        "gridbay run -n 4 --hosts -- sh -c cat",
        "gridbay cluster new -n 4 --mpi --dask --time 4h --max-price 2",
        "gridbay contract list --all",
        "gridbay contract sign 0123",
        "gridbay job list --all -o json",
        "gridbay job show v2",
        "gridbay job wait v2 --timeout 30s",
        "gridbay ledger transfer beta 5 --key own-key-1",
        "gridbay auction show 0123",
        "gridbay job logs -f --rank 2 0123456789abcdef",
        "gridbay job get 0123abcd --dest x",
        "gridbay --data /d node up --set log=debug --set grace=1s",
        "gridbay node drain --data /d",
        "gridbay offer set --class small --units 4 --reserve 0.5 --buy 2 --notice 30",
        "gridbay offer set --class small -n 4 --reserve 1 --mechanism deadline --min-gain 0.8 --bond 1",
        "gridbay run --array 40 --time 2s --soft 30m --hard 2h --pay 5 --late-pay 1 --shape convex -- prog",
        "gridbay offer set --class small --units 4 --reserve 1 --mechanism share --cap 0.5 --alpha 8/16",
        "gridbay run --share --rate 5 --array 100 --weights cpu=2,memory=1 --utility log --time 10m -- prog",
        "gridbay run --share --rate 5 --array 3 -- prog",
        "gridbay auction list --class small --limit 5",
        "gridbay auction verify aa bb --genesis g.cbor",
        "gridbay doctor -o json",
        "gridbay web --scope read --open",
        "gridbay node resume",
        "gridbay node status --wait --timeout 5m",
        "gridbay invite --image invite.img --owner",
        "gridbay peer list -o json",
        "gridbay peer ping 12D3KooWabcd --count 3",
        "gridbay peer find 0123abcd",
        "gridbay peer connect /ip4/192.0.2.7/tcp/7411/p2p/12D3KooWabcd",
        "gridbay peer block ada",
        "gridbay peer unblock ada",
        "gridbay peer trust ada",
        "gridbay peer untrust ada",
        "gridbay invite --endowment 100 --valid 24h --out token",
        "gridbay invite --qr --file token --image invite.img",
        "gridbay found --member a.json b.json --class name=a name=b --policy local --out g.cbor",
        "gridbay found --members list.toml",
        "gridbay found member --name x --address /ip4/1.2.3.4/tcp/1 --no-validator",
        "gridbay ledger verify",
        "gridbay market solve --mechanism ausubel --cases a.json --check",
        "gridbay run --worth 20 --length 3h -n 4 --budget 30 -- prog",
        "gridbay market solve --cases - -o json",
    ];
    let more = INTERFACE
        .into_iter()
        .chain(SHOWN)
        .chain(SHORT)
        .chain(OPERATORS);
    for line in own.into_iter().chain(APPLIANCE).chain(more) {
        assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
    }
}

/// Lines about nodes of the owner's that make no sense.
const NOT_FOR_APPLIANCES: [&str; 6] = [
    "gridbay appliance",
    "gridbay appliance status",
    "gridbay appliance set attic price",
    "gridbay appliance set attic colour red",
    "gridbay appliance reset attic",
    "gridbay appliance update attic",
];

/// Refused lines of those who keep the books.
const NO_BOOKS: [&str; 6] = [
    "gridbay init --join a --address /ip4/192.0.2.7/tcp/7411",
    "gridbay init --endowment 5",
    "gridbay ledger statement --from yesterday",
    "gridbay ledger statement --from 2026-02-30",
    "gridbay ledger invoice -o yaml",
    "gridbay audit --since x",
];

#[test]
fn refused_lines() {
    let own = [
        "gridbay",
        "gridbay run",
        "gridbay run -n 0 prog",
        "gridbay run -n 2 --mpi --dask prog",
        "gridbay run --cluster 1 --internet prog",
        "gridbay run --cluster 1 --no-relay prog",
        "gridbay run --cluster 1 --name x prog",
        "gridbay run --cluster 1 --buy prog",
        "gridbay run --cluster 1 --share --rate 5 prog",
        "gridbay run --forward 8080 prog",
        "gridbay run --forward 8080:rank0:0 prog",
        "gridbay lease connect 0123 --forward 8080:rank0:0",
        "gridbay run --forward 8080:rank0:80 --detach prog",
        "gridbay run --cluster 0123abcd --forward 8080:rank0:80 prog",
        "gridbay bid suggest --chance 101",
        "gridbay bid amend 0123abcd",
        "gridbay run --worth 20 prog",
        "gridbay run --worth 20 --length 1h --max-price 3 prog",
        "gridbay run --worth 20 --length 1h --array 3 prog",
        "gridbay run -n 4 --array 4 prog",
        "gridbay run --reserve --buy prog",
        "gridbay offer set --class small --units 4 --reserve 0.5 --mechanism barter",
        "gridbay run --array 4 --buy prog",
        "gridbay run --time soon prog",
        "gridbay run --provider a --jobs 4 prog",
        "gridbay run --jobs 4 --value 1 prog",
        "gridbay run --provider a --jobs 5000 --value 1 prog",
        "gridbay run --provider a --jobs 4 --value 1 --buy prog",
        "gridbay run --provider a --jobs 4 --value 1 --beta 17 prog",
        "gridbay contract",
        "gridbay invite --owner",
        "gridbay peer",
        "gridbay peer ping",
        "gridbay peer ping ada --count 0",
        "gridbay run --max-price -1 prog",
        "gridbay run --max-price 0.0000001 prog",
        "gridbay job describe ..",
        "gridbay offer set --class small --units 0 --reserve 1",
        "gridbay offer set --class small --units 4 --reserve 1 --mechanism share --cap 2",
        "gridbay run --share prog",
        "gridbay run --rate 5 prog",
        "gridbay run --share --rate 5 --buy prog",
        "gridbay run --share --rate 5 --weights cpu prog",
        "gridbay ledger transfer .. 5",
        "gridbay run --hard 2h -- prog",
        "gridbay run --array 2 --soft 1h --hard 2h --pay 5 --late-pay 1 --buy -- prog",
        "gridbay run --shape convex -- prog",
        "gridbay run --posted --reserve -n 2 prog",
        "gridbay run --posted --wait 5s prog",
        "gridbay run --max-price 1 --rate 4 prog",
        "gridbay offer set --class small --units 1 --reserve 1 --mechanism deadline --bond 1.5",
        "gridbay auction verify",
        "gridbay node status --timeout 5m",
        "gridbay node up -o yaml",
        "gridbay job list -q -o json",
        "gridbay found member --name x",
        "gridbay market solve --check",
        "gridbay completions",
        "gridbay completions csh",
        "gridbay man",
    ];
    let more = NOT_FOR_APPLIANCES.into_iter().chain(NO_BOOKS);
    for line in own.into_iter().chain(more) {
        let error = parse(line).err();
        assert!(error.is_some_and(|e| e.use_stderr()), "{line}");
    }
}

#[test]
fn words_of_a_job_are_left_alone() {
    let cli = parse("gridbay run -n 2 prog --data /x -o json -- y").unwrap();
    assert_eq!(cli.global.data, None);
    match cli.command {
        Command::Run(args) => {
            assert_eq!(
                args.command,
                ["prog", "--data", "/x", "-o", "json", "--", "y"]
            );
        }
        other => panic!("{other:?}"),
    }
}
