export * from "./delegate-tools.ts"
export { FINISH_TASK, type Finished, finishedIn, finishTaskTool } from "./finish-tool.ts"
