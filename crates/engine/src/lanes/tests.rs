//! Lanes: who meets whom, in which order.

use super::*;
use edgewise_core::rate::Rate;

const Q: QueueNo = QueueNo::DEFAULT;

fn offer(run: u128, task: u32) -> Offer {
    Offer { run: RunId(run), task: TaskIx(task), generation: 1, attempt: 1 }
}

fn plain(run: u128, task: u32) -> Waiting {
    Waiting { offer: offer(run, task), priority: 0, bound: None }
}

fn bound(run: u128, task: u32, key: &str) -> Waiting {
    let bound = Bound { key: key.into(), max: Some(1), rate: None::<Rate> };
    Waiting { bound: Some(Arc::new(bound)), ..plain(run, task) }
}

fn next(lanes: &mut Lanes) -> Option<(u128, u32, ClaimNo)> {
    lanes.next(|_| true).map(|m| (m.waiting.offer.run.0, m.waiting.offer.task.0, m.claim))
}

#[test]
fn a_run_that_is_offered_anew_after_every_failure_takes_no_more_room() {
    let mut lanes = Lanes::default();
    lanes.offer("a", Q, plain(2, 0));
    for _ in 0..100 {
        lanes.forget(&[RunId(1)]);
        (0..10).for_each(|task| lanes.offer("a", Q, plain(1, task)));
    }
    assert_eq!(lanes.lanes[0].line.len(), 11, "each task once, and the other run's too");
}

#[test]
fn a_claim_that_left_is_nowhere_even_if_it_named_a_lane_twice() {
    let mut lanes = Lanes::default();
    lanes.wait(1, ["a", "a", "b"].into_iter(), None);
    lanes.wait(2, ["a"].into_iter(), None);
    lanes.leave(1);
    lanes.offer("a", Q, plain(1, 0));
    lanes.offer("b", Q, plain(1, 1));
    assert_eq!(next(&mut lanes), Some((1, 0, 2)));
    assert_eq!(next(&mut lanes), None);
}

#[test]
fn a_claim_takes_from_queues_that_come_later_unless_it_named_some() {
    let mut lanes = Lanes::default();
    lanes.wait(1, ["a"].into_iter(), Some(vec![QueueNo(1)]));
    lanes.wait(2, ["a"].into_iter(), None);
    lanes.offer("a", QueueNo(2), plain(1, 0));
    lanes.offer("a", QueueNo(1), plain(1, 1));
    assert_eq!(next(&mut lanes), Some((1, 1, 1)));
    assert_eq!(next(&mut lanes), Some((1, 0, 2)), "the first claim does not take from queue 2");
}

#[test]
fn the_highest_priority_of_all_lanes_goes_first_and_equal_lanes_take_turns() {
    let mut lanes = Lanes::default();
    for n in 0..9 {
        lanes.wait(n, ["a", "b", "c"].into_iter(), None);
    }
    (0..2).for_each(|task| lanes.offer("a", Q, plain(1, task)));
    (2..4).for_each(|task| lanes.offer("b", Q, plain(1, task)));
    lanes.offer("c", Q, Waiting { priority: 7, ..plain(1, 9) });
    let order: Vec<u32> = std::iter::from_fn(|| next(&mut lanes)).map(|(_, task, _)| task).collect();
    assert_eq!(order, [9, 0, 2, 1, 3]);
}

#[test]
fn a_closed_queue_keeps_nobody_else_waiting() {
    let mut lanes = Lanes::default();
    lanes.wait(1, ["a"].into_iter(), None);
    lanes.offer("a", QueueNo(1), Waiting { priority: 9, ..plain(1, 0) });
    lanes.offer("a", Q, plain(1, 1));
    let found = lanes.next(|queue| queue == Q).map(|m| m.waiting.offer.task.0);
    assert_eq!(found, Some(1));
    assert!(lanes.next(|queue| queue == Q).is_none());
    assert_eq!(lanes.busy_queues().collect::<Vec<_>>(), [QueueNo(1)]);
}

#[test]
fn what_was_set_aside_comes_back_in_its_order_and_before_what_is_new() {
    let mut lanes = Lanes::default();
    lanes.wait(1, ["a"].into_iter(), None);
    (1..=3).for_each(|run| lanes.offer("a", Q, bound(run, 0, "k")));
    for _ in 0..3 {
        let found = lanes.next(|_| true).unwrap();
        lanes.set_aside(found);
    }
    assert!(next(&mut lanes).is_none() && lanes.is_aside("k"));
    lanes.offer("a", Q, plain(9, 0));
    lanes.offer("a", Q, bound(1, 0, "k"));
    lanes.rouse("k", 1);
    let woken = lanes.next(|_| true).unwrap();
    assert_eq!((woken.waiting.offer.run.0, woken.woken), (1, true));
    lanes.set_aside(woken);
    lanes.rouse("k", 1);
    assert_eq!(next(&mut lanes), Some((1, 0, 1)), "woken for nothing, it has kept its place");
    lanes.rouse("k", 5);
    assert_eq!(next(&mut lanes), Some((2, 0, 1)));
    assert_eq!(next(&mut lanes), Some((3, 0, 1)));
    assert_eq!(next(&mut lanes), Some((9, 0, 1)));
    assert_eq!(next(&mut lanes), None);
}

#[test]
fn a_wake_that_comes_to_nothing_is_passed_on() {
    let mut lanes = Lanes::default();
    lanes.wait(1, ["a"].into_iter(), None);
    (1..=4).for_each(|run| lanes.offer("a", Q, bound(run, 0, "k")));
    for _ in 0..4 {
        let found = lanes.next(|_| true).unwrap();
        lanes.set_aside(found);
    }
    lanes.rouse("k", 1);
    lanes.forget(&[RunId(1)]);
    let key = bound(2, 0, "k").bound.unwrap();
    lanes.withdraw("a", Q, Some(&key), offer(2, 0));
    assert_eq!(next(&mut lanes), Some((3, 0, 1)), "the first run is forgotten, the second waits no longer");
    assert!(lanes.is_aside("k"));
}

#[test]
fn a_task_that_no_worker_waits_for_keeps_its_key_from_nobody() {
    let mut lanes = Lanes::default();
    for (claim, action) in [(1, "a"), (2, "b")] {
        lanes.wait(claim, [action].into_iter(), None);
        lanes.offer(action, Q, bound(u128::from(claim), 0, "k"));
        let found = lanes.next(|_| true).unwrap();
        lanes.set_aside(found);
    }
    lanes.leave(1);
    lanes.rouse("k", 1);
    assert_eq!(next(&mut lanes), Some((2, 0, 2)));
}

#[test]
fn a_task_that_is_offered_again_stands_where_it_stood_as_the_attempt_it_is_now() {
    let again = || Waiting { offer: Offer { attempt: 2, ..offer(1, 0) }, ..bound(1, 0, "k") };
    for woken in [false, true] {
        let mut lanes = Lanes::default();
        lanes.wait(1, ["a"].into_iter(), None);
        lanes.offer("a", Q, bound(1, 0, "k"));
        let found = lanes.next(|_| true).unwrap();
        lanes.set_aside(found);
        (0..u32::from(woken)).for_each(|_| lanes.rouse("k", 1));
        lanes.offer("a", Q, again());
        lanes.rouse("k", 1);
        let found = lanes.next(|_| true).unwrap();
        assert_eq!((found.waiting.offer.attempt, found.woken), (2, true), "woken before: {woken}");
        assert!(lanes.next(|_| true).is_none() && lanes.aside_of(RunId(1)) == 0, "it stood there once");
    }
}
