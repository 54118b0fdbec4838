export { CaptureOptionsError } from './capture-options-error.ts';
export {
  type Capture,
  type CapturedInput,
  type CaptureOptions,
  type CaptureOrigin,
  CaptureRule,
  captureOrigins,
  checkCaptureOptions,
} from './capture-rule.ts';
export {
  type CaptureTime,
  type ClockFields,
  captureText,
  clockMs,
  isCaptureTime,
  offsetOf,
  parseCapture,
} from './capture-time.ts';
export { timeOfFile } from './time-of-file.ts';
export { isNamedZone } from './time-zone.ts';
