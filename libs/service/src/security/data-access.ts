import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { UsageError } from '../usage-error.ts';

export interface DataAccessOptions {
  /** Folders that sources and outputs must lie in, and s3: URIs of prefixes that outputs in buckets must lie in. */
  dataRoot?: string[];
  /** Hosts of http: and https: sources: NAME, *.NAME or *. An item may hold several, separated by commas. */
  allowHost?: string[];
}

/** What jobs may read and write; undefined: everything that the process may. */
export interface DataAccess {
  /** Real paths. */
  roots: string[] | undefined;
  /** The prefixes of buckets, as they are given; undefined without roots. */
  prefixes?: string[];
  hosts: string[] | undefined;
}

/** Reads and checks --data-root and --allow-host. Throws UsageError. */
export function createDataAccess({ dataRoot, allowHost }: DataAccessOptions): DataAccess {
  return {
    roots: dataRoot?.filter((root) => !isPrefix(root)).map((path) => realFolder('--data-root', path)),
    prefixes: dataRoot?.filter(isPrefix),
    hosts: allowHost?.flatMap((item) => item.split(',')).map(hostPattern),
  };
}

const isPrefix = (root: string): boolean => /^s3:\/\//i.test(root);

/**
 * Real paths of folders by their names; a folder may be missing. Throws UsageError, which names the option, also if two
 * names are equal.
 */
export function namedFolders(option: string, paths: readonly string[]): Map<string, string> {
  const folders = new Map<string, string>();
  for (const path of paths) {
    // It may be made later.
    const folder = existsSync(path) ? realFolder(option, path) : resolve(path);
    const name = basename(resolve(path));
    if (folders.has(name)) {
      throw new UsageError(`Expected folders of different names for ${option} but received '${name}' twice`);
    }
    folders.set(name, folder);
  }
  return folders;
}

function realFolder(option: string, path: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw new UsageError(
      `Expected a folder for ${option} but '${path}' cannot be reached: ${(error as Error).message}`,
    );
  }
  throw new UsageError(`Expected a folder for ${option} but '${path}' is not one`);
}

function hostPattern(text: string): string {
  const name = text.trim().toLowerCase();
  // Brackets enclose an IPv6 address.
  if (/^(\*|(\*\.)?[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/.test(name)) return name;
  throw new UsageError(`Expected HOST, *.HOST or * for --allow-host but received '${text}'`);
}
