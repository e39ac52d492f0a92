"""Marker corners against an exact truth: pictures of markers, our fit and OpenCV's, and what is counted."""
