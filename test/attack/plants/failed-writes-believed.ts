// Planted: as refused-writes-believed, for a disk that fails.
export * from "./refused-writes-believed.ts"
