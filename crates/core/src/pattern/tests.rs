use super::*;

fn check(pattern: &str, fits: &[&str], not: &[&str]) {
    let read = Pattern::parse(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
    for text in fits {
        assert!(read.is_match(text), "{pattern} fits {text:?}");
    }
    for text in not {
        assert!(!read.is_match(text), "{pattern} does not fit {text:?}");
    }
}

#[test]
fn a_pattern_fits_anywhere_unless_it_is_tied_to_the_ends() {
    check("b", &["b", "abc"], &["", "ac"]);
    check("^b", &["b", "bc"], &["ab", "a\nb"]);
    check("b$", &["b", "ab"], &["bc", "b\n"]);
    check("^$", &[""], &["a"]);
    check("", &["", "a"], &[]);
    check(r"\bfoo\b", &["foo", "a foo.", "(foo)"], &["food", "a_foo"]);
    check(r"\Boo", &["foo"], &["oo"]);
}

#[test]
fn ways_are_chosen_and_repeated() {
    check(r"^\d+\.\d+\.\d+$", &["1.2.3", "10.20.30"], &["1.2", "1.2.3-rc", "v1.2.3", "١.٢.٣"]);
    check("^(ab|a)c$", &["abc", "ac"], &["bc", "abac"]);
    check("^(?:a|b)*$", &["", "abba"], &["abc"]);
    check("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]);
    check("^a{2}b{1,}$", &["aab", "aabbb"], &["ab", "aa"]);
    check("^(a*)*$", &["", "aaaa"], &["b"]);
    check("^a??b+?$", &["ab", "bb"], &["a"]);
    check("^x|y$", &["xa", "ay"], &["ax", "ya"]);
}

#[test]
fn sets_are_of_characters_not_of_bytes() {
    check("^.$", &["ä", "😀"], &["", "ab", "\n"]);
    check("^[a-cä]+$", &["abcä"], &["d", "A"]);
    check(r"^[^\d,]$", &["x", "ö"], &["1", ","]);
    check(r"^[[:alpha:]_]\w*$", &["a1", "_x"], &["1a", "ä"]);
    check(r"^\S+@\S+$", &["a@b"], &["a b@", "@"]);
    check(r"^[^\W0-9]$", &["a", "_"], &["1", "-"]);
    check(r"^\x41\u{e4}\.$", &["Aä."], &["Aäx"]);
}

#[test]
fn what_cannot_be_bounded_or_is_not_there_is_refused_in_words() {
    for (pattern, why) in [
        ("(", "unclosed group"),
        ("a**b{", "repetition"),
        ("[b-a]", "range"),
        (r"(a)\1", "backreferences"),
        ("(?=a)", "look-around"),
        ("(?i)a", "flags"),
        ("(?i:a)", "flags"),
        (r"\pL", "name the characters"),
        (r"[\p{Greek}]", "name the characters"),
        ("[a&&b]", "combined"),
        ("a{1000}{1000}", "more than the 5000 parts"),
        ("(){1000}{1000}{1000}", "more than the 5000 parts"),
        ("((a{100}){100}){100}", "more than the 5000 parts"),
    ] {
        let found = Pattern::parse(pattern).expect_err(pattern);
        assert!(found.contains(why), "{pattern}: {found}");
    }
    assert!(Pattern::parse(&"a".repeat(limits::PATTERN_BYTES)).is_ok());
    assert!(Pattern::parse(&"a".repeat(limits::PATTERN_BYTES + 1)).unwrap_err().contains("at most"));
    assert!(Pattern::parse(&"(".repeat(900)).is_err(), "no stack is used up");
}

#[test]
fn patterns_that_are_slow_elsewhere_are_not() {
    // Trying one way after another would take longer than anybody waits.
    let text = "a".repeat(20_000);
    check("^(a+)+$", &[&text], &[&format!("{text}b")]);
    check("^(a|a|aa)*b$", &[], &[&text]);
    check("(a?){200}a{200}$", &[&text[..200]], &["b"]);
}
