//! How records hang together: the graph, its heads and breaks, and each agent's own loader rule.
