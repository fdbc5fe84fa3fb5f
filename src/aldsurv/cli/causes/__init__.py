"""Events of several causes: how they are named, which one is asked for, how well each is predicted."""
