export { queryTerms } from "./terms.ts"
