"""The embedded test chain: anvil, or py-evm if anvil is not installed."""
