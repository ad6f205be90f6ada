"""Tables, figures and web pages of a results folder."""
