export { type Growth, growthWith, piecesOfPattern } from "./growth.ts"
export { searchSteps } from "./steps.ts"
