"""The version, which records state; packaging and the front door read it here."""

VERSION = "0.1.0"
