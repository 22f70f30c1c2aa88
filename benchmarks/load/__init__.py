"""Starting servers, loading them with wrk and tabulating what came back. Knows no operation."""
