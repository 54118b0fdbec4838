#!/usr/bin/env bash
# Prints the commit that a change is compared with; prints nothing in a checkout without main.
git rev-parse --verify --quiet origin/main || git rev-parse --verify --quiet main || true
