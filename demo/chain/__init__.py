"""The embedded test chain: anvil, or py-evm where anvil is missing."""
