export type { NodeExit } from './agent/agents.ts';
export { createNodeConfig, type NodeConfig, type NodeOptions } from './config.ts';
export {
  type BatchResult,
  type DeviceInfo,
  type DeviceKind,
  deviceKinds,
  type NodeDevice,
  type Staging,
} from './devices/device.ts';
export { type DeviceChoice, deviceChoices, type OpenedDevice, openDevice } from './devices/open-device.ts';
export { type NodeStarted, startNode } from './node.ts';
