"""Reads pages: decodes, parses and extracts them, in other processes where possible."""
