// Dialog: a window above the page. It is loaded when the first one opens: import what uses it with `lazy`.

import { Dialog as Base } from "@base-ui/react/dialog"
import type { ReactNode } from "react"

interface DialogProps {
  readonly title: string
  readonly narrow?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

export const Dialog = ({ children, narrow = false, onClose, title }: DialogProps) => (
  <Base.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
    <Base.Portal>
      <Base.Backdrop className="backdrop" />
      <Base.Popup className={narrow ? "dialog dialog-narrow" : "dialog"} data-dialog={title}>
        <header className="mb-4 flex items-center justify-between gap-4">
          <Base.Title className="text-[1.1rem] font-semibold">{title}</Base.Title>
          <Base.Close className="button button-quiet button-small" aria-label="Close">
            <kbd>Esc</kbd>
          </Base.Close>
        </header>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)
