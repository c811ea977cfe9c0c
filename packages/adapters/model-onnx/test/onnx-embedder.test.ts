// An embedder of a directory: what it must hold, how the package is asked, and what is said where it can not be.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { later } from "@reverie/testkit/later"
import { loadWith } from "@reverie/protocol"
import { assert, describe, test } from "vitest"
import { embedderIn, flawOfDirectory, isDirectory, type Transformers } from "../src/onnx-embedder.ts"

const aModel = (...files: ReadonlyArray<string>): string => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-onnx-"))
  later(() => rmSync(folder, { recursive: true, force: true }))
  const model = join(folder, "tiny")
  for (const file of files) {
    mkdirSync(join(model, file, ".."), { recursive: true })
    writeFileSync(join(model, file), "{}")
  }
  return model
}
const whole = ["config.json", "tokenizer.json", "onnx/model.onnx"]

/** The package, which counts letters, and what it was asked. */
const aPackage = (failures = 0) => {
  const asked: Array<unknown> = []
  let left = failures
  const transformers: Transformers = {
    env: { allowRemoteModels: true, localModelPath: "" },
    pipeline: async (...args) => {
      asked.push(args)
      if (left-- > 0) throw new Error("no memory")
      return async (texts, how) => {
        asked.push(how)
        return { tolist: () => texts.map((text) => [text.length, 1]) }
      }
    }
  }
  return { asked, transformers, load: async () => transformers }
}

describe("an embedder of a directory", () => {
  test("a path is one, the names of models are none", () => {
    const paths = ["./models/mini", "../mini", "/opt/mini", "file:///opt/mini", String.raw`C:\mini`, "C:/mini"]
    assert.deepStrictEqual(paths.filter(isDirectory), paths)
    const names = ["openai/text-embedding-3-small", "http://127.0.0.1:11434/v1#bge-m3", "none", "ollama/bge-m3", ""]
    assert.deepStrictEqual(names.filter(isDirectory), [])
  })

  test("L1 what the directory lacks is named", () => {
    assert.strictEqual(flawOfDirectory(aModel(...whole)), undefined)
    assert.strictEqual(flawOfDirectory(aModel("config.json", "tokenizer.json", "onnx/model_quantized.onnx")), undefined)
    assert.match(flawOfDirectory("./nowhere") ?? "", /^is "\.\/nowhere", and there is no such directory$/)
    const flaw = /^is the directory .*, which has no tokenizer.json, no onnx\/model.onnx: it must hold a model in ONNX$/
    assert.match(flawOfDirectory(aModel("config.json")) ?? "", flaw)
  })

  test("L1 L2 nothing is fetched, the model is loaded once, and its vectors are unit means of its words", async () => {
    const model = aModel(...whole)
    const { asked, load, transformers } = aPackage()
    const { embed, maxTexts, name } = embedderIn(model, load)
    assert.deepStrictEqual([name, maxTexts], ["tiny/fp32", 16])
    assert.deepStrictEqual(await embed(["tide", "ship"]), [
      [4, 1],
      [4, 1]
    ])
    await embed(["fog"])
    const how = { pooling: "mean", normalize: true }
    assert.deepStrictEqual(asked, [["feature-extraction", "tiny", { dtype: "fp32" }], how, how])
    assert.deepStrictEqual(transformers.env, { allowRemoteModels: false, localModelPath: join(model, "..") })
  })

  test("L3 the precision is that of its file, the pooling that of its training", async () => {
    const model = aModel("config.json", "tokenizer.json", "onnx/model_quantized.onnx", "1_Pooling/config.json")
    writeFileSync(join(model, "1_Pooling/config.json"), JSON.stringify({ pooling_mode_cls_token: true }))
    const { asked, load } = aPackage()
    const { embed, name } = embedderIn(model, load)
    await embed(["tide"])
    assert.strictEqual(name, "tiny/q8")
    assert.deepStrictEqual(asked, [
      ["feature-extraction", "tiny", { dtype: "q8" }],
      { pooling: "cls", normalize: true }
    ])
  })

  test("L2 a model that could not be loaded is loaded with the next text", async () => {
    const { load } = aPackage(1)
    const { embed } = embedderIn(aModel(...whole), load)
    assert.match(String(await embed(["tide"]).catch((error: unknown) => error)), /no memory/)
    assert.deepStrictEqual(await embed(["tide"]), [[4, 1]])
  })

  test("a package that is not installed is named", async () => {
    const missing = () =>
      loadWith("an embedder of a directory", ["@huggingface/transformers"], () =>
        Promise.reject(
          Object.assign(new Error("Cannot find package '@huggingface/transformers'"), { code: "ERR_MODULE_NOT_FOUND" })
        )
      )
    const failure: unknown = await embedderIn(aModel(...whole), missing)
      .embed(["tide"])
      .catch((error: unknown) => error)
    assert.match(String(failure), /npm i @huggingface\/transformers/)
  })
})
