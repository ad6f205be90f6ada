"""Langford & Zadrozny (2005): published numbers, and Weka's SMO on jittered weights."""
