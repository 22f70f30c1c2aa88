"""Organizations move from one installation to another while people use them."""
