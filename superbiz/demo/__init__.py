"""The demo: private services, sample data, accounts, and a model that needs no network."""
