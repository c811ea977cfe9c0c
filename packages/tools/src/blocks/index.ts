export { type BlockAccess } from "./block-access.ts"
export { blockTools } from "./block-tools.ts"
