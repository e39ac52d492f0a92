"""`python -m overruler` is `overruler`."""

from overruler.apps.cli import main

raise SystemExit(main())
