"""The three executors: prompts, the ReAct agent, the semantic review, the release."""
