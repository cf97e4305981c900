"""Runtime verification's warnings and slowness propagation graphs, read, merged and drawn."""
