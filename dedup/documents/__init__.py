"""Reads documents that are not HTML: PDF, DOCX and ODT; knows no Scrapy."""
