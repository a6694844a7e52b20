//! More inline work than one event may do: the fold stops, wherever it is, and goes on as if it had not.

use edgewise_sim::program::{Outcome, check_long};

/// Reloaded at every act and in an engine, then by chance.
fn check(text: &str) {
    for seed in [0, 5] {
        match check_long(text, seed, 1_000_000) {
            Ok(outcome) => assert_eq!(outcome, Outcome::Played, "{text}"),
            Err(violation) => panic!("{violation}\nin\n{text}"),
        }
    }
}

#[test]
fn in_loops_within_loops() {
    check(
        "
flow t():
    total = 0
    for x in range(70):
        for y in range(70):
            if y > x:
                break
            total = total + 1
        if x % 30 == 9:
            @echo(v=total)
    return [x, y, total]
",
    );
}

#[test]
fn in_calls_and_what_catches_their_failures() {
    check(
        "
flow t():
    for x in [1, 0, 2]:
        try:
            a = f(x)
        except EvalError as e:
            a = e.type
            i = 0
            while i < 4000:
                i = i + 1
            raise Slow(a)
        @echo(v=a)

fn f(x):
    i = 0
    while i < 4000:
        i = i + 1
        if i == 3999:
            return 10 / x
",
    );
}

#[test]
fn in_several_arms_at_once() {
    check(
        "
flow t():
    xs = spread range(7):x -> f(x)
    a, b = parallel:
        f(3)
        @echo(v=xs)
    return [a, b]

fn f(x):
    total = 0
    for y in range(1500):
        total = total + y * x
    z = @echo(v=total)
    for y in range(1500):
        z = z + 1
    return z
",
    );
}

#[test]
fn in_a_spread_that_is_made_in_several_commits() {
    check(
        "
flow t():
    xs = spread range(10050):x -> f(x)
    return sum(xs)

fn f(x):
    return x
",
    );
}
