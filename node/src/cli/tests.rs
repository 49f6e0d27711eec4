//! Tests of the words that command lines accept.

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

#[test]
fn accepted_lines() {
    for line in [
        "gridbay run -n 4 --max-price 10 --time 30m -- ./program args",
        "gridbay run --nodes 4 --buy --budget 5 --class small --name x --detach prog -n 3",
        "gridbay run --reserve -n 4 --from 2h --until @900 --channel 1-8 --budget 5 prog",
        "gridbay offer set --class small --units 4 --reserve 0.5 --mechanism reservation",
        "gridbay run --input a --input b:c --output d --env A=1 -o json -- prog",
        "gridbay run --provider a --jobs 100 --value 2 --penalty 0.5 --hold 1h --decay 30m --alpha 1.5 --beta 2 --window 2h -t 10m -- prog",
        "gridbay run -n 4 --network -- prog",
        "gridbay run --internet -- prog",
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
        "gridbay peer list -o json",
        "gridbay peer ping 12D3KooWabcd --count 3",
        "gridbay peer find 0123abcd",
        "gridbay peer connect /ip4/192.0.2.7/tcp/7411/p2p/12D3KooWabcd",
        "gridbay peer block ada",
        "gridbay peer unblock ada",
        "gridbay peer trust ada",
        "gridbay peer untrust ada",
        "gridbay invite --endowment 100 --valid 24h --out token",
        "gridbay invite --qr --file token --image floppy.img",
        "gridbay found --member a.json b.json --class name=a name=b --policy local --out g.cbor",
        "gridbay found --members list.toml",
        "gridbay found member --name x --address /ip4/1.2.3.4/tcp/1 --no-validator",
        "gridbay ledger verify",
        "gridbay market solve --mechanism ausubel --cases a.json --check",
        "gridbay run --worth 20 --length 3h -n 4 --budget 30 -- prog",
        "gridbay bid list -o json",
        "gridbay bid amend 0123abcd --max-price 2.5 --budget 10",
        "gridbay bid suggest -n 2 --chance 75 -t 30m --class small -o json",
        "gridbay market solve --cases - -o json",
    ] {
        assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
    }
}

#[test]
fn refused_lines() {
    for line in [
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
        "gridbay peer",
        "gridbay peer ping",
        "gridbay peer ping ada --count 0",
        "gridbay run --max-price -1 prog",
        "gridbay run --max-price 0.0000001 prog",
        "gridbay job describe ../x",
        "gridbay offer set --class small --units 0 --reserve 1",
        "gridbay offer set --class small --units 4 --reserve 1 --mechanism share --cap 2",
        "gridbay run --share prog",
        "gridbay run --rate 5 prog",
        "gridbay run --share --rate 5 --buy prog",
        "gridbay run --share --rate 5 --weights cpu prog",
        "gridbay ledger transfer 12 5",
        "gridbay run --hard 2h -- prog",
        "gridbay run --array 2 --soft 1h --hard 2h --pay 5 --late-pay 1 --buy -- prog",
        "gridbay run --shape convex -- prog",
        "gridbay run --posted --reserve -n 2 prog",
        "gridbay run --posted --wait 5s prog",
        "gridbay run --max-price 1 --rate 4 prog",
        "gridbay offer set --class small --units 1 --reserve 1 --mechanism deadline --bond 1.5",
        "gridbay auction verify",
        "gridbay node up -o yaml",
        "gridbay found member --name x",
        "gridbay market solve --check",
    ] {
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
