"""What a message is: who may read it, how clients see it, and how it is found."""
