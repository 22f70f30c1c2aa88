"""Web pages and downloads for browsers, in addition to the API."""
