export { MAX_CALLS, offlineModel, type OfflineModelOptions } from "./offline-model.ts"
export { AT_A_LOSS, SELF } from "./chatter.ts"
