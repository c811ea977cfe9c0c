// Model: one call, a prompt in, a reply out.
// Owns the shapes and the closed list of failures. Leaves wire formats and retries to adapters, meaning to the assistant.
// I1  A reply is complete: its finish reason was given, every tool call in it is whole. A cut answer is a failure.
// I2  Every failure is one of ModelError; nothing is thrown.
// I3  Interrupting the call aborts the request.
// I4  Arguments of tool calls are parsed data without hostile keys, or marked malformed; never text to be parsed again.
// I5  A call that was never sent fails as withheld or limited, and as nothing else: neither is a failure of anybody.

import type {
  ContentPart,
  EarlierModel,
  FinishReason,
  GivenPart,
  Json,
  ReasoningPart,
  ToolCall,
  Usage
} from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { EmbedderError, ModelError } from "./errors.ts"

/** An image, a file or audio of a message. */
export interface PromptPart extends ContentPart {
  /** Its bytes: where a request is made of it, and nowhere before. */
  readonly data?: Uint8Array
}

/** One message as a model sees it. `calls` and `call` use our own ids. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string
  readonly name?: string
  readonly parts?: ReadonlyArray<PromptPart>
  readonly calls?: ReadonlyArray<ToolCall>
  readonly call?: string
  /** What models thought before they said it; each sends on what is its own. */
  readonly reasoning?: ReadonlyArray<ReasoningPart>
}

/** A tool as a model learns of it. */
export interface ToolOffer {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, an object schema. */
  readonly parameters: { readonly [key: string]: Json }
}

/** The form that an answer must have. Tools may be called before it is given. */
export interface OutputForm {
  /** What the wire calls it. */
  readonly name: string
  /** JSON Schema, an object schema. */
  readonly schema: { readonly [key: string]: Json }
}

export interface Prompt {
  readonly messages: ReadonlyArray<PromptMessage>
  /** The same list with every call of one assistant, so that a provider's prompt cache knows them. */
  readonly tools: ReadonlyArray<ToolOffer>
  /** The messages say which tools there are and how one is called in JSON: a wire without tool calls needs no more. */
  readonly describesTools?: true
  /** Names of those that may be called now; a call of another one is refused. All of them when absent. */
  readonly allowed?: ReadonlyArray<string>
  /** For a model that is not known to read it (`serves.output`) the messages say it too (`withOutputDescribed`). */
  readonly output?: OutputForm
  /** Calls of one key begin alike: a provider that keeps beginnings of prompts looks for them in one place. */
  readonly cacheKey?: string
  /** How many of the messages the next prompt of the same key is expected to begin with. */
  readonly lasting?: number
  /** Another model of the same server for this call; an adapter that has only one ignores it. */
  readonly model?: string
  /** Most tokens the reply may have; the adapter's own default when absent. */
  readonly maxOutputTokens?: number
  /** How the calls of the reply are to be named: `<callPrefix>.<index>`. */
  readonly callPrefix: string
  /** What may be spent is bounded: after a model that may have worked, no other one is asked. */
  readonly paidOnce?: true
}

/** The form in words, for a model that reads nothing but messages. */
export const outputText = ({ schema }: OutputForm): string =>
  `Give your answer as one JSON object that fits this JSON Schema, and write nothing before or after it:\n${JSON.stringify(schema)}`

/** The same prompt, its form said by a last message; one that says it already stays as it is. */
export const withOutputDescribed = (prompt: Prompt): Prompt => {
  const { messages, output } = prompt
  const content = output === undefined ? undefined : outputText(output)
  if (content === undefined || messages.at(-1)?.content === content) return prompt
  return { ...prompt, messages: [...messages, { role: "user", content }] }
}

export interface Reply {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  /** Images, files and audio that it made. */
  readonly parts?: ReadonlyArray<GivenPart>
  /** Those of a reply that was recorded: they are kept already. */
  readonly kept?: ReadonlyArray<ContentPart>
  /** To be given back with the reply, so that its model goes on where it was. */
  readonly reasoning?: ReadonlyArray<ReasoningPart>
  readonly finish: FinishReason
  readonly usage: Usage
  /** The model that answered, as it names itself. */
  readonly model: string
  /** The server that answered, of a list of models. */
  readonly server?: string
  /** The models of a list that were asked before, in their order. */
  readonly earlier?: ReadonlyArray<EarlierModel>
}

/** A piece of a tool call as it arrives. */
export interface CallPiece {
  /** Counts the calls of the reply, from 0. */
  readonly call: number
  /** Its tool, as far as it is named by now. */
  readonly tool: string
  /** A piece of the JSON text of its arguments; empty where only the call begins. */
  readonly arguments: string
}

/** What a call shows of its reply while it comes, where the adapter streams: a preview, for the reply holds the whole. */
export interface InferOptions {
  /** Takes each piece of text. */
  readonly onText?: (text: string) => void
  /** Takes each piece of what the model thinks before it speaks. */
  readonly onReasoning?: (text: string) => void
  readonly onCall?: (piece: CallPiece) => void
  /** Everything that was shown is of an attempt that is not the reply: it is not to be shown any more. */
  readonly onDropped?: () => void
  /** Reads the bytes of a part; undefined where there are none any more. Without it a model is shown no part. */
  readonly bytesOf?: BytesOf
}

export type BytesOf = (part: ContentPart) => Effect.Effect<Uint8Array | undefined>

/** Where an adapter keeps calls away from a server that does not answer. */
export interface Circuit {
  /** For how many milliseconds a call would be withheld, as of now; 0 when it would be sent. */
  readonly withheldMillis: (model?: string) => Effect.Effect<number>
  /** The server was heard to answer someone else: one call may try at once. */
  readonly tryNow: Effect.Effect<void>
}

export class Model extends Context.Service<
  Model,
  {
    readonly infer: (prompt: Prompt, options?: InferOptions) => Effect.Effect<Reply, ModelError>
    /**
     * Who answers, and with which model where a prompt names none: for traces and measures. `server`: host and port, as
     * people learn of it. `tools`: no tool calls are known on its wire, so they are asked for in JSON. `output`: it reads the
     * form of an answer from the prompt by itself. `accepts`: types or media types of the parts that it takes.
     */
    readonly serves?: {
      readonly provider: string
      readonly model: string
      readonly server?: string
      readonly tools?: "json"
      readonly output?: "native"
      readonly accepts?: ReadonlyArray<string>
    }
    /** Absent where every call is sent. */
    readonly circuit?: Circuit
    /** Of several models that are asked in their order (fallback.ts); absent of one that is asked itself. */
    readonly inOrder?: ModelList
  }
>()("@reverie/model/Model") {}

/** Models that are asked one after the other. */
export interface ModelList {
  readonly models: ReadonlyArray<Model["Service"]>
  /** The same list of the same models in another dress, each in its place: what was noted of them is shared. */
  readonly dressed: (models: ReadonlyArray<Model["Service"]>) => Model["Service"]
}

// Embedder: texts as vectors, so that what means the same lies close together.
// E1  The same text gives the same vector, whatever it is embedded with; texts about different things do not.
// E2  The vectors stand in the order of the texts, one for each.
// E3  A vector has as many numbers as the model says, all of them finite, whatever the text was. Who was not told the length
//     beforehand learns it from the first vector, and keeps to it.
// E4  No texts give no vectors, and no one is asked.
// E5  Every failure is one of EmbedderError and is that of the whole call; nothing is thrown. Interrupting the call
//     aborts the request.

export interface EmbeddingModel {
  /** Names the model and the length of its vectors: vectors of two ids are never compared. */
  readonly id: string
  readonly dimensions: number
}

export type Vector = ReadonlyArray<number>

export class Embedder extends Context.Service<
  Embedder,
  {
    /** As far as it is known beforehand; `dimensions` is 0 where the length is not. */
    readonly model: EmbeddingModel
    /** Where the length is not known beforehand: the model with its length, which is asked for once. */
    readonly measured?: Effect.Effect<EmbeddingModel, EmbedderError>
    readonly embed: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Vector>, EmbedderError>
  }
>()("@reverie/model/Embedder") {}

/** The model of an embedder, with the length of its vectors. */
export const embeddingModelOf = ({
  measured,
  model
}: Embedder["Service"]): Effect.Effect<EmbeddingModel, EmbedderError> => measured ?? Effect.succeed(model)
