"""NovelLaw: laws recombined from four components, outside the initial library."""
