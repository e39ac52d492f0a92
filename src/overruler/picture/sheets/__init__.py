"""Sheets to print at true scale: marker cards, the lens sheet, the gauge sheet."""
