export {
  type CoordinatorConfig,
  type CoordinatorOptions,
  coordinatorDefaults,
  createCoordinatorConfig,
} from './config.ts';
export { type RunningCoordinator, startCoordinator } from './coordinator.ts';
