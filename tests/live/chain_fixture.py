"""A real local chain for tests: anvil on a free port with the token deployed.

Use it by `from tests.live.chain_fixture import ...` through `pytest_plugins`, or start one by hand with
`running_anvil()`. Anvil is looked for as the product does (`SPECD_ANVIL`, PATH, node_modules).
"""
