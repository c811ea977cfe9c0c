export { type BlockDesk } from "./block-desk.ts"
export { blockTools } from "./block-tools.ts"
