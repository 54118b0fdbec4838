import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { resultsVersion, softwareVersion } from '@halogrid/service';

/** Packages with native code, whose version explains most of what may differ between two machines. */
const packages = [
  'webgpu',
  'sharp',
  '@julusian/jpeg-turbo',
  `@seydx/node-av-linux-${process.arch}`,
  '@sparticuz/chromium',
  '@grpc/grpc-js',
];

/** What is installed, by name; 'not installed' where it is not. */
export function installedVersions(): Record<string, string> {
  const found = packages.map((name) => [name, packageVersion(name)]);
  return {
    halogrid: softwareVersion,
    results: String(resultsVersion),
    node: process.version.slice(1),
    ...Object.fromEntries(found),
  };
}

function packageVersion(name: string): string {
  try {
    return JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, 'utf8')).version;
  } catch {
    return 'not installed';
  }
}
