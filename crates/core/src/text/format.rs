//! stub
use crate::flow::Problems;
/// stub
pub fn format(_text: &str, _file: &str) -> Result<String, Problems> { Ok(String::new()) }
