export * from "./assemble.ts"
export {
  type BlockOptions,
  type BlockPermission,
  blockPermissions,
  type BlockType,
  blockTypes,
  type PromptBlock,
  renderBlock
} from "./block.ts"
export * from "./build-config.ts"
export * from "./builder.ts"
export * from "./collect.ts"
export { component, type Component, staticComponents } from "./component.ts"
export * from "./context-types.ts"
export * from "./errors.ts"
export { type Includable, isIncluded } from "./inclusion.ts"
export * from "./message-tokens.ts"
export * from "./price-book.ts"
export * from "./prompt/index.ts"
export * from "./report.ts"
export * from "./scheme.ts"
export * from "./search-options.ts"
export * from "./surroundings.ts"
export * from "./tool-rules.ts"
export { INTERRUPTED } from "./unit.ts"
export { append, KEPT_SHARE, type MessageCap, openWindow, type Window } from "./window.ts"
