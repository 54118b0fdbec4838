"""Executes cells of code, one after another in one namespace, as a notebook does.

Stdin is JSON: {"cells": [[name, code], …], "expressions": […]}. The last lines of stdout have the value of each
expression as JSON.
"""

import json
import linecache
import sys

asked = json.load(sys.stdin)
space = {"__name__": "__main__"}
for name, code in asked["cells"]:
    # So that tracebacks can show the line.
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    exec(compile(code, name, "exec"), space)
for expression in asked["expressions"]:
    print(json.dumps(eval(expression, space)))
