import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

/** An object of Kubernetes. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own fields, which its schema checks.
  [field: string]: any;
}

/** Folders that are applied by themselves, or that an overlay of the user's names. */
export const folders = [
  ...['base', 'gpu-nodes', 'cpu-nodes', 'sqlite', 'postgres', 'buckets', 'cpu', 'tls', 'monitoring', 'keda', 'kueue'],
  ...['parts/plan', 'parts/run', 'parts/merge'],
] as const;
export type Folder = (typeof folders)[number];

/** The objects of a folder, as `kubectl kustomize` prints them. */
export function printedBy(kubectl: string, folder: Folder): Manifest[] {
  const path = fileURLToPath(new URL(folder, import.meta.url));
  // Newer ones warn on stderr of names that older ones need.
  return parseManifests(execFileSync(kubectl, ['kustomize', path], { encoding: 'utf8', stdio: 'pipe' }));
}

export const parseManifests = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as Manifest;
  });

/** Manifests by kind and name, as the order in which they are printed differs by version. */
export const byName = (manifests: readonly Manifest[]): Record<string, Manifest> =>
  Object.fromEntries(manifests.map((each) => [`${each.kind} ${each.metadata.name}`, each]));
