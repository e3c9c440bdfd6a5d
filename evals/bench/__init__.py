"""Side-by-side load: the published moshi.server and this one, same weights, same load generator."""
