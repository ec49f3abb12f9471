"""What the end-to-end tests stand on: a scripted provider, a raw client, and Turnpike as a process.

Standard library only.  Nothing in here sends a request again by itself, and every wait has an end.
"""
