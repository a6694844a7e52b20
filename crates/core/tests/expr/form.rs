//! Form.
