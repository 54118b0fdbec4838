import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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

  test(`${image}: it is built with the Node.js that the workspace pins, on the same Debian`, () => {
    const bases = new Set(all('FROM').map((from) => from.replace('--platform=$BUILDPLATFORM ', '').split(' ')[0]!));
    bases.delete('package');
    assert.deepEqual([...bases], [`node:${workspace.devDependencies.node}-bookworm-slim`, 'debian:bookworm-slim']);
  });

  test(`${image}: it runs as a user that is not root, given by number so that Kubernetes can check this`, () => {
    assert.deepEqual(all('USER'), ['65532:65532']);
  });

  test(`${image}: it starts the program by its launcher, which is also in the path`, () => {
    assert.deepEqual(all('ENTRYPOINT'), ['["halogrid"]']);
    assert.ok(all('RUN').some((line) => line.startsWith('ln -s /app/halogrid /usr/local/bin/halogrid ')));
  });

  test(`${image}: it has no FFmpeg unless that is asked for`, () => {
    assert.deepEqual(all('ARG'), ['TARGETARCH', 'FFMPEG=no']);
  });
}

test('only stages that make files run on the processor of the builder', () => {
  for (const image of images) {
    const stages = dockerfile(image).filter((line) => line.startsWith('FROM '));
    assert.match(stages[0]!, /^FROM --platform=\$BUILDPLATFORM node:\S+ AS package$/);
    assert.equal(stages.at(-1), 'FROM debian:bookworm-slim', 'of the processor that the image is for');
  }
});

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

test('both images begin with the same stage, which is built once', () => {
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
