"""What is counted and timed of the traffic. It changes nothing that anybody drives by."""
