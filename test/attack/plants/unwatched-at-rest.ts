// Planted: as unwatched-files, for a server at rest.
export * from "./unwatched-files.ts"
