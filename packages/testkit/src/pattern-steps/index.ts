export { type Growth, growthWith, piecesOfPattern, searchSteps } from "./steps.ts"
