"""Services, and the work that they ask for."""
