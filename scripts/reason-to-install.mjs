/**
 * Why `npm ci` must run; undefined if it need not. Compares package-lock.json with npm's own record of installed
 * packages, node_modules/.package-lock.json. Optional packages may be absent, because they may be for other platforms.
 *
 * @param {{packages: Record<string, {version?: string, optional?: boolean}>}} wanted
 * @param {{packages: Record<string, {version?: string}>} | undefined} installed undefined: npm left no record
 * @returns {string | undefined} a clause
 */
export function reasonToInstall(wanted, installed) {
  if (!installed) return 'an earlier installation did not finish';
  for (const [path, entry] of Object.entries(wanted.packages)) {
    const found = installed.packages[path];
    if (path === '' || (!found && entry.optional)) continue;
    const name = path.replace(/^.*node_modules\//, '');
    if (!found) return `${name} is missing`;
    if (found.version !== entry.version) return `${name} is ${found.version} but should be ${entry.version}`;
  }
  return undefined;
}
