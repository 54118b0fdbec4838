// Devices that search an index of histograms.
export { openGpuScan, type ScanKind, scanKinds, scanOn } from './open-scan.ts';
