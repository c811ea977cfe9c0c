export * from "./steps.ts"
export * from "./sub-agent.ts"
