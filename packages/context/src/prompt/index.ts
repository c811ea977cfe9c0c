export {
  builtInTemplates,
  defaultTemplate,
  fallbackTemplate,
  REFLECTION_METRICS,
  reflectionTemplate,
  type ImportOptions,
  type Templates
} from "./templates.ts"
export { componentToPromptComponent, type Components, type KeptComponent } from "./components.ts"
export type { ComponentDraft, ComponentPatch, TemplateDraft, TemplatePatch } from "./definition.ts"
export * from "./errors.ts"
export { EXPORT_VERSION } from "./exchange.ts"
export { type PromptRow, readPromptRow } from "./prompt-row.ts"
export {
  type PromptChange,
  type PromptKind,
  promptKinds,
  type PromptLine,
  PromptStore,
  type PromptVersion
} from "./prompt-store.ts"
export { getPromptRegistry, type PromptRegistry } from "./registry.ts"
export type { StoreFailure, Versioned } from "./overrides.ts"
export { type PluggableComponent, type PluggableRole, pluggableRoles, type StoredTemplate } from "./stored.ts"
export {
  placeholdersIn,
  type PlaceholderValues,
  type PromptTemplate,
  renderTemplate,
  safeRenderTemplate
} from "./template.ts"
export type { DefinitionKind, PastVersion, Undo } from "./undo.ts"
