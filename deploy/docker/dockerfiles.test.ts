import assert from 'node:assert/strict';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCoordinatorConfig } from '../../apps/coordinator/src/config.ts';
import { defaultHttp } from '../../apps/gpu-node/src/config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const images = ['coordinator', 'gpu-node'];
const workspace = JSON.parse(read('package.json'));

function read(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8');
}

function dockerfile(image: string): string[] {
  return read(`deploy/docker/${image}.Dockerfile`).replaceAll('\\\n', ' ').split('\n');
}

for (const image of images) {
  const lines = dockerfile(image);
  const all = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1).trim());
  const copied = all('COPY')
    .filter((line) => !line.startsWith('--from'))
    .flatMap((line) => line.split(/\s+/).slice(0, -1));

  test(`${image}: Node.js is the version the workspace pins`, () => {
    for (const from of all('FROM'))
      assert.match(from, new RegExp(`^node:${workspace.devDependencies.node}-bookworm-slim`));
  });

  test(`${image}: it runs as a user that is not root, by number so that Kubernetes can tell`, () => {
    assert.deepEqual(all('USER'), ['65532:65532']);
  });

  test(`${image}: the dependencies see the package.json of every workspace`, () => {
    const manifests = globSync(
      workspace.workspaces.map((pattern: string) => `${pattern}/package.json`),
      { cwd: root },
    );
    assert.ok(manifests.length > 5);
    for (const manifest of manifests) assert.ok(copied.includes(manifest), `${manifest} is not copied`);
  });

  test(`${image}: it holds the licence, the notices and the texts of licences`, () => {
    for (const path of ['LICENSE', 'THIRD-PARTY-NOTICES.md', 'licenses']) assert.ok(copied.includes(path), path);
  });

  test(`${image}: all that is copied exists and is let through by the ignore file`, () => {
    const allowed = read(`deploy/docker/${image}.Dockerfile.dockerignore`).split('\n');
    assert.equal(
      allowed.find((line) => !line.startsWith('#')),
      '*',
    );
    for (const path of copied) {
      assert.ok(existsSync(`${root}/${path}`), `${path} is missing`);
      const through = allowed.some((line) => line === `!${path}` || path.startsWith(`${line.slice(1)}/`));
      assert.ok(through, `${path} is ignored`);
    }
  });

  test(`${image}: only production dependencies, only from the lock file`, () => {
    assert.ok(all('RUN').includes('npm ci --omit=dev --ignore-scripts'));
  });

  test(`${image}: it starts the program, which runs from its sources`, () => {
    assert.deepEqual(all('ENTRYPOINT'), ['["halogrid"]']);
    assert.ok(copied.includes('deploy/docker/halogrid'));
    accessSync(`${root}/deploy/docker/halogrid`, constants.X_OK);
    assert.match(read('deploy/docker/halogrid'), /^exec node \/app\/apps\/cli\/src\/main\.ts "\$@"$/m);
    assert.ok(existsSync(`${root}/apps/cli/src/main.ts`));
  });
}

test('images expose and probe the ports of their process', () => {
  const { listen, http } = createCoordinatorConfig();
  for (const [image, exposed, probed] of [
    ['coordinator', `${listen.port} ${http.port}`, http.port],
    ['gpu-node', `${defaultHttp.port}`, defaultHttp.port],
  ] as const) {
    const text = dockerfile(image).join('\n');
    assert.match(text, new RegExp(`^EXPOSE ${exposed}$`, 'm'));
    assert.match(text, new RegExp(`^HEALTHCHECK .*http://127\\.0\\.0\\.1:${probed}/readyz`, 'm'));
  }
});

test('both images share their dependencies, so that they are built and kept once', () => {
  const stages = images.map((image) => {
    const lines = dockerfile(image);
    return lines.slice(
      lines.findIndex((line) => line.startsWith('FROM')),
      lines.indexOf(''),
    );
  });
  assert.deepEqual(stages[0], stages[1]);
  const [first, second] = images.map((image) => read(`deploy/docker/${image}.Dockerfile.dockerignore`));
  assert.equal(first, second);
});

test("the node's image asks NVIDIA's toolkit for Vulkan and video, and has the libraries the driver loads", () => {
  const text = dockerfile('gpu-node').join('\n');
  const capabilities = /NVIDIA_DRIVER_CAPABILITIES=(\S+)/.exec(text)?.[1]?.split(',').sort();
  assert.deepEqual(capabilities, ['compute', 'graphics', 'utility', 'video']);
  for (const name of ['libvulkan1', 'libegl1', 'libxext6']) assert.match(text, new RegExp(`\\b${name}\\b`));
});
