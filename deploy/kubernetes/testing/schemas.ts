import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Manifest } from '../manifests.ts';

/** The packages that have the schemas of API groups other than Kubernetes' own. */
const packages: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
  'keda.sh': '@kubernetes-models/keda/',
};

const moduleOf = ({ apiVersion, kind }: Manifest): string => {
  const [group = ''] = apiVersion.split('/');
  return `${packages[group] ?? 'kubernetes-models/'}${apiVersion}/${kind}`;
};

/** What the schema of its kind refuses in a manifest, in a sentence; undefined if nothing. */
export async function whyInvalid(manifest: Manifest): Promise<string | undefined> {
  const { [manifest.kind]: Model } = await import(moduleOf(manifest));
  try {
    new Model(manifest).validate();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * What the compiler says about manifests as values of the types of their kinds. It finds fields that do not exist,
 * which the schemas allow and a cluster refuses.
 */
export function typeErrors(manifests: readonly Manifest[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-manifests-'));
  try {
    const modules = dirname(dirname(createRequire(import.meta.url).resolve('kubernetes-models/package.json')));
    symlinkSync(modules, join(folder, 'node_modules'));
    const lines = manifests.map((manifest, i) => {
      const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
      return `export const m${i}: ${type} = ${JSON.stringify(manifest)};`;
    });
    writeFileSync(join(folder, 'manifests.mts'), `${lines.join('\n')}\n`);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    const tsc = join(modules, 'typescript/bin/tsc');
    const { stdout, stderr } = spawnSync(process.execPath, [tsc, ...options, 'manifests.mts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return stdout + stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
