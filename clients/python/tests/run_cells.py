"""Executes cells of code, one after another in one namespace, as a notebook does; several notebooks one after another.

Stdin is JSON: [{"cells": [[name, code], …], "expressions": […]}, …]. The last lines of stdout have the values of the
expressions of each notebook as JSON.
"""

import json
import linecache
import sys

values = []
for notebook in json.load(sys.stdin):
    space = {"__name__": "__main__"}
    for name, code in notebook["cells"]:
        # So that tracebacks can show the line.
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        exec(compile(code, name, "exec"), space)
    values.append([eval(expression, space) for expression in notebook["expressions"]])
for value in values:
    print(json.dumps(value))
