import { writeFileSync } from 'node:fs';
import { workspace } from './locked-packages.mjs';

/**
 * Writes the list of packages in an artefact, as CycloneDX 1.6 in JSON.
 *
 * @param {string} file
 * @param {readonly import('./locked-packages.mjs').LockedPackage[]} packages
 */
export function writeBillOfMaterials(file, packages) {
  const components = packages.map(describe).sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const { version, license } = workspace;
  const halogrid = { type: 'application', ...describe({ name: 'halogrid', version, license }) };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: halogrid },
    components,
  };
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
}

/** A package may be there several times; its reference says in which place. */
function describe({ name, version, license, integrity, place }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': place ?? purl,
    name,
    version,
    purl,
    ...(license && { licenses: [{ expression: license }] }),
    ...(integrity && { hashes: [hashOf(integrity)] }),
  };
}

/** npm's checksum of the package's tarball. */
function hashOf(integrity) {
  const [algorithm, base64] = integrity.split('-');
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(base64, 'base64').toString('hex') };
}
