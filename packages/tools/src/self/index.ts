export { type Acknowledged, acknowledgedOf } from "./acknowledged.ts"
export { selfTools } from "./self-tools.ts"
