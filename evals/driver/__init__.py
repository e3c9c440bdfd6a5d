"""Plays scenarios to a server over the Live wire and records both sides at the user's ear.

    hearing      is the agent speaking?                            pure
    cues         what the user says next, and when                 pure
    playout      when the agent's audio is heard                   pure
    annotations  what was staged, exactly                          pure
    converse     one conversation over a session                   moves messages
    folder       what a conversation leaves on disk
    batch        many conversations, some at once, each counted

Refuses to know the server's internals: it comes in by the front door.
"""
