"""Who is subscribed, in which version, over which span; and the indexes over shares of them."""
