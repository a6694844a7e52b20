//! A folder's work graph: whoever is its engine, many processes ask, and one of them gets the item.

use super::ground::{NOW, add, claim, name};
use edgewise_core::work::Filter;
use edgewise_engine::folder::{Options, Work};
use edgewise_engine::reader::Reader;
use edgewise_engine::work::{Look, Ops};
use edgewise_engine::{Door, Folder, Home};

fn options(dir: &tempfile::TempDir, listens: bool) -> Options {
    let work = Work { project: dir.path().to_owned(), slots: 1, http: Default::default(), secrets: Default::default() };
    Options { home: Home::local(), work: listens.then_some(work), background: false, queues: Default::default() }
}

fn ready() -> Look {
    Look::Ready { filter: Box::new(Filter { limit: Some(20), ..Filter::default() }), who: None }
}

async fn door(dir: &tempfile::TempDir, listens: bool) -> Door {
    Door::open(Folder::at(dir.path().join("data")), options(dir, listens)).await.unwrap()
}

#[tokio::test]
async fn of_sixteen_clients_of_a_folder_exactly_one_gets_the_item() {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = door(&dir, true).await;
    for round in 0..20 {
        let id = format!("ew-{round}");
        engine.work(Ops { ops: vec![add(&id)], by: name("ada"), key: None }).await.unwrap();
        let mut racers = tokio::task::JoinSet::new();
        for racer in 0..16 {
            let (mut door, id) = (door(&dir, false).await, id.clone());
            racers.spawn(async move {
                let key = Some(format!("{id}/{racer}"));
                let got = door.work(Ops { ops: vec![claim(&id)], by: name("ada"), key }).await;
                got.map_err(|error| error.code)
            });
        }
        let got = racers.join_all().await;
        assert_eq!(got.iter().filter(|got| got.is_ok()).count(), 1, "{got:?}");
        assert!(got.iter().all(|got| got.as_ref().is_ok_and(|_| true) || *got == Err("item_claimed")), "{got:?}");
    }
    engine.close().await.unwrap();
}

#[tokio::test]
async fn what_an_engine_left_is_read_off_the_folder_and_a_client_sees_what_the_engine_sees() {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = door(&dir, true).await;
    engine.work(Ops { ops: vec![add("ew-a"), add("ew-b")], by: name("ada"), key: None }).await.unwrap();
    let mut client = door(&dir, false).await;
    let seen = client.look(ready()).await.unwrap();
    assert_eq!(seen, engine.look(ready()).await.unwrap());
    assert_eq!(seen["items"].as_array().unwrap().len(), 2);
    let error = client.look(Look::Show { id: "ew-z".into() }).await.unwrap_err();
    assert_eq!(error.code, "item_not_found");
    engine.close().await.unwrap();
    let mut reader = Reader::open(&dir.path().join("data"), Home::local()).unwrap();
    let far = edgewise_core::time::Time(NOW.0 + 4_000_000_000_000);
    let shown = reader.look(far, &ready()).unwrap();
    let ids = |of: &serde_json::Value| -> Vec<String> {
        of["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&shown), ids(&seen));
}
