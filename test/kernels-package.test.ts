import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { programLimitMs, within } from '@halogrid/testing';
import { build, type Metafile } from 'esbuild';
import type { Browser } from 'playwright-core';
import { bundleKernels, declareKernels, kernelsExport } from '../scripts/bundle-kernels.mjs';
import { openBrowser, openPage } from './browser.ts';
import { scratchFolder } from './scratch-folder.ts';

// `halogrid/kernels` in the npm package, as programs import it, and the examples of its page.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const folder = scratchFolder();
const installed = join(folder, 'node_modules/halogrid');
const manual = readFileSync(join(checkout, 'docs/kernels/javascript.md'), 'utf8');
/** The examples with that mark, written to files beside node_modules. */
const examples = (mark: string): string[] =>
  [...manual.matchAll(/^```(js.*)\n([\s\S]*?)^```$/gm)].flatMap(([, marked, code], i) => {
    if (marked !== mark) return [];
    const file = join(folder, `example-${i}.mjs`);
    writeFileSync(file, code!);
    return [file];
  });
let browser: Browser | undefined;

before(async () => {
  mkdirSync(installed, { recursive: true });
  await bundleKernels(installed);
  declareKernels(installed);
  const description = { name: 'halogrid', type: 'module', exports: { './kernels': kernelsExport } };
  writeFileSync(join(installed, 'package.json'), JSON.stringify(description));
  for (const name of ['sharp', 'webgpu']) {
    symlinkSync(join(checkout, 'node_modules', name), join(folder, 'node_modules', name));
  }
  symlinkSync(join(checkout, 'samples'), join(folder, 'samples'));
});
after(() => browser?.close());

async function run(program: string, args: string[]): Promise<string> {
  const ended = promisify(execFile)(program, args, { cwd: folder });
  return (await within(args.join(' '), ended, programLimitMs)).stdout;
}

/** Bundles a program for browsers, as users do. */
async function bundled(file: string): Promise<{ code: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    logLevel: 'silent',
    absWorkingDir: folder,
  });
  return { code: outputFiles[0]!.text, metafile };
}

test('the examples for Node.js print the shown output', async () => {
  const said = await Promise.all(examples('js').map((file) => run(process.execPath, [file])));
  assert.match(said[0]!, /^153600 codes, \d+ times 255\n$/);
  assert.equal(said[1], '18 labels\n');
});

test('the example for WebGPU computes in Node.js, and ends', async () => {
  const vulkan = new URL('../apps/gpu-node/src/devices/software-vulkan.ts', import.meta.url);
  const provide = `import { provideSoftwareVulkan } from '${vulkan}'; await provideSoftwareVulkan();`;
  const [file] = examples('js webgpu');
  const said = await run(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(provide)}`, file!]);
  assert.match(said, /^3844 pixels on swiftshader/i);
});

test('the bundled example for browsers counts the same as the example for Node.js', async () => {
  const [file] = examples('js browser');
  const { code, metafile } = await bundled(file!);
  assert.deepEqual(
    Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external)),
    [],
  );
  const host = await startServer((request, response) => {
    const page = '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="program.js"></script>';
    const files: Record<string, [type: string, content: string | Uint8Array]> = {
      '/': ['text/html', page],
      '/program.js': ['text/javascript', code],
      '/grass.png': ['image/png', readFileSync(join(folder, 'samples/images/grass.png'))],
    };
    const [type, content] = files[request.url!]!;
    response.setHeader('content-type', type);
    sendFile({ bytes: Buffer.from(content as string) }, request, response);
  });
  try {
    browser = await openBrowser();
    const { page, complaints } = await openPage(browser, host.origin);
    const expected = await run(process.execPath, [examples('js')[0]!]);
    await page.getByText(expected.trim()).waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await host.close();
  }
});

test('the module is one small file without imports', () => {
  const path = join(installed, kernelsExport.default);
  assert.doesNotMatch(readFileSync(path, 'utf8'), /\bnode:|\bimport\b\s*[({'"*\w]|import\.meta/);
  const limit = 160_000;
  assert.ok(statSync(path).size < limit, `${statSync(path).size} bytes are more than ${limit}`);
});

test('its types need no others, and refuse wrong calls', async () => {
  const program = join(folder, 'program.mts');
  writeFileSync(
    program,
    `import { conv, lbp, open, type Result } from 'halogrid/kernels';
const picture = new ImageData(2, 2);
const { map, histogram } = await lbp(picture, { points: 12, labels: 'uniform', device: await open({ on: 'auto' }) });
map.length;
const without: Result<false> = await conv({ data: new Uint16Array(9), width: 3, height: 3 }, { kernel: 'sobel', map: false });
const nothing: undefined = without.map;
histogram satisfies Uint32Array;
// @ts-expect-error: there is no such convention.
await lbp(picture, { convention: 'ours' });
// @ts-expect-error: a picture has a size.
await lbp({ data: new Uint8Array(9) });
export { nothing };
`,
  );
  const tsc = join(checkout, 'node_modules/.bin/tsc');
  const strict = [
    '--strict',
    '--noEmit',
    '--types',
    '',
    '--lib',
    'esnext,dom',
    '--target',
    'esnext',
    '--module',
    'nodenext',
  ];
  const { stdout } = await within(
    'the types',
    promisify(execFile)(tsc, [...strict, program], { cwd: folder }).catch((error: { stdout: string }) => error),
    programLimitMs,
  );
  assert.equal(stdout, '');
  assert.ok(statSync(join(installed, dirname(kernelsExport.types))).isDirectory());
});
