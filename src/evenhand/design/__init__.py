"""What is asked of a judge before anything is sent: plans, prompts, calls, cost, and what a design can detect."""
