//! How programs are laid out.

use super::{ETL, tree};
use edgewise_core::text::format;

fn formatted(text: &str) -> String {
    format(text, "a.flow").unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

/// Formats the body of a flow; what comes out stays as it is.
fn check(body: &str, expected: &str) {
    let indented = |text: &str| text.lines().map(|l| format!("    {l}\n").replace("    \n", "\n")).collect::<String>();
    let text = format!("flow f(a, b):\n{}    pass\n", indented(body));
    let found = formatted(&text);
    assert_eq!(found, format!("flow f(a, b):\n{}    pass\n", indented(expected)), "{body}");
    assert_eq!(formatted(&found), found, "{body}");
    assert_eq!(tree(&found), tree(&text), "{body}");
}

#[test]
fn a_program_that_is_laid_out_stays_as_it_is() {
    assert_eq!(formatted(ETL), ETL.trim_start());
}

#[test]
fn spaces_are_where_they_belong() {
    for (body, expected) in [
        ("x=1+2*-a", "x = 1 + 2 * -a\n"),
        ("x = ! a&&- b<- 1", "x = !a && -b < -1\n"),
        ("x = a . b [ 0 ] . c . size ( )", "x = a.b[0].c.size()\n"),
        ("x=[ 1 ,2 , - 3 ]+( a )", "x = [1, 2, -3] + (a)\n"),
        ("x={ 'k' :1 ,\"l\":a?b : - 1 }", "x = {'k': 1, \"l\": a ? b : -1}\n"),
        ("x=a ?b:1", "x = a ? b : 1\n"),
        ("x  ,y=[ 1,2 ]", "x, y = [1, 2]\n"),
        ("a+=1", "a += 1\n"),
        (
            "@x.y( v = 1 , w=a==b )[retry:3,backoff : 5s][ A,B->retry:1 ]",
            "@x.y(v=1, w=a == b) [retry: 3, backoff: 5s] [A, B -> retry: 1]\n",
        ),
        (
            "@x( )[publish:[ 'a' ,{ 'name':'b','condition' : 'failure' } ]]",
            "@x() [publish: ['a', {'name': 'b', 'condition': 'failure'}]]\n",
        ),
        ("spread a : x->@y ( v=x )[fail_fast]", "spread a:x -> @y(v=x) [fail_fast]\n"),
        ("spread a?a:[] : x->@y()", "spread a ? a : []:x -> @y()\n"),
        ("if(a)&&b :\n  return(a)", "if (a) && b:\n    return (a)\n"),
        ("for x in[1] :\n  sleep  1h", "for x in [1]:\n    sleep 1h\n"),
        ("x = a in[1]", "x = a in [1]\n"),
        (
            "try :\n  raise A( 'x' )\nexcept A ,B  as e :\n  raise",
            "try:\n    raise A('x')\nexcept A, B as e:\n    raise\n",
        ),
        ("x,y=parallel[fail_fast] :\n  @a( )\n  @b()", "x, y = parallel [fail_fast]:\n    @a()\n    @b()\n"),
        ("wait  approval( from = [ a,b ],count = 1 )", "wait approval(from=[a, b], count=1)\n"),
        ("x = a.map(y,y.if [ 0 ])", "x = a.map(y, y.if[0])\n"),
    ] {
        check(body, expected);
    }
    let header = "flow night/load-all( a:list ,b : int=- 1,c = 2 )[ retry : 2 ] :\n  pass\nfn f( ) :\n  pass";
    let expected = "flow night/load-all(a: list, b: int = -1, c=2) [retry: 2]:\n    pass\n\nfn f():\n    pass\n";
    assert_eq!(formatted(header), expected);
}

#[test]
fn empty_lines_are_kept_one_at_a_time() {
    let text = "\n\n# head\n\n\n# of f\nflow f():\n\n\n    x = 1\n\n\n    if x:\n\n        pass\n\n    else:\n        pass\n\n# of g\nfn g():\n    pass\nfn h():\n    pass\n\n\n";
    let expected = "# head\n\n# of f\nflow f():\n    x = 1\n\n    if x:\n        pass\n    else:\n        pass\n\n# of g\nfn g():\n    pass\n\nfn h():\n    pass\n";
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let text = "\
#!shebang
flow f():   # of f
  #of x
  x = 1     #trailing
  if x:
      # first
      pass
      # end of the if

  # end of the flow
     # still
# of g
fn g(): # of g, too
      # in g
  pass
# the end
";
    let expected = "\
#!shebang
flow f():  # of f
    # of x
    x = 1  # trailing
    if x:
        # first
        pass
        # end of the if

    # end of the flow
    # still

# of g
fn g():  # of g, too
    # in g
    pass

# the end
";
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[test]
fn long_lines_are_broken_at_brackets() {
    let long = "a_rather_long_name_of_a_value";
    for (body, expected) in [
        (
            format!("x = @load(first={long}, second={long}, third={long}) [retry: 3, backoff: 5s]"),
            format!("x = @load(\n    first={long},\n    second={long},\n    third={long}\n) [retry: 3, backoff: 5s]\n"),
        ),
        (
            format!("x = @load(v=[{long}, {long}, {long}, {{\"k\": {long}}}])"),
            format!(
                "x = @load(\n    v=[\n        {long},\n        {long},\n        {long},\n        {{\"k\": {long}}}\n    ]\n)\n"
            ),
        ),
        (
            format!("return {{\"a\": {long}, \"b\": {long}, \"c\": {long}}}"),
            format!("return {{\n    \"a\": {long},\n    \"b\": {long},\n    \"c\": {long}\n}}\n"),
        ),
        ("@load(a=1,\n)".into(), "@load(\n    a=1,\n)\n".into()),
        ("x = [1, 2,]".into(), "x = [\n    1,\n    2,\n]\n".into()),
        (format!("x = {long} + {long} + {long} + {long}"), format!("x = {long} + {long} + {long} + {long}\n")),
    ] {
        check(&body.replace(long, &format!("a.{long}")), &expected.replace(long, &format!("a.{long}")));
    }
}

#[test]
fn comments_within_brackets_keep_them_apart() {
    for (body, expected) in [
        (
            "x = @load(  # head\n  # own\n v=1, # one\n  w=[1, # deep\n 2], u=2 # two\n # last\n)",
            "x = @load(\n    # head\n    # own\n    v=1,  # one\n    w=[\n        1,  # deep\n        2\n    ],\n    u=2  # two\n    # last\n)\n",
        ),
        ("x = (a + # why\n b)", "x = (\n    # why\n    a + b\n)\n"),
        ("@load( # nothing\n)", "@load(\n    # nothing\n)\n"),
        (
            "@load(v=1 # before\n , # after\n w=2)  # end",
            "@load(\n    # before\n    v=1,  # after\n    w=2\n)  # end\n",
        ),
    ] {
        check(body, expected);
    }
}

#[test]
fn long_texts_are_not_touched() {
    check(
        "x = @load(v=\"\"\"one\n  two # three\n\"\"\"  ,w = 1)",
        "x = @load(v=\"\"\"one\n  two # three\n\"\"\", w=1)\n",
    );
}

#[test]
fn a_program_with_errors_is_not_formatted() {
    let problems = format("flow f():\n    x = (1\n", "a.flow").unwrap_err();
    assert_eq!((problems.file.as_str(), problems.list[0].code), ("a.flow", "open_bracket"));
    assert!(
        format("flow f():\n  unknown( 1 )\n", "a.flow").is_ok(),
        "what is only a wrong name has a layout all the same"
    );
}
