// ForkModel: the model that a fork asks, by its name.
// Owns finding it on the server that is configured. Leaves asking it to the SDK.
// M1  Nobody who asks names a server or a key: both are those of the environment that the process was started in.

import { defined } from "@reverie/protocol"
import type { ForkRequest } from "reverie"
import { Malformed } from "./api/index.ts"

const DEFAULT_BASE_URL = "https://api.openai.com/v1"

export const modelNamed = (name: string): NonNullable<ForkRequest["model"]> => {
  if (name === "offline" || name === "recorded") return name
  const { OPENAI_API_KEY: apiKey = "", OPENAI_BASE_URL: baseURL = "" } = process.env
  if (apiKey === "" && baseURL === "") {
    throw new Malformed({
      message: "no server of models is configured here",
      hint: "say offline or recorded, or start the server with OPENAI_BASE_URL or OPENAI_API_KEY"
    })
  }
  return {
    baseURL: baseURL === "" ? DEFAULT_BASE_URL : baseURL,
    model: name,
    ...defined({ apiKey: apiKey === "" ? undefined : apiKey })
  }
}
