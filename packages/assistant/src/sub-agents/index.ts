export { accountOf, depthLeft, hired, hiredWhileHalted, LEAST_GRANT, type Step } from "./admission.ts"
export * from "./steps.ts"
export * from "./sub-agent.ts"
