"""Users as others see and name them."""
