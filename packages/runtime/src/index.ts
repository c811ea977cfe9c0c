export { birthOf } from "./birth.ts"
export { type Definition, Definitions } from "./definition.ts"
export * from "./errors.ts"
export { type FaultPoint, faultPoints, Faults } from "./faults.ts"
export { arrive } from "./front-door.ts"
export { MAX_ATTEMPTS } from "./host.ts"
export { MAX_CALLS } from "./infer-job.ts"
export { type Listener, NoticeHub } from "./notice-hub.ts"
export { MAX_HOPS, relayAll } from "./relay.ts"
export { isAtRest } from "./rest.ts"
export { lateResults } from "./tick.ts"
export {
  DEFAULT_WORKER,
  type HostFailure,
  HostFailures,
  runWorker,
  type StoreFailure,
  type WorkerSettings
} from "./worker.ts"
