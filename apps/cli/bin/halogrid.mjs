#!/usr/bin/env node
// Starts the program under the Node of the checkout's node_modules. It is plain JavaScript, because npx runs it with
// the Node that is installed.
import { launch } from './launch.mjs';

process.exitCode = await launch(process.argv.slice(2));
