"""All that decides no grade. The core never imports it."""
