"""`python -m wherecast`: the command."""

from wherecast.cli import main

if __name__ == "__main__":
    main()
