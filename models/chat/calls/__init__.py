"""Authorization at the vendor of video calls."""
