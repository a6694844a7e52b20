//! Which items are meant, as it is typed.

use super::moment::Moment;
use super::word::{SortWord, TypeWord, priority};
use clap::Args;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::Filter;

/// Which items are meant. Everything that is said must hold.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which items")]
pub struct Filters {
    /// Of these priorities, such as 1,2
    #[arg(long, value_name = "1..5", value_delimiter = ',', value_parser = priority)]
    pub priority: Vec<u8>,
    /// Whose it is to do
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    pub assignee: Option<Name>,
    /// Nobody's to do
    #[arg(long, conflicts_with = "assignee")]
    pub unassigned: bool,
    /// Who answers for it
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    pub owner: Option<Name>,
    /// Of these types
    #[arg(long = "type", value_enum, value_name = "TYPE", value_delimiter = ',')]
    pub task_type: Vec<TypeWord>,
    /// With all of these tags
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = Name::parse)]
    pub tag: Vec<Name>,
    /// With at least one of these tags
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = Name::parse)]
    pub any_tag: Vec<Name>,
    /// With none of these tags
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = Name::parse)]
    pub no_tag: Vec<Name>,
    /// Due before: 2027-01-31, or +3d
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub due_before: Option<Moment>,
    /// Directly below this item
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// Somewhere below this item
    #[arg(long, value_name = "ID", conflicts_with = "parent")]
    pub plan: Option<String>,
    /// Also what is in ephemeral instances
    #[arg(long)]
    pub ephemeral: bool,
    /// In which order
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = SortWord::Effective)]
    pub sort: SortWord,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub limit: Option<usize>,
}

impl Filters {
    /// What the core is asked for. `parent` and `plan` stay as they were typed.
    pub fn filter(&self, now: Time) -> Filter {
        Filter {
            priority: self.priority.iter().copied().collect(),
            assignee: self.assignee.clone(),
            unassigned: self.unassigned,
            owner: self.owner.clone(),
            task_type: self.task_type.iter().map(|word| (*word).into()).collect(),
            tags: self.tag.iter().cloned().collect(),
            any_tags: self.any_tag.iter().cloned().collect(),
            no_tags: self.no_tag.iter().cloned().collect(),
            due_before: self.due_before.map(|moment| moment.instant(now)),
            parent: self.parent.clone(),
            plan: self.plan.clone(),
            ephemeral: self.ephemeral,
            limit: self.limit,
            sort: self.sort.into(),
            ..Filter::default()
        }
    }
}
