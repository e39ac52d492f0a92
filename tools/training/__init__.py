"""What the trainers of all networks share: batches drawn beside the one that learns, and the loop that learns."""
