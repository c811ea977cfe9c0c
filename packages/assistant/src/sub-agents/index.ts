export { accountOf, hired, hiredWhileHalted, type Step } from "./admission.ts"
export * from "./steps.ts"
export * from "./sub-agent.ts"
