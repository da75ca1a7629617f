//! Where records lie: homes and layouts of each agent, files, physical lines, liveness of a session.
