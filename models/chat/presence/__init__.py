"""Who is there: reported by clients every minute, read by those who may know each other."""
