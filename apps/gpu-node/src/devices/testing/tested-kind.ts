/** Suites of WebGPU run on SwiftShader, and on a real GPU with HALOGRID_TEST_DEVICE=gpu. */
export const testedKind = process.env.HALOGRID_TEST_DEVICE === 'gpu' ? 'gpu' : 'software';
