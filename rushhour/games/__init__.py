"""Games: races, chases and the ground that they drive on. They use traffic as any user does; traffic knows nothing of them."""
