"""`kit release students`: the kit that students get."""
