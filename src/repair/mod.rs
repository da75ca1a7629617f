//! Findings in, plan out.
