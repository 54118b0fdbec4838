// node locked-folder.mjs NAME: prints the folder with the files of a package of package-lock.json, which comes from the
// registry if this machine is of another platform.
import { lockedAt } from './locked-packages.mjs';
import { packageFolder } from './package-folder.mjs';

const [, , name] = process.argv;
const locked = lockedAt(`node_modules/${name}`);
if (!locked) throw new Error(`Expected a package of package-lock.json but received '${name}'`);
console.log(await packageFolder(locked));
