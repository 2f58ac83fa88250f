"""Amazon's Simple Notification Service: whether a message is what it says it is."""
