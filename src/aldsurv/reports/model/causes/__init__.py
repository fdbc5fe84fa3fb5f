"""What a model's report says of several causes."""
