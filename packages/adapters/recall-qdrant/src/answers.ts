// Answers: what the server says, as far as it is read.
// Owns the shape of each answer. Leaves what a payload holds to `point.ts`.
// A1  What does not have its shape is no answer: the request failed.
// A2  A write is done when the server says so; one that still waits has failed, and is done again.

import * as Schema from "effect/Schema"

const Point = Schema.Struct({
  id: Schema.Union([Schema.String, Schema.Finite]),
  payload: Schema.optionalKey(Schema.Unknown)
})

export const CollectionAnswer = Schema.Struct({
  config: Schema.Struct({ metadata: Schema.optionalKey(Schema.Unknown) })
})

export const PointsAnswer = Schema.Array(Point)

export const ScrollAnswer = Schema.Struct({ points: PointsAnswer })

export const CountAnswer = Schema.Struct({ count: Schema.Finite })

export const SearchAnswer = Schema.Array(
  Schema.Struct({ points: Schema.Array(Schema.Struct({ ...Point.fields, score: Schema.Finite })) })
)

const Done = Schema.Struct({ status: Schema.Literal("completed") })

export const WriteAnswer = Schema.Union([Schema.Literal(true), Done, Schema.Array(Done)])
