import { fileURLToPath } from 'node:url';
import { scratchFolder } from './scratch-folder.ts';

// What programs of tests keep is not the user's: rates of runs, ledgers, strategies. What takes long to make and is
// always the same, compiled code and SwiftShader, is kept beside the packages that it is made of, for the next test.
process.env.XDG_CACHE_HOME = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
process.env.XDG_DATA_HOME = scratchFolder();
// A halogrid.toml of the user would have a say in every test.
process.env.XDG_CONFIG_HOME = scratchFolder();
