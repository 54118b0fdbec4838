import { loadKoffi } from '@halogrid/threads/load-koffi';

/*
 * The libraries of NVIDIA's driver that are called to decode: libcuda, and libnvcuvid, which drives the decoding
 * engines (NVDEC). FFmpeg can call them as well, but it fetches colour that is not needed, does not ask for the status
 * of pictures, and takes 1.3 to 2 ms of a core for a frame of 1080p, while this takes 0.4 (measured on an H200: eight
 * processes give 4,090 frames/s, and 2,000 by way of FFmpeg).
 */

type Load = ReturnType<typeof loadKoffi>['load'];

/** Throws Error. */
function open(name: string, load: Load) {
  try {
    return load(name);
  } catch {
    throw new Error(`${name}, which comes with NVIDIA's driver, cannot be loaded`);
  }
}

/** The types of functions that the driver calls. */
export function calledByDriver() {
  const koffi = loadKoffi();
  return {
    sequence: koffi.proto('int NvdecSequence(uintptr_t user, uintptr_t format)'),
    decode: koffi.proto('int NvdecDecode(uintptr_t user, uintptr_t picture)'),
    display: koffi.proto('int NvdecDisplay(uintptr_t user, uintptr_t info)'),
  };
}

/** `load` loads a library. Throws Error if the machine lacks one. */
export function loadNvidiaDriver(load: Load = (name) => loadKoffi().load(name)) {
  const cuda = open('libcuda.so.1', load);
  const nvcuvid = open('libnvcuvid.so.1', load);
  return {
    called: calledByDriver(),
    init: cuda.func('int cuInit(unsigned int flags)'),
    deviceGet: cuda.func('int cuDeviceGet(void *device, int ordinal)'),
    setContextFlags: cuda.func('int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned int flags)'),
    retainContext: cuda.func('int cuDevicePrimaryCtxRetain(void *context, int device)'),
    setCurrent: cuda.func('int cuCtxSetCurrent(uintptr_t context)'),
    synchronize: cuda.func('int cuStreamSynchronize(uintptr_t stream)'),
    allocate: cuda.func('int cuMemAlloc_v2(void *address, size_t bytes)'),
    free: cuda.func('int cuMemFree_v2(uintptr_t address)'),
    register: cuda.func('int cuMemHostRegister_v2(uintptr_t address, size_t bytes, unsigned int flags)'),
    copyIn: cuda.func('int cuMemcpyHtoD_v2(uintptr_t to, void *from, size_t bytes)'),
    copyRows: cuda.func('int cuMemcpy2DAsync_v2(void *copy, uintptr_t stream)'),
    loadModule: cuda.func('int cuModuleLoadData(void *module, const char *text)'),
    getFunction: cuda.func('int cuModuleGetFunction(void *function, uintptr_t module, const char *name)'),
    launch: cuda.func(
      'int cuLaunchKernel(uintptr_t function, uint gridX, uint gridY, uint gridZ, uint blockX, uint blockY, uint blockZ, uint sharedBytes, uintptr_t stream, void *parameters, uintptr_t extra)',
    ),
    capabilities: nvcuvid.func('int cuvidGetDecoderCaps(void *caps)'),
    createDecoder: nvcuvid.func('int cuvidCreateDecoder(void *decoder, void *info)'),
    destroyDecoder: nvcuvid.func('int cuvidDestroyDecoder(uintptr_t decoder)'),
    decodePicture: nvcuvid.func('int cuvidDecodePicture(uintptr_t decoder, uintptr_t picture)'),
    decodeStatus: nvcuvid.func('int cuvidGetDecodeStatus(uintptr_t decoder, int surface, void *status)'),
    map: nvcuvid.func(
      'int cuvidMapVideoFrame64(uintptr_t decoder, int surface, void *address, void *pitch, void *parameters)',
    ),
    unmap: nvcuvid.func('int cuvidUnmapVideoFrame64(uintptr_t decoder, uint64_t address)'),
    createParser: nvcuvid.func('int cuvidCreateVideoParser(void *parser, void *parameters)'),
    parse: nvcuvid.func('int cuvidParseVideoData(uintptr_t parser, void *packet)'),
    destroyParser: nvcuvid.func('int cuvidDestroyVideoParser(uintptr_t parser)'),
  };
}

export type NvidiaDriver = ReturnType<typeof loadNvidiaDriver>;

/** Throws Error for a code that is not success. */
export function check(code: number, what: string): void {
  if (code !== 0) throw new Error(`NVIDIA's driver fails to ${what} (error ${code})`);
}
