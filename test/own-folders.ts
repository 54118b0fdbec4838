import { fileURLToPath } from 'node:url';
import { scratchFolder } from './scratch-folder.ts';

// Gives programs of tests their own folders instead of the user's, for rates of runs, ledgers and strategies. Compiled
// code and SwiftShader, which take long to make and are always the same, are kept beside the packages for the next
// test.
process.env.XDG_CACHE_HOME = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
process.env.XDG_DATA_HOME = scratchFolder();
// Otherwise a halogrid.toml of the user would affect every test.
process.env.XDG_CONFIG_HOME = scratchFolder();
