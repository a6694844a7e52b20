//! Webhooks: order, waits, dead letters, replay, and that one that hangs is nobody else's trouble.

use crate::stage::*;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::http::{Allowed, Http, Rules};
use edgewise_engine::webhook::{ATTEMPTS, Delivering, Hooks, Means, Reply, Secret, verify};
use edgewise_store::{Consumer, Document, Domain};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};

/// What was sent: the address, the headers, the body.
type Sent = (String, HashMap<&'static str, String>, String);

/// A world without a network: answers by address, and everything that was sent and waited for.
struct World {
    sent: mpsc::UnboundedReceiver<Sent>,
    waits: Arc<Mutex<Vec<Millis>>>,
    means: Means,
}

const NOW: Time = Time(1_700_000_000_000);
const LOOK: Millis = Millis(1_000);

impl World {
    /// `answer` says what comes back from an address; nothing if it never answers.
    fn new(queued: watch::Receiver<u64>, answer: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let (tell, sent) = mpsc::unbounded_channel();
        let waits: Arc<Mutex<Vec<Millis>>> = Arc::default();
        let noted = Arc::clone(&waits);
        let means = Means {
            clock: Arc::new(|| NOW),
            // Odd, so that no wait is as long as a look.
            dice: Arc::new(|| 1),
            sleep: Arc::new(move |span| {
                if span != LOOK {
                    noted.lock().unwrap().push(span);
                }
                Box::pin(tokio::task::yield_now())
            }),
            post: Arc::new(move |url, headers, body| {
                let reply = answer(&url);
                let _ = tell.send((url, headers.into_iter().collect(), body));
                Box::pin(async move {
                    match reply {
                        Some(reply) => reply,
                        None => std::future::pending().await,
                    }
                })
            }),
            queued,
        };
        Self { sent, waits, means }
    }

    async fn next(&mut self) -> Sent {
        within("a request", self.sent.recv()).await.unwrap()
    }
}

const FLOW: &str = "flow: f\npublish: [over]\ntasks: { a: { emit: one }, b: { after: a, emit: two } }";

fn add(hooks: &Hooks, url: &str, names: &[&str]) -> (String, Secret) {
    let names = names.iter().map(|n| name(n)).collect();
    let mut entropy = Entropy::from_system().unwrap();
    let (hook, secret) = hooks.add((name("f"), url.into()), names, &mut entropy, NOW).unwrap();
    (hook.id, secret)
}

fn type_of(sent: &Sent) -> String {
    serde_json::from_str::<serde_json::Value>(&sent.2).unwrap()["type"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_hook_is_told_in_order_what_it_wants_and_can_check_who_says_it() {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    let (_, secret) = add(&hooks, "https://a.example/h", &["one", "over"]);
    let engine = place.engine();
    let mut world = World::new(engine.listeners().watch_queues(), |_| Some(Reply::Status(204, None)));
    let delivering = Delivering::start(hooks, world.means.clone());
    let id = run(&engine, flow(FLOW)).await;
    end(&engine, id).await;
    for expected in ["one", "over"] {
        let sent = world.next().await;
        assert_eq!((sent.0.as_str(), type_of(&sent).as_str()), ("https://a.example/h", expected));
        let (id, seconds) = (sent.1["webhook-id"].as_str(), sent.1["webhook-timestamp"].parse().unwrap());
        verify(&secret, (id, seconds), &sent.2, &sent.1["webhook-signature"], NOW).unwrap();
        let late = verify(&secret, (id, seconds), &sent.2, &sent.1["webhook-signature"], NOW.plus(Millis(600_000)));
        assert_eq!(late.unwrap_err().code, "old_signature");
    }
    delivering.stop();
    engine.stop().unwrap();
}

#[tokio::test]
async fn a_secret_that_was_changed_is_used_beside_the_new_one_for_a_day() {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    let (id, old) = add(&hooks, "https://a.example/h", &["one"]);
    let engine = place.engine();
    let mut world = World::new(engine.listeners().watch_queues(), |_| Some(Reply::Status(204, None)));
    let now = Arc::new(Mutex::new(NOW));
    let clock = Arc::clone(&now);
    world.means.clock = Arc::new(move || *clock.lock().unwrap());
    // It is at work already when the secret is changed.
    let delivering = Delivering::start(hooks.clone(), world.means.clone());
    let mut fits = Vec::new();
    let mut new = old.clone();
    let day = Millis(24 * 3_600_000);
    for (rotated, at) in [(false, NOW), (true, NOW), (false, Time(NOW.plus(day).0 - 1)), (false, NOW.plus(day))] {
        *now.lock().unwrap() = at;
        if rotated {
            new = hooks.rotate(&id, &mut Entropy::from_system().unwrap(), at).unwrap();
        }
        let run = run(&engine, flow(FLOW)).await;
        end(&engine, run).await;
        let sent = world.next().await;
        let said = (sent.1["webhook-id"].as_str(), sent.1["webhook-timestamp"].parse().unwrap());
        let good = |secret: &Secret| verify(secret, said, &sent.2, &sent.1["webhook-signature"], at).is_ok();
        fits.push((good(&old), good(&new)));
    }
    assert_eq!(fits, [(true, true), (true, true), (true, true), (false, true)]);
    assert_ne!(old.text(), new.text());
    let nobody = hooks.rotate("nobody", &mut Entropy::from_system().unwrap(), NOW);
    assert_eq!(nobody.err().map(|error| error.code), Some("webhook_not_found"));
    delivering.stop();
    engine.stop().unwrap();
}

#[tokio::test]
async fn a_hook_that_hangs_delays_neither_a_run_nor_another_hook() {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    add(&hooks, "https://hangs.example/", &[]);
    add(&hooks, "https://good.example/", &[]);
    let engine = place.engine();
    let answer = |url: &str| (!url.contains("hangs")).then_some(Reply::Status(200, None));
    let mut world = World::new(engine.listeners().watch_queues(), answer);
    let delivering = Delivering::start(hooks, world.means.clone());
    for _ in 0..10 {
        let id = run(&engine, flow(FLOW)).await;
        end(&engine, id).await;
    }
    let (mut good, mut hangs) = (0, 0);
    while good < 30 {
        match world.next().await.0.as_str() {
            "https://good.example/" => good += 1,
            _ => hangs += 1,
        }
    }
    assert!(hangs <= 1, "one request hangs, and no second is made beside it");
    delivering.stop();
    engine.stop().unwrap();
}

#[tokio::test]
async fn what_is_never_taken_becomes_a_dead_letter_the_next_goes_on_and_a_replay_sends_it_again() {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    let (id, _) = add(&hooks, "https://a.example/", &["one", "two"]);
    let engine = place.engine();
    let broken = Arc::new(Mutex::new(true));
    let is_broken = Arc::clone(&broken);
    let answer = move |_: &str| Some(Reply::Status(if *is_broken.lock().unwrap() { 500 } else { 200 }, None));
    let mut world = World::new(engine.listeners().watch_queues(), answer);
    let delivering = Delivering::start(hooks.clone(), world.means.clone());
    let run = run(&engine, flow(FLOW)).await;
    end(&engine, run).await;
    for expected in ["one", "two"] {
        for _ in 0..ATTEMPTS {
            assert_eq!(type_of(&world.next().await), expected);
        }
    }
    let dead = loop {
        let dead = hooks.dead(&id).unwrap();
        if dead.len() == 2 {
            break dead;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(dead[0].why, "the answer was 500, after 10 attempts");
    let waits: Vec<u64> = world.waits.lock().unwrap().iter().map(|span| span.0).take(9).collect();
    assert!(waits.windows(2).all(|pair| pair[0] < pair[1] || pair[1] >= 1_800_000), "{waits:?}");
    *broken.lock().unwrap() = false;
    assert_eq!(hooks.replay(&id, None, NOW).unwrap().events, 2);
    for expected in ["one", "two"] {
        let again = world.next().await;
        assert_eq!(type_of(&again), expected);
        assert_eq!(again.1["webhook-id"], dead.iter().find(|letter| letter.name.as_str() == expected).unwrap().id);
    }
    while !hooks.dead(&id).unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let place_of_two = dead.iter().find(|letter| letter.name.as_str() == "two").unwrap().place;
    assert_eq!(hooks.replay(&id, Some((place_of_two, place_of_two)), NOW).unwrap().events, 1);
    assert_eq!(type_of(&world.next().await), "two");
    delivering.stop();
    engine.stop().unwrap();
}

#[tokio::test]
async fn a_hook_that_answers_410_is_switched_off_until_it_is_replayed() {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    let (id, _) = add(&hooks, "https://a.example/", &[]);
    let engine = place.engine();
    let mut world = World::new(engine.listeners().watch_queues(), |_| Some(Reply::Status(410, None)));
    let delivering = Delivering::start(hooks.clone(), world.means.clone());
    let run = run(&engine, flow(FLOW)).await;
    end(&engine, run).await;
    world.next().await;
    while hooks.list().unwrap()[0].off.is_none() {
        tokio::task::yield_now().await;
    }
    assert!(world.sent.try_recv().is_err(), "nothing more is sent");
    assert_eq!(hooks.list().unwrap()[0].place, 0, "it was told nothing");
    assert_eq!(place.ledger.clone().consumers(&space()).unwrap(), [], "the queue does not wait for it");
    assert_eq!(hooks.replay(&id, None, NOW).unwrap().events, 0);
    assert_eq!(hooks.list().unwrap()[0].off, None);
    assert_eq!(place.ledger.clone().consumers(&space()).unwrap().len(), 1, "and waits again");
    world.next().await;
    delivering.stop();
    engine.stop().unwrap();
}

/// A hook is taken away by its own target, just before that gives its last answer to the first event.
async fn taken_away_during_a_delivery(status: u16, attempts: u32) {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    let (id, _) = add(&hooks, "https://a.example/", &[]);
    let engine = place.engine();
    let run = run(&engine, flow(FLOW)).await;
    end(&engine, run).await;
    while place.queue("f").len() < 3 {
        tokio::task::yield_now().await;
    }
    let (removing, asked) = (hooks.clone(), AtomicU32::new(0));
    let answer = move |_: &str| {
        if asked.fetch_add(1, Ordering::Relaxed) + 1 == attempts {
            removing.remove(&id).unwrap();
        }
        Some(Reply::Status(status, None))
    };
    let mut world = World::new(engine.listeners().watch_queues(), answer);
    let looks = Arc::new(AtomicU32::new(0));
    let looked = Arc::clone(&looks);
    // Nobody looks a second time: whoever delivers is not stopped by that.
    world.means.sleep = Arc::new(move |span| {
        if span == LOOK {
            looked.fetch_add(1, Ordering::Relaxed);
            return Box::pin(std::future::pending());
        }
        Box::pin(tokio::task::yield_now())
    });
    let delivering = Delivering::start(hooks.clone(), world.means.clone());
    for _ in 0..attempts {
        world.next().await;
    }
    // It ends, or goes on until there is nothing more to deliver.
    let ended = async {
        while Arc::strong_count(&world.means.post) > 2 && looks.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
    };
    within("the delivery", ended).await;
    let mut ledger = place.ledger.clone();
    assert_eq!(ledger.consumers(&space()).unwrap(), [], "{status}");
    assert_eq!(ledger.kept(&space(), Document::Dead, "", 9).unwrap(), [], "{status}");
    delivering.stop();
    engine.stop().unwrap();
}

#[tokio::test]
async fn nothing_is_left_of_a_hook_that_was_taken_away_during_a_delivery() {
    taken_away_during_a_delivery(200, 1).await;
    taken_away_during_a_delivery(500, ATTEMPTS).await;
}

#[tokio::test]
async fn a_private_address_is_refused_unless_it_is_allowed() {
    let post = |http: Http| async move { http.post("http://127.0.0.1:9/", Vec::new(), String::new()).await };
    let Reply::Failed(why) = post(Http::new(Rules::default(), || NOW)).await else { panic!("it was sent") };
    assert!(why.contains("not a public address"), "{why}");
    let allowed = Rules { allow: vec![Allowed::parse("127.0.0.1").unwrap()] };
    let Reply::Failed(why) = post(Http::new(allowed, || NOW)).await else { panic!("somebody listens there") };
    assert!(!why.contains("not a public address"), "{why}");
}

#[test]
fn hooks_are_kept_without_showing_their_secret_and_bad_addresses_are_refused() {
    let place = Place::default();
    let hooks = Hooks::new(place.shelf());
    let (id, secret) = add(&hooks, "https://a.example/", &["one"]);
    let shown = serde_json::to_string(&Hooks::new(place.shelf()).list().unwrap()).unwrap();
    assert!(shown.contains(&id) && !shown.contains(&secret.text()) && !shown.contains("whsec"), "{shown}");
    let mut entropy = Entropy::from_seed([1; 32]);
    for bad in ["", "a.example", "ftp://a.example/", "https://", &format!("https://a/{}", "x".repeat(3_000))] {
        let refused = hooks.add((name("f"), bad.into()), Vec::new(), &mut entropy, NOW);
        assert_eq!(refused.err().map(|error| error.code), Some("bad_url"), "{bad}");
    }
    hooks.remove(&id).unwrap();
    assert!(hooks.list().unwrap().is_empty());
    assert_eq!(hooks.remove(&id).unwrap_err().code, "webhook_not_found");
}

#[test]
fn what_is_left_of_a_hook_that_is_gone_can_be_taken_away() {
    let place = Place::default();
    let (hooks, mut ledger) = (Hooks::new(place.shelf()), place.ledger.clone());
    let left = Consumer { namespace: name("f"), name: "webhook/gone".into(), place: 7, at: NOW };
    ledger.acknowledge(&space(), &left).unwrap();
    hooks.remove("gone").unwrap();
    assert_eq!(ledger.consumers(&space()).unwrap(), []);
    assert_eq!(hooks.remove("gone").unwrap_err().code, "webhook_not_found");
}
