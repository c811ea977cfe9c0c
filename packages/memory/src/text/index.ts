export { queryTerms } from "./tokens.ts"
