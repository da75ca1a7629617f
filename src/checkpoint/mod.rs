//! The file layer: the index of snapshots, rebuilding a file at a snapshot, and the agent's own moves, predicted.
