// Which files of the packages beside the bundle go into each platform's tarball.

/** The platforms with tarballs, by npm's names for operating system, processor and C library. */
export const platforms = {
  'linux-x64': { os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', libc: 'glibc' },
};

/** Whether SwiftShader is available for a platform. */
export const hasSoftwareDevice = (platform) => platform === 'linux-x64';

/**
 * Which parts are kept of packages that hold sources or code for every platform: beginnings of paths, and the
 * dependencies that are loaded.
 */
const trimmed = {
  webgpu: (platform) => ({ files: ['index.js', `dist/${platform}/`], uses: () => false }),
  '@julusian/jpeg-turbo': (platform) => ({
    files: [`prebuilds/jpeg-turbo-${platform}/libturbojpeg.so.0`],
    uses: () => false,
  }),
  koffi: (platform) => ({
    files: ['index.', 'indirect.', 'src/koffi/'],
    uses: (name) => name === `@koromix/koffi-${platform}`,
  }),
  protobufjs: () => ({
    files: ['index.js', 'light.js', 'minimal.js', 'ext/', 'google/', 'src/'],
    uses: (name) => name !== '@types/node',
  }),
  '@grpc/proto-loader': () => ({ files: ['build/src/'], uses: (name) => name !== 'yargs' }),
  '@koromix/koffi-linux-x64': () => ({ files: ['index.js', 'linux_x64/'] }),
  '@koromix/koffi-linux-arm64': () => ({ files: ['index.js', 'linux_arm64/'] }),
};

const isAlwaysKept = /^(package\.json|licen[cs]e[^/]*)$/i;
/** Files that are not needed at run time. */
const isLeftOut = /\.(d\.[cm]?ts|map|cc|hh|h|inc|S|asm)$/;

/** Whether a file of a package, by its path in the package, is for the platform. */
export function isFileOf(name, path, platform) {
  if (isAlwaysKept.test(path)) return true;
  const { files } = trimmed[name]?.(platform) ?? {};
  return !isLeftOut.test(path) && (files?.some((start) => path.startsWith(start)) ?? true);
}

/** Whether a package loads a dependency. */
export const usesDependency = (name, dependency, platform) => {
  const { uses } = trimmed[name]?.(platform) ?? {};
  return uses?.(dependency) ?? true;
};

/** Whether a locked package is for the platform. */
export function isForPlatform({ os, cpu, libc }, platform) {
  const wanted = platforms[platform];
  const fits = (list, value) => list === undefined || list.includes(value);
  return fits(os, wanted.os) && fits(cpu, wanted.cpu) && fits(libc, wanted.libc);
}
