// Order: compacting the history now, offered where the present state accepts it.

import { useAnswer, useChange } from "../../api/questions.ts"
import { Failed } from "../../parts/states.tsx"

export const Order = ({ id }: { readonly id: string }) => {
  const { data: detail } = useAnswer("GET /v1/assistants/:id", { params: { id } })
  const { error, isPending, isSuccess, mutate } = useChange("POST /v1/assistants/:id/orders")
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      {error === null ? null : <Failed trouble={error} />}
      {isSuccess ? (
        <span role="status" className="text-ink-2" data-told="compact">
          It was told to compact. Where nothing can be compacted, the Live page says why.
        </span>
      ) : null}
      {detail?.accepts.includes("compact") === true ? (
        <button
          type="button"
          className="button button-small"
          data-order="compact"
          disabled={isPending}
          onClick={() => mutate((key) => ({ params: { id }, payload: { order: "compact", id: key } }))}
        >
          Compact history
        </button>
      ) : null}
    </div>
  )
}
