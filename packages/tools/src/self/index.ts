export { selfTools } from "./self-tools.ts"
