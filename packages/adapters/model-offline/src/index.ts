export { AT_A_LOSS, MAX_CALLS, offlineModel, type OfflineModelOptions, SELF } from "./offline-model.ts"
