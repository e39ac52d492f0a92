"""What the rim finder is trained on: small scenes of bases and of what looks like one, drawn and photographed."""
