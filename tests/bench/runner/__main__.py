"""Measures Mayfly beside other servers. See scripts/bench."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import command_line

if __name__ == "__main__":
    sys.exit(command_line.main(sys.argv[1:]))
