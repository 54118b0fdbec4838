// npm run package [-- [DIR] [--platform any|linux-x64|linux-arm64]…]: installs what is missing, then makes the
// artefacts (see package/main.mjs).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { install, node } from './install.mjs';

install();
const main = fileURLToPath(new URL('package/main.mjs', import.meta.url));
process.exitCode = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
