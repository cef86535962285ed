"""Road networks: the model, readers, generators and checks."""
