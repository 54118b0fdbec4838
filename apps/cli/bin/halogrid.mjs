#!/usr/bin/env node
// Plain JavaScript, because npx runs it with whatever Node is installed: starts the program under the Node of the
// checkout's node_modules.
import { launch } from './launch.mjs';

process.exitCode = await launch(process.argv.slice(2));
