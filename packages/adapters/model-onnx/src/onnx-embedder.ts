// OnnxEmbedder: an embedder in this process, made of an ONNX model in a directory.
// Owns what such a directory must have, how its texts become vectors, and loading the package that runs it. Leaves batches, deadlines
// and failures to who asks.
// L1  Nothing is fetched: what the directory lacks is named.
// L2  The package and the model are loaded with the first text, once; a failure to load is tried again with the next.
// L3  Vectors of two models, or of two precisions of one, have two names: they are never compared.

import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { isJsonObject, type Json, loadWith, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"

const PACKAGE = "@huggingface/transformers"

/** Texts of one call: a model holds all of them in memory at once, each as long as the longest. */
const MOST_TEXTS = 16

/** Files with the weights, as the package calls their precision, the best first. */
const precisions = [
  ["fp32", "model.onnx"],
  ["fp16", "model_fp16.onnx"],
  ["q8", "model_quantized.onnx"],
  ["int8", "model_int8.onnx"],
  ["uint8", "model_uint8.onnx"],
  ["q4", "model_q4.onnx"]
] as const

const imported = () => import("@huggingface/transformers")

/** The package, as far as it is used. */
export type Transformers = Pick<Awaited<ReturnType<typeof imported>>, "env" | "pipeline">

type Extractor = Awaited<ReturnType<Transformers["pipeline"]>>

const loadTransformers = (): Promise<Transformers> => loadWith("an embedder of a directory", [PACKAGE], imported)

/** True for a text that names a directory, and no model of a server. */
export const isDirectory = (text: string): boolean => /^(?:\.{0,2}[/\\]|file:|[a-z]:[/\\])/i.test(text)

const pathOf = (text: string): string => resolve(text.startsWith("file:") ? fileURLToPath(text) : text)

const weightsIn = (path: string) => precisions.find(([, file]) => existsSync(join(path, "onnx", file)))

/** What a directory lacks, in words that follow on its name; undefined when it lacks nothing. */
export const flawOfDirectory = (text: string): string | undefined => {
  const path = pathOf(text)
  if (!existsSync(path)) return `is ${JSON.stringify(text)}, and there is no such directory`
  const missing = ["config.json", "tokenizer.json"].filter((file) => !existsSync(join(path, file)))
  if (weightsIn(path) === undefined) missing.push("onnx/model.onnx")
  return missing.length === 0
    ? undefined
    : `is the directory ${JSON.stringify(text)}, which has no ${missing.join(", no ")}: it must hold a model in ONNX`
}

const fieldOf = (value: Json, name: string): Json | undefined => (isJsonObject(value) ? value[name] : undefined)

/** How the vectors of words become that of the text, as the model was trained. */
const poolingOf = (path: string): "cls" | "mean" => {
  const file = join(path, "1_Pooling", "config.json")
  if (!existsSync(file)) return "mean"
  const read = parseJson(readFileSync(file, "utf8"))
  return Result.isSuccess(read) && fieldOf(read.success, "pooling_mode_cls_token") === true ? "cls" : "mean"
}

/** The embedder of a directory without a flaw, as an object with an async `embed`. */
export const embedderIn = (text: string, load: () => Promise<Transformers> = loadTransformers) => {
  const path = pathOf(text)
  const [dtype] = weightsIn(path) ?? precisions[0]
  const how = { pooling: poolingOf(path), normalize: true } as const
  let extractor: Promise<Extractor> | undefined
  const open = async (): Promise<Extractor> => {
    const { env, pipeline } = await load()
    env.allowRemoteModels = false
    env.localModelPath = dirname(path)
    return pipeline("feature-extraction", basename(path), { dtype })
  }
  const opened = (): Promise<Extractor> =>
    (extractor ??= open().catch((error: unknown) => {
      extractor = undefined
      throw error
    }))
  return {
    name: `${basename(path)}/${dtype}`,
    maxTexts: MOST_TEXTS,
    embed: async (texts: ReadonlyArray<string>) => (await (await opened())(texts, how)).tolist()
  }
}
