"""An OpenAI-compatible HTTP server that plays the model, so that the real client path runs in tests."""
