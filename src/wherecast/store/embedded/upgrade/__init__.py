"""The upgrade of a directory of layout 1, which earlier versions wrote."""
