// ConfirmLater: `Confirm`, loaded when the first one opens. Pages use this one.

import { lazy, Suspense } from "react"
import type { ConfirmProps } from "./confirm.tsx"

const Loaded = lazy(() => import("./confirm.tsx").then(({ Confirm }) => ({ default: Confirm })))

export const ConfirmLater = (props: ConfirmProps) => (
  <Suspense>
    <Loaded {...props} />
  </Suspense>
)
