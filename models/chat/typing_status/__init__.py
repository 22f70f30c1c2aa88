"""Who is typing where: told to those who wait for it, and forgotten soon after."""
