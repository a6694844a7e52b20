//! The definition of a store: named checks, run on every implementation.
//!
//! A new store implements the two traits and [`Place`], and runs [`run`] in a test. What the checks do not
//! ask for, the engine may not rely on; a bug found in one store becomes a check for all of them.

mod commit;
mod control;
mod domain;
pub(crate) mod fixture;
mod keys;
mod listing;
mod marks;
mod reading;
mod removal;
mod rows;
mod search;
mod work;

use crate::{Domain, Projections, Stores};
use edgewise_core::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A place where one store lives. Opening it again, at once or later, finds what was committed there.
pub trait Place {
    /// Its ledger.
    type Ledger: Domain;
    /// Its projections.
    type Projections: Projections;

    /// One more handle on the store.
    fn open(&self) -> Result<Stores<Self::Ledger, Self::Projections>>;
}

/// One rule of a store.
pub struct Check<P> {
    /// The rule, as a sentence.
    pub name: &'static str,
    /// Panics if an empty place does not keep it.
    pub run: fn(&P),
}

/// Lists checks by their functions, so that none has a name that differs from what it does.
macro_rules! checks {
    ($($module:ident :: $check:ident),* $(,)?) => {
        vec![$(Check { name: stringify!($check), run: $module::$check::<P> }),*]
    };
}

/// All rules.
pub fn checks<P: Place>() -> Vec<Check<P>> {
    checks![
        commit::a_stream_that_does_not_exist_has_head_zero_and_no_records,
        commit::seqs_are_dense_and_the_head_follows_them,
        commit::a_commit_over_several_streams_is_all_there_in_order,
        commit::a_broken_guard_leaves_nothing_of_the_whole_commit,
        commit::a_guard_without_a_record_is_checked_too,
        commit::what_was_decided_on_the_whole_ledger_conflicts_with_whatever_came_in_between,
        commit::a_malformed_batch_is_refused_and_leaves_nothing,
        commit::a_commit_without_records_answers_with_the_tail,
        commit::the_same_run_id_under_two_tenants_is_two_streams,
        commit::two_handles_see_each_other_and_the_later_one_conflicts,
        commit::a_handle_that_wrote_before_conflicts_after_another_one_wrote,
        keys::a_taken_key_leaves_nothing_and_tells_its_owner,
        keys::a_broken_guard_is_told_before_a_taken_key,
        keys::the_same_key_in_another_workspace_is_free,
        keys::the_key_of_a_commit_that_failed_is_still_free,
        keys::a_plan_is_stored_once_and_read_back,
        reading::what_was_committed_is_there_after_reopening,
        reading::reading_a_stream_in_pages_gives_every_record_once,
        reading::reading_from_within_a_record_gives_that_record,
        reading::reading_all_streams_in_pages_follows_the_positions,
        reading::a_record_of_five_megabytes_comes_back_whole,
        reading::text_of_any_kind_comes_back_byte_for_byte,
        marks::a_freeze_mark_is_durable_until_it_is_taken_away,
        marks::nothing_is_appended_to_a_frozen_stream_by_anybody,
        marks::a_mark_changes_with_the_event_that_says_so,
        marks::a_mark_of_a_commit_that_does_not_land_is_not_there,
        marks::a_mark_needs_a_record_and_comes_once,
        marks::a_stream_that_does_not_exist_cannot_be_frozen,
        marks::runs_are_found_by_the_start_of_their_id,
        rows::every_field_of_every_row_comes_back,
        rows::one_task_is_read_without_the_others,
        rows::a_flush_from_another_seq_is_refused_whole,
        rows::a_row_written_again_replaces_the_first,
        rows::the_deadline_of_a_lease_only_moves_later,
        rows::what_is_not_in_a_change_stays_as_it_is,
        rows::what_goes_away_goes_before_what_comes,
        rows::a_malformed_flush_is_refused_whole,
        rows::the_watermark_moves_with_the_flush_and_never_back,
        rows::a_forgotten_run_can_be_written_anew_and_others_stay,
        rows::rows_of_the_same_run_id_under_two_tenants_are_apart,
        rows::rows_are_there_after_reopening,
        rows::two_handles_see_each_other_and_the_later_flush_is_refused,
        control::control_rows_come_back_and_change_one_by_one,
        control::a_control_flush_from_another_seq_is_refused_whole,
        control::control_rows_of_two_tenants_are_apart_and_can_be_forgotten,
        control::a_control_stream_is_a_stream_like_any_other,
        work::work_rows_come_back_and_change_one_by_one,
        work::a_work_flush_from_another_seq_is_refused_whole,
        work::work_rows_of_two_tenants_are_apart_and_can_be_forgotten,
        work::items_are_walked_in_their_order_and_no_further_than_asked,
        work::one_item_is_read_with_what_is_tied_to_it,
        work::the_notes_of_an_item_grow_in_order,
        listing::runs_are_listed_newest_first_by_flow_and_state,
        listing::waiting_tasks_timers_and_leases_are_listed_in_order,
        listing::a_plan_is_known_once_it_was_written,
        domain::what_was_published_is_read_back_in_order_and_once_for_each_id,
        domain::what_was_published_by_somebody_else_since_is_not_published_again,
        domain::queues_of_two_tenants_are_apart,
        domain::each_consumer_moves_on_by_itself_and_never_back,
        domain::only_what_is_old_and_acknowledged_by_all_is_taken_away,
        domain::documents_are_kept_by_key_until_they_are_taken_away,
        removal::a_stream_that_was_taken_away_is_not_found_and_the_others_stay,
        removal::a_stream_that_has_moved_on_is_left_as_it_is,
        removal::positions_go_on_behind_what_was_taken_away,
        removal::a_long_stream_is_given_back_in_steps_and_never_seen_in_part,
        removal::a_key_is_kept_as_long_as_was_said_and_then_free,
        removal::keys_of_the_work_graph_are_free_once_their_time_is_over,
        removal::rows_of_runs_that_are_gone_go_with_the_flush,
        search::a_search_finds_what_fits_and_nothing_else,
        search::pages_of_a_search_hold_every_run_once,
        search::a_run_is_found_by_what_it_has_come_to,
    ]
}

/// Runs every check, each on a fresh place, and panics with the names of those that failed.
pub fn run<P: Place>(fresh: impl Fn() -> P) {
    let failed: Vec<&str> = checks::<P>()
        .into_iter()
        .filter(|check| {
            let place = fresh();
            catch_unwind(AssertUnwindSafe(|| (check.run)(&place))).is_err()
        })
        .map(|check| check.name)
        .collect();
    assert!(failed.is_empty(), "not a store: {failed:#?}");
}
