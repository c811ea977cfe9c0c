// Messages: the group about what is said to an assistant, and what it answers.
// Owns its schemas and endpoints. Chat streams speak AG-UI 1.0, the UI message stream protocol of the AI SDK, or parts (`../ag-ui/`).
// M1  A message is answered with 202 only after it is durable; the same key again is the same answer.
// M2  A stream that breaks loses nothing: `answers` tells the same run again from its beginning, parts also behind the last event
//     id that was read.

import { ContentPart, MAX_PART_BYTES, MAX_PARTS, partTypes, ReminderRule } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { failures } from "./errors.ts"
import { Id, Key, keyed, limit, LostSpans, ofAssistant, Receipt, Text, WholeFromQuery } from "./words.ts"

const MAX_MESSAGE_CHARS = 1_000_000

/** The form that the answer must have: a JSON Schema of an object, at most 32,768 characters of JSON. */
const Form = Schema.Record(Schema.String, Schema.Json)

/** An image, a file or audio of a message: its bytes in base64 or as a `data:` URL, at most 10 MiB. */
const SaidPart = Schema.Struct({
  type: Schema.Literals(partTypes),
  data: Text(Math.ceil(MAX_PART_BYTES * 1.5)),
  mediaType: Schema.optionalKey(Text(128)),
  name: Schema.optionalKey(Text(512))
})

export const Said = Schema.Struct({
  text: Text(MAX_MESSAGE_CHARS),
  /** Idempotency key; the header `idempotency-key` says the same. */
  id: Schema.optionalKey(Key),
  from: Schema.optionalKey(Text(256)),
  channel: Schema.optionalKey(Text(128)),
  /** The kind of context that it is handled in; one of those of the assistant's definition. */
  context: Schema.optionalKey(Text(64)),
  output: Schema.optionalKey(Form),
  blocks: Schema.optionalKey(Schema.Array(Text(128)).check(Schema.isMaxLength(32))),
  /** At most 10, of 20 MiB together; with them the text may be empty. */
  parts: Schema.optionalKey(Schema.Array(SaidPart).check(Schema.isMaxLength(MAX_PARTS)))
})

export const MessageView = Schema.Struct({
  /** Its place in the ledger: entry and index. */
  no: Schema.Int,
  index: Schema.Int,
  role: Schema.Literals(["system", "user", "assistant", "tool"]),
  name: Schema.optionalKey(Schema.String),
  content: Schema.String,
  calls: Schema.optionalKey(
    Schema.Array(Schema.Struct({ id: Schema.String, tool: Schema.String, arguments: Schema.String }))
  ),
  call: Schema.optionalKey(Schema.String),
  /** Images, files and audio that belong to it; `GET /v1/blobs/:digest` answers their bytes. */
  parts: Schema.optionalKey(Schema.Array(ContentPart)),
  /** What the model read after an answer of its own that had another form than it must have. */
  rejected: Schema.optionalKey(Schema.String),
  at: Schema.Finite,
  tokens: Schema.Finite
})
export type MessageView = typeof MessageView.Type

/** The events of AG-UI 1.0, the chunks of a UI message stream, or parts: `type` tells them apart. */
export const ChatEvent = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Json)
])
const chat = HttpApiSchema.StreamSse({ data: ChatEvent })

// Reminder: a time that an assistant is to be reminded of something, as it is kept.

const ReminderLine = Schema.Struct({
  due: Schema.Finite,
  /** The last of several in a row that ended alike. */
  until: Schema.optionalKey(Schema.Finite),
  count: Schema.Int,
  outcome: Schema.Literals(["sent", "ran", "skipped"]),
  reason: Schema.optionalKey(Schema.String),
  at: Schema.Finite
})

export const ReminderView = Schema.Struct({
  id: Schema.String,
  note: Schema.String,
  state: Schema.Literals(["active", "done", "cancelled"]),
  timeZone: Schema.String,
  at: Schema.optionalKey(Schema.Finite),
  cron: Schema.optionalKey(Schema.String),
  rrule: Schema.optionalKey(Schema.String),
  quiet: ReminderRule.fields.quiet,
  catchUp: Schema.Literals(["once", "skip", "all"]),
  onlyWhen: ReminderRule.fields.onlyWhen,
  setBy: Schema.String,
  setAt: Schema.Finite,
  /** When it comes next; null when never again. */
  nextAt: Schema.NullOr(Schema.Finite),
  /** Times that were sent to the assistant, and times that were not. */
  sent: Schema.Int,
  skipped: Schema.Int,
  /** What became of its newest times. */
  log: Schema.Array(ReminderLine)
})
export type ReminderView = typeof ReminderView.Type

const ofReminder = { ...ofAssistant, reminder: Text(64) }

export class MessagesGroup extends HttpApiGroup.make("messages").add(
  HttpApiEndpoint.post("send", "/v1/assistants/:id/messages", {
    params: ofAssistant,
    headers: { "idempotency-key": Schema.optionalKey(Key), traceparent: Schema.optionalKey(Text(64)) },
    payload: Said,
    success: Receipt.pipe(HttpApiSchema.status(202)),
    error: failures
  }),
  /** Any event as it crosses the wire: a timer, a report, an approval. */
  HttpApiEndpoint.post("post", "/v1/assistants/:id/events", {
    params: ofAssistant,
    headers: { "idempotency-key": Schema.optionalKey(Key), traceparent: Schema.optionalKey(Text(64)) },
    payload: Schema.Struct({
      event: Schema.Record(Schema.String, Schema.Json),
      id: Schema.optionalKey(Key),
      from: Schema.optionalKey(Text(256))
    }),
    success: Receipt.pipe(HttpApiSchema.status(202)),
    error: failures
  }),
  /** Its history, the newest page first, each page in the order of time. */
  HttpApiEndpoint.get("history", "/v1/assistants/:id/messages", {
    params: ofAssistant,
    query: { before: Schema.optionalKey(WholeFromQuery), limit },
    success: Schema.Struct({
      items: Schema.Array(MessageView),
      /** Entries of the page that cannot be read, because the segment that holds them is missing or damaged. */
      lost: Schema.optionalKey(LostSpans),
      next: Schema.NullOr(Schema.Int)
    }),
    error: failures
  }),
  /** The bytes of a part. `type` is its media type where the bytes do not tell it, `name` what a browser keeps it as. */
  HttpApiEndpoint.get("blob", "/v1/blobs/:digest", {
    params: { digest: Text(64) },
    query: { type: Schema.optionalKey(Text(128)), name: Schema.optionalKey(Text(512)) },
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
    error: failures
  }),
  /** Its reminders, the next one first. */
  HttpApiEndpoint.get("reminders", "/v1/assistants/:id/reminders", {
    params: ofAssistant,
    success: Schema.Struct({ items: Schema.Array(ReminderView) }),
    error: failures
  }),
  /** Sets a reminder, or changes the one of that id. */
  HttpApiEndpoint.put("setReminder", "/v1/assistants/:id/reminders/:reminder", {
    params: ofReminder,
    headers: keyed,
    payload: ReminderRule,
    success: Receipt,
    error: failures
  }),
  /** Cancels it; a time of it that still waits is dropped. */
  HttpApiEndpoint.delete("cancelReminder", "/v1/assistants/:id/reminders/:reminder", {
    params: ofReminder,
    headers: keyed,
    success: Receipt,
    error: failures
  }),
  /**
   * What came, and comes, back for a message. `format`: one run of AG-UI (`ag-ui`, when not said), a UI message stream of the AI SDK
   * (`ui`), or the parts that `ask` of the SDK gives (`parts`), behind `after` or the header `last-event-id`.
   */
  HttpApiEndpoint.get("answers", "/v1/assistants/:id/answers/:envelope", {
    params: { ...ofAssistant, envelope: Key },
    query: {
      format: Schema.optionalKey(Schema.Literals(["ag-ui", "parts", "ui"])),
      after: Schema.optionalKey(Text(32))
    },
    success: chat,
    error: failures
  }),
  /**
   * A run of AG-UI: the last user message of `messages` is said, and the stream tells what follows. A form that the answer must
   * have stands under `output`, or under `output` of `forwardedProps`, where a client of AG-UI can put it.
   */
  HttpApiEndpoint.post("run", "/v1/agui/:id", {
    params: ofAssistant,
    payload: Schema.StructWithRest(
      Schema.Struct({
        threadId: Text(256),
        runId: Key,
        output: Schema.optionalKey(Form),
        messages: Schema.Array(Schema.Record(Schema.String, Schema.Json)).check(Schema.isMaxLength(10_000))
      }),
      [Schema.Record(Schema.String, Schema.Json)]
    ),
    success: chat,
    error: failures
  }),
  /**
   * What `useChat` of the AI SDK asks, by `DefaultChatTransport`: the last message is said under its id, and the stream is its
   * answer. A last message of the assistant holds what a person decided of tool calls.
   */
  HttpApiEndpoint.post("chat", "/v1/assistants/:id/chat", {
    params: ofAssistant,
    payload: Schema.StructWithRest(
      Schema.Struct({
        messages: Schema.Array(Schema.Record(Schema.String, Schema.Json)).check(Schema.isMaxLength(10_000)),
        trigger: Schema.optionalKey(Text(64)),
        messageId: Schema.optionalKey(Schema.NullOr(Text(256)))
      }),
      [Schema.Record(Schema.String, Schema.Json)]
    ),
    success: chat,
    error: failures
  })
) {}

export const ofEnvelope = { assistant: Id, envelope: Key }
