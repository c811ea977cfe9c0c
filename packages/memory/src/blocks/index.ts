export * from "./block.ts"
export * from "./block-store.ts"
export { type BlockContent, contentJson, type PartContent } from "./content.ts"
export { type Author, type Committed, type Place, StructuredDocument } from "./document.ts"
export { flawOfDraft, keepBlocks } from "./keeper.ts"
export { DEFAULT_DOCUMENTS, Documents } from "./documents.ts"
export { blockChanges } from "./indexed.ts"
export { type Loro, loadLoro, peerOf } from "./loro.ts"
export { actOf, type BlockOperation, type BlockOperationName } from "./operation.ts"
export * from "./permission.ts"
export { renderContent } from "./render.ts"
export * from "./rows.ts"
export {
  type BlockField,
  BlockSchema,
  type BlockSection,
  type FieldType,
  fieldTypes,
  type PartSchema,
  PLAIN_TEXT,
  readBlockSchema,
  type Viewport
} from "./schema.ts"
