// Planted: templates that a tenant wrote are read and not used.
import { rewrite } from "../rewriting.ts"

rewrite("packages/runtime/src/prompt/blocks.ts", "rendering.templates.get(key) ?? builtInTemplates", "builtInTemplates")
