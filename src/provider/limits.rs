//! Limits of Anthropic's API on a request, each with its source.

/// The most characters in the name of a tool that is called: "tool_use.name: String should have at most 200 characters",
/// quoted in public reports of 2026.
pub const TOOL_NAME: usize = 200;

/// The most characters in the name that a `tool_reference` gives: "tool_reference.tool_name: String should have at most 64
/// characters", quoted in public reports of 2026.
pub const REFERENCE_NAME: usize = 64;
