use super::*;
use RunState::{Cancelled, Complete, Error as Failed, ResolvedManually};

const NOW: Time = Time(1_800_000_000_000);
const DAY: u64 = 86_400_000;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[test]
fn every_kind_of_term_is_understood() {
    let check = |text: &str, wanted: RunFilter| assert_eq!(parse(text, NOW).unwrap(), wanted, "{text}");
    let of = |terms: &[Term]| RunFilter { terms: terms.to_vec(), ..RunFilter::default() };
    let states = |states: &[RunState]| RunFilter { states: states.to_vec(), ..RunFilter::default() };
    let label = |key: &str, value: &str| Term::Label(key.into(), value.into());
    check("", RunFilter::default());
    check("  ", RunFilter::default());
    check("state:failed", states(&[Failed]));
    check("STATE:Succeeded,cancelled", states(&[Complete, Cancelled, ResolvedManually]));
    check("state:complete", states(&[Complete]));
    check("state:ResolvedManually", states(&[ResolvedManually]));
    check("state:over -state:complete -state:error", states(&[Cancelled, ResolvedManually]));
    check("state:paused", of(&[Term::Paused]));
    check("state:Frozen state:failed", RunFilter { terms: vec![Term::Frozen], ..states(&[Failed]) });
    check("-state:frozen", RunFilter { not: vec![Term::Frozen], ..RunFilter::default() });
    check("flow:release by:ann namespace:ops", {
        of(&[Term::Flow(name("release")), Term::By(name("ann")), Term::Namespace(name("ops"))])
    });
    check("label.team=web label.Env:\"a b\"", of(&[label("team", "web"), label("Env", "a b")]));
    check("key:\"order 7\" label.x=a=b", of(&[Term::Key("order 7".into()), label("x", "a=b")]));
    check("flow=release state=failed", RunFilter { terms: vec![Term::Flow(name("release"))], ..states(&[Failed]) });
    check("Release k3f9", of(&[Term::Word("release".into()), Term::Word("k3f9".into())]));
    check("since:1d", RunFilter { since: Some(Time(NOW.0 - DAY)), ..RunFilter::default() });
    check("until:2027-01-15T08:00:00Z", RunFilter { until: Some(NOW), ..RunFilter::default() });
    check("since:2027-01-15", RunFilter { since: Some(Time(NOW.0 - DAY / 3)), ..RunFilter::default() });
    let not = vec![Term::Flow(name("x")), Term::Paused, label("team", "a"), Term::Word("beta".into())];
    check("-flow:x !state:paused -label.team=a -beta", RunFilter { not, ..RunFilter::default() });
}

#[test]
fn what_is_not_understood_is_refused_with_its_place_and_the_nearest_word() {
    for (text, at, says) in [
        ("flow:x stat:failed", 8, "did you mean `state:`?"),
        ("colour:red", 1, "there are `state:`, `flow:`"),
        ("state:faild", 1, "did you mean `failed`?"),
        ("x state:failed,complte", 3, "did you mean `complete`?"),
        ("state:nowhere-near", 1, "`succeeded`"),
        ("lable:x", 1, "`label.team=web`"),
        ("x labl.team=web", 3, "did you mean `label.team=`?"),
        ("Lable.team:web", 1, "did you mean `label.team=`?"),
        ("stat=failed", 1, "did you mean `state:`?"),
        ("team=web", 1, "and `label.KEY=`"),
        ("flow:a/../b", 1, "the name"),
        ("since:yesterday", 1, "a span such as `1d`"),
        ("-since:1d", 1, "write `until:` instead"),
        ("flow:", 1, "there is no value"),
        ("a -", 3, "there is no value"),
        ("é label.team=\"web", 3, "a quote is not closed"),
        ("id:zz", 1, "run id"),
        ("label.=x", 1, "a name cannot be empty"),
    ] {
        let error = parse(text, NOW).unwrap_err();
        assert_eq!(error.code, "bad_query", "{text}");
        let said = error.message;
        assert!(said.contains(&format!("at character {at} of")) && said.contains(says), "{text}: {said}");
    }
    let nothing = parse("state:failed state:complete", NOW).unwrap_err();
    assert!(nothing.message.contains("a comma means either"), "{nothing}");
}

#[test]
fn every_state_is_found_by_its_word_and_its_phase() {
    for state in RunState::ALL {
        assert_eq!(states_of(&own_word(state)), Some(vec![state]));
        assert!(states_of(state.phase().word()).unwrap().contains(&state));
    }
}
