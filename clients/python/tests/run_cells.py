"""Executes cells of code, one after another in one namespace, as a notebook does, and prints what expressions come to then.

Stdin is JSON: {"cells": [[name, code], …], "expressions": […]}. Stdout is a line of JSON for each expression, the last lines of it.
"""

import json
import linecache
import sys

asked = json.load(sys.stdin)
space = {"__name__": "__main__"}
for name, code in asked["cells"]:
    # Tracebacks show the line.
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    exec(compile(code, name, "exec"), space)
for expression in asked["expressions"]:
    print(json.dumps(eval(expression, space)))
