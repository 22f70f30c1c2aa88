"""Background workers: simple loops over steps such as `try_..._one() -> bool`."""
