"""Programs and plots that several rooms use. It imports no other room."""
